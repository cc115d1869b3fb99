"""Log, metrics, traces and health: what is observed while the program runs. Never any text of people or files."""

from __future__ import annotations

from bot.observability.observers import Observers, Sink

__all__ = ["Observers", "Sink"]
