"""What is observed while the program runs: operations on ports and steps, told to whoever counts, times or traces them.

Each wrapper is the same port round another one. Where nobody observes, nothing is wrapped.
"""

from __future__ import annotations

from bot.observing.observers import Observers, Sink

__all__ = ["Observers", "Sink"]
