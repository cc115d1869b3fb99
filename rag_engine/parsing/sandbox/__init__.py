"""Limits a process that reads hostile bytes to its file, its libraries and its folder, by Landlock and seccomp (Linux only)."""

from rag_engine.parsing.sandbox.entry import enforced, enter, offered, survived
from rag_engine.parsing.sandbox.policy import Policy, Protection

__all__ = ["Policy", "Protection", "enforced", "enter", "offered", "survived"]
