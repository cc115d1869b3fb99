"""A deny list: the harmless calls of Python and libraries change with every version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

# On x86_64 and aarch64; None if missing.
REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    # network, also local
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    # process groups: the parent kills ours
    "setsid": (112, 157),
    "setpgid": (109, 154),
    # memory, files and signals of other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    # others' share of processor and memory
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    # memory that no limit counts and that outlives us
    "shmget": (29, 194),
    "shmat": (30, 196),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    # not covered by Landlock: owners, rights, times, truncating by name
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "file_setattr": (469, 469),
    "truncate": (76, 45),
    "mknod": (133, None),
    "mknodat": (259, 33),
    # file systems and namespaces
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    "unshare": (272, 97),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sync": (162, 81),
    "syncfs": (306, 267),
    # parts of the kernel with many past holes
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "uselib": (134, None),
    "lookup_dcookie": (212, 18),
    # the machine itself
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    # our identity
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
}
STARTING: Final[dict[str, tuple[int | None, int | None]]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "execveat": (322, 281),
}
# Decided by their arguments.
CHECKED: Final[dict[str, tuple[int, int]]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "ioctl": (16, 29),
    "seccomp": (317, 277),
    "capget": (125, 90),
    "capset": (126, 91),
}
NEWEST: Final = 469
"""Numbers above 423 are equal on every architecture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    audit: int
    """The kernel's id of the architecture in a filter."""
    refused: frozenset[int]
    starting: frozenset[int]
    """Calls that start programs and processes."""
    checked: dict[str, int]
    foreign: int | None = None
    """From this number on, calls belong to a second interface."""


def _numbers(table: dict[str, tuple[int | None, int | None]], column: int) -> frozenset[int]:
    return frozenset(number for row in table.values() if (number := row[column]) is not None)


ARCHITECTURES: Final = {
    "x86_64": Architecture(
        audit=0xC000003E,
        refused=_numbers(REFUSED, 0),
        starting=_numbers(STARTING, 0),
        checked={name: row[0] for name, row in CHECKED.items()},
        foreign=0x40000000,
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        refused=_numbers(REFUSED, 1),
        starting=_numbers(STARTING, 1),
        checked={name: row[1] for name, row in CHECKED.items()},
    ),
}
