"""A process that reads hostile bytes reaches its file, its libraries and its folder, by Landlock and seccomp (Linux)."""

from rag_engine.parsing.sandbox.entry import enforced, enter, offered, survived
from rag_engine.parsing.sandbox.policy import Policy, Protection

__all__ = ["Policy", "Protection", "enforced", "enter", "offered", "survived"]
