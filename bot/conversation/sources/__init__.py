"""The cited passages of an answer in their context."""
