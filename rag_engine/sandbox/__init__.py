"""What a process that reads hostile bytes may still do: read its file and its libraries, write into its own folder.

No network, no other file, no other process, no other program. On Linux the kernel holds it to that (Landlock for files and TCP,
seccomp for system calls), whatever the library that reads the file was made to do. Where the kernel offers less, Python's audit
hooks refuse the same things, which holds a library's carelessness but not a library that was taken over.
"""

from rag_engine.sandbox.entering import enter, kept, offered, survived
from rag_engine.sandbox.policy import Policy, Protection

__all__ = ["Policy", "Protection", "enter", "kept", "offered", "survived"]
