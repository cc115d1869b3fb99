"""Long runs: `python -m tests.soak` runs all of them, `python -m tests.soak day --questions 300` one of them, shorter."""
