"""Questions without a good answer: grouped, shown to those who may read them, and posted once a week."""
