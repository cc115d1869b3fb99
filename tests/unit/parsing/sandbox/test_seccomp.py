"""The filter as the kernel reads it, run here on a small machine of the same kind, for each processor."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from rag_engine.parsing.sandbox import refused_system_calls, seccomp
from rag_engine.parsing.sandbox.refused_system_calls import ARCHITECTURES

_PROCESS = 4711
_X86, _ARM = 0xC000003E, 0xC00000B7
_HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
_ALLOWED, _KILLED = "allowed", "killed"


def _verdict(
    number: int, *arguments: int, machine: str = "x86_64", speaks: int | None = None, programs: bool = False
) -> str:
    """The kernel's verdict on a call: the BPF program is run over the record of the call."""
    architecture = ARCHITECTURES[machine]
    program = seccomp.program(architecture, process=_PROCESS, programs=programs)
    padded = (*arguments, *[0] * (6 - len(arguments)))
    told = struct.pack("=IIQ6Q", number, speaks or architecture.audit, 0, *padded)
    position, accumulator = 0, 0
    while True:
        operation, then, otherwise, value = struct.unpack_from("HBBI", program, position * 8)
        position += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", told, value)
            case 0x15:
                position += then if accumulator == value else otherwise
            case 0x25:
                position += then if accumulator > value else otherwise
            case 0x35:
                position += then if accumulator >= value else otherwise
            case 0x45:
                position += then if accumulator & value else otherwise
            case 0x06:
                break
            case _:
                pytest.fail(f"no such operation: {operation}")
    if value == 0x7FFF0000:
        return _ALLOWED
    return _KILLED if value == 0x80000000 else errno.errorcode[value & 0xFFFF]


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
def test_every_call_of_the_list_is_refused_and_no_other(machine: str) -> None:
    architecture = ARCHITECTURES[machine]
    never = (
        architecture.refused
        | architecture.starting
        | {architecture.checked[name] for name in ("seccomp", "capset")}
    )
    by_arguments = {architecture.checked[name] for name in ("clone", "clone3", "kill", "tgkill")}
    for number in range(refused_system_calls.NEWEST + 1):
        if number not in by_arguments:
            assert _verdict(number, machine=machine) == ("EPERM" if number in never else _ALLOWED), number


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
def test_a_thread_may_be_made_and_a_process_may_not(machine: str) -> None:
    numbers = ARCHITECTURES[machine].checked
    thread, process = 0x3D0F00, 0x1200011
    assert _verdict(numbers["clone"], thread, machine=machine) == _ALLOWED
    assert _verdict(numbers["clone"], process, machine=machine) == "EPERM"
    assert _verdict(numbers["clone"], process, machine=machine, programs=True) == _ALLOWED
    assert _verdict(numbers["clone3"], machine=machine) == "ENOSYS"


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
@pytest.mark.parametrize("name", ["kill", "tgkill", "prlimit64"])
def test_what_is_done_to_processes_is_done_to_itself_only(machine: str, name: str) -> None:
    number = ARCHITECTURES[machine].checked[name]
    assert _verdict(number, _PROCESS, machine=machine) == _ALLOWED
    assert _verdict(number, 1, machine=machine) == "EPERM"
    assert _verdict(number, 2**32 - 1, machine=machine) == "EPERM"
    # Id 0: all of its group for a signal, itself for limits.
    assert _verdict(number, 0, machine=machine) == (_ALLOWED if name == "prlimit64" else "EPERM")


def test_a_terminal_is_not_typed_into() -> None:
    number = ARCHITECTURES["x86_64"].checked["ioctl"]
    assert [_verdict(number, 0, request) for request in (0x5412, 0x541C, 0x5401)] == [
        "EPERM",
        "EPERM",
        _ALLOWED,
    ]


def test_numbers_of_another_processor_end_the_process() -> None:
    assert _verdict(0, speaks=0x40000003) == _KILLED
    assert _verdict(0, speaks=_ARM) == _KILLED
    assert _verdict(0, machine="aarch64", speaks=_X86) == _KILLED


def test_the_second_interface_of_x86_is_closed() -> None:
    assert _verdict(0x40000000 + 41) == "EPERM"


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
def test_calls_that_are_younger_than_the_list_are_not_there(machine: str) -> None:
    assert _verdict(refused_system_calls.NEWEST + 1, machine=machine) == "ENOSYS"


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
def test_a_parser_that_needs_a_program_may_start_it_and_nothing_else(machine: str) -> None:
    architecture = ARCHITECTURES[machine]
    for number in architecture.starting:
        assert _verdict(number, machine=machine, programs=True) == _ALLOWED
    for number in architecture.refused:
        assert _verdict(number, machine=machine, programs=True) == "EPERM"


@pytest.mark.parametrize("machine", sorted(ARCHITECTURES))
def test_the_numbers_are_those_of_the_system(machine: str) -> None:
    header = _HEADERS[machine]
    if not header.exists():
        pytest.skip(f"{header} is not here")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\n", header.read_text(encoding="utf-8"))
    official = {name: int(number) for name, number in lines}
    column = list(_HEADERS).index(machine)
    table = {**refused_system_calls.REFUSED, **refused_system_calls.STARTING, **refused_system_calls.CHECKED}
    ours = {name: number for name, row in table.items() if (number := row[column]) is not None}
    assert len(ours) > 100
    # Headers may be older than the list.
    assert {name: official[name] for name in ours.keys() & official.keys()} == {
        name: number for name, number in ours.items() if name in official
    }
