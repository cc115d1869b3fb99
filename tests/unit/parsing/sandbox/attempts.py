"""What code that took over a library would try, each attempt by itself; and what a library that does its work must be able to do.

Run in a process of its own, which says what came of each: `python -m tests.unit.parsing.sandbox.attempts '{...}'`. Attempts by `raw` go
round Python and its hooks, straight to the kernel.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rag_engine.parsing.sandbox import Policy, Protection, enter
from rag_engine.parsing.sandbox.policy import libraries

if TYPE_CHECKING:
    from collections.abc import Callable

_COLUMN = 0 if platform.machine() == "x86_64" else 1
_NUMBERS = {
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "kill": (62, 129),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434),
    "prlimit64": (302, 261),
    "memfd_create": (319, 279),
    "shmget": (29, 194),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "mount": (165, 40),
    "chroot": (161, 51),
    "setuid": (105, 146),
    "seccomp": (317, 277),
    "ioctl": (16, 29),
    "openat": (257, 56),
}
VICTIMS = 8
_libc = ctypes.CDLL(None, use_errno=True)


def raw(name: str, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(_NUMBERS[name][_COLUMN]), *map(_argument, arguments)))
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def _argument(value: object) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else value


def escapes(outside: Path, file: Path) -> dict[str, Callable[[], object]]:
    """Each must be refused. `outside` is another's folder with a `secret`, a `link` to it, and a victim for each attempt."""
    return {**_network(), **_files(outside, file), **_processes(), **_kernel()}


def _network() -> dict[str, Callable[[], object]]:
    return {
        "a TCP socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "a UDP socket": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
        "a Unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        "a pair of sockets": socket.socketpair,
        "a name looked up": lambda: socket.getaddrinfo("localhost", 80),
        "a raw TCP socket": lambda: raw("socket", socket.AF_INET, socket.SOCK_STREAM, 0),
        "a raw Unix socket": lambda: raw("socket", socket.AF_UNIX, socket.SOCK_STREAM, 0),
        "a netlink socket": lambda: raw("socket", 16, socket.SOCK_RAW, 0),
    }


def _files(outside: Path, file: Path) -> dict[str, Callable[[], object]]:
    secret = outside / "secret"
    victims = iter([outside / f"victim {number}" for number in range(VICTIMS)])
    written, removed, renamed, taken, cut, opened, touched, given = victims
    return {
        "reading the passwords' file": lambda: Path("/etc/passwd").read_text(encoding="utf-8"),
        "reading another file": secret.read_text,
        "reading through a link": (outside / "link").read_text,
        "reading another file raw": lambda: raw("openat", -100, os.fsencode(secret), os.O_RDONLY, 0),
        "listing another folder": lambda: list(outside.iterdir()),
        "listing the root": lambda: list(Path("/").iterdir()),
        "writing to the file": lambda: file.open("ab"),
        "writing to another file": lambda: written.write_text("ours"),
        "writing a new file": lambda: (outside / "new").write_text("ours"),
        "writing raw": lambda: raw(
            "openat", -100, os.fsencode(outside / "raw"), os.O_WRONLY | os.O_CREAT, 0o600
        ),
        "writing through a link": lambda: (outside / "link").write_text("ours"),
        "writing into the folder of all": lambda: Path("/tmp/footnote-was-here").write_text("ours"),
        "a new folder": (outside / "folder").mkdir,
        "removing a file": removed.unlink,
        "renaming a file": lambda: renamed.rename(outside / "renamed"),
        "renaming into our folder": lambda: taken.rename("taken"),
        "linking into our folder": lambda: os.link(secret, "linked"),
        "linking by name to elsewhere": lambda: Path("mine").symlink_to(secret),
        "cutting a file": lambda: os.truncate(cut, 0),
        "rights of a file": lambda: opened.chmod(0o777),
        "times of a file": lambda: os.utime(touched, (0, 0)),
        "owner of a file": lambda: os.chown(given, os.getuid(), os.getgid()),
        "a device": lambda: os.mknod("device", 0o600 | 0o20000, os.makedev(1, 3)),
    }


def _processes() -> dict[str, Callable[[], object]]:
    parent = os.getppid()
    other_limit = ctypes.create_string_buffer(16)
    return {
        "the environment of the parent": lambda: Path(f"/proc/{parent}/environ").read_bytes(),
        "the memory of the parent": lambda: Path(f"/proc/{parent}/mem").open("rb"),
        "a process": lambda: _gone(os.fork()),
        "a raw process": lambda: _gone(raw("clone", signal.SIGCHLD, 0, 0, 0, 0)),
        "a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True, timeout=20),
        "a shell": lambda: _well(os.system("true")),  # noqa: S605, S607
        "a raw program": lambda: raw(
            "execve", b"/bin/not-there", (ctypes.c_char_p * 1)(), (ctypes.c_char_p * 1)()
        ),
        "a signal to the parent": lambda: os.kill(parent, 0),
        "a raw signal to the parent": lambda: raw("kill", parent, 0),
        "a signal to everyone": lambda: raw("kill", -1, 0),
        "a handle of the parent": lambda: raw("pidfd_open", parent, 0),
        "tracing the parent": lambda: raw("ptrace", 0x4206, parent, 0, 0),
        "reading the parent's memory": lambda: raw("process_vm_readv", parent, 0, 0, 0, 0, 0),
        "the parent's limits": lambda: raw("prlimit64", parent, resource.RLIMIT_NOFILE, 0, other_limit),
        "a session of our own": os.setsid,
        "another priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)),
    }


def _kernel() -> dict[str, Callable[[], object]]:
    return {
        "a file in memory": lambda: raw("memfd_create", b"x", 0),
        "shared memory": lambda: raw("shmget", 0, 4096, 0o1600),
        "a program for the kernel": lambda: raw("bpf", 0, 0, 0),
        "a ring of requests": lambda: raw("io_uring_setup", 4, ctypes.create_string_buffer(120)),
        "page faults": lambda: raw("userfaultfd", 1),
        "a key": lambda: raw("keyctl", 0, -3, 0),
        "a namespace": lambda: raw("unshare", 0x04000000),
        "a mount": lambda: raw("mount", 0, 0, 0, 0, 0),
        "another root": lambda: raw("chroot", b"/"),
        "another user": lambda: raw("setuid", os.getuid()),
        "another filter": lambda: raw("seccomp", 1, 0, 0),
        "typing into the terminal": lambda: raw("ioctl", 0, 0x5412, b"x"),
    }


def needs(outside: Path, file: Path) -> dict[str, Callable[[], object]]:
    """Each must go on as ever."""
    return {
        "reading the file": file.read_bytes,
        "reading it twice": lambda: [file.open("rb"), file.open("rb")],
        "a temporary file": lambda: tempfile.TemporaryFile().write(b"x"),
        "a file of our own": lambda: Path("own").write_text("x") and Path("own").unlink(),
        "a folder of our own": lambda: (Path("own").mkdir(), shutil.rmtree("own")),
        "a library imported late": lambda: __import__("xml.dom.pulldom"),
        "a table of letters imported late": lambda: b"\xe4".decode("cp1250"),
        "a package installed": lambda: __import__("docx"),
        "a time zone": lambda: __import__("zoneinfo").ZoneInfo("Europe/Berlin"),
        "chance": lambda: os.urandom(8),
        "nothing at all": lambda: Path(os.devnull).write_text("x"),
        "a thread": _thread,
        "a signal to ourselves": lambda: os.getpid() and signal.raise_signal(signal.SIGCHLD),
        "our own limits": lambda: resource.getrlimit(resource.RLIMIT_AS),
        "whether a file is there": outside.exists,
    }


def outcomes(attempts: dict[str, Callable[[], object]]) -> dict[str, str]:
    """What came of each: "done", or the name of what was refused how."""
    told: dict[str, str] = {}
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            told[name] = (
                type(error).__name__ if error.errno is None else f"{type(error).__name__} {error.errno}"
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            told[name] = f"{type(error).__name__}: {error}"
        else:
            told[name] = "done"
    return told


def _gone(child: int) -> None:
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _well(status: int) -> None:
    if status:
        raise PermissionError(1, "no shell")


def _thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join(10)


def main() -> None:
    """Enter, try everything, and say in JSON what came of it."""
    told = json.loads(sys.argv[1])
    file, folder, outside = (Path(told[name]) for name in ("file", "folder", "outside"))
    os.chdir(folder)
    tempfile.tempdir = str(folder)
    protection = Protection(**told["protection"]) if told["protection"] is not None else None
    sets = {"escapes": escapes(outside, file), "needs": needs(outside, file)}
    if protection is not None:
        programs = tuple(Path(program) for program in told.get("programs", ()))
        enter(Policy(file=file, folder=folder, libraries=libraries(), programs=programs), protection)
    print(json.dumps({name: outcomes(attempts) for name, attempts in sets.items()}))


if __name__ == "__main__":
    main()
