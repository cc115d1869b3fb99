"""What may be read: what can be imported and what libraries open, and not what lies beside it."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

import rag_engine
from rag_engine.parsing.sandbox import Policy, Protection
from rag_engine.parsing.sandbox.policy import libraries, program


def _allows(paths: tuple[Path, ...], path: Path) -> bool:
    return any(path.resolve().is_relative_to(allowed) for allowed in paths)


def test_of_a_checkout_only_what_can_be_imported_is_read(tmp_path: Path) -> None:
    for name in (
        "package/__init__.py",
        "package/data.json",
        "module.py",
        ".env",
        ".footnote/chat.sqlite",
        "notes/x.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "linked").symlink_to(tmp_path / "notes")
    allowed = libraries([str(tmp_path)])
    seen = {
        path.relative_to(tmp_path).as_posix()
        for path in tmp_path.rglob("*")
        if path.is_file() and _allows(allowed, path)
    }
    assert seen == {"package/__init__.py", "package/data.json", "module.py"}


def test_a_folder_that_libraries_were_installed_into_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "library-1.dist-info").mkdir()
    assert _allows(libraries([str(tmp_path)]), tmp_path / "library" / "table.bin")


def test_linked_packages_are_read_in_place_and_nothing_beside_them(tmp_path: Path) -> None:
    store, installed = tmp_path / "store", tmp_path / "installed"
    (installed / "library-1.dist-info").mkdir(parents=True)
    for name in ("whole/a.py", "each/__init__.py", "each/deep/b.py", "each.libs/c.so.1", "d.py", "beside.py"):
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).touch()
    (installed / "whole").symlink_to(store / "whole")
    for name in ("each/__init__.py", "each/deep/b.py", "each.libs/c.so.1", "d.py"):
        (installed / name).parent.mkdir(parents=True, exist_ok=True)
        (installed / name).symlink_to(store / name)
    allowed = libraries([str(installed)])
    seen = {path.name for path in store.rglob("*") if path.is_file() and _allows(allowed, path)}
    assert seen == {"a.py", "__init__.py", "b.py", "c.so.1", "d.py"}


def test_the_library_of_python_our_code_and_installed_packages_are_read() -> None:
    allowed = libraries([])
    for path in (os.__file__, rag_engine.__file__, f"{sysconfig.get_paths()['purelib']}/docx/api.py"):
        assert _allows(allowed, Path(path)), path


@pytest.mark.parametrize(
    "path", ["/", "/etc", "/etc/passwd", "/home", "/root", "/proc", "/tmp", "/var", "/run"]
)
def test_nothing_else_of_the_machine_is_read(path: str) -> None:
    assert not _allows(libraries(sys.path), Path(path))


def test_what_is_not_there_is_left_out() -> None:
    assert all(path.exists() for path in libraries(["/nowhere/at/all", "", "/nowhere.zip"]))


def test_programs_bring_what_they_need_and_others_bring_nothing(tmp_path: Path) -> None:
    plain = Policy(file=tmp_path / "file", folder=tmp_path, libraries=())
    assert plain.executable == ()
    assert plain.readable == (tmp_path / "file",)
    shell = program("sh")
    assert shell is not None
    assert shell in Policy(file=tmp_path, folder=tmp_path, libraries=(), programs=(shell,)).executable
    assert program("no-such-program-anywhere") is None


def test_the_protection_is_reported_in_words() -> None:
    assert str(Protection(landlock=7, seccomp=True)) == "Landlock 7 and seccomp"
    assert str(Protection(seccomp=True)) == "seccomp"
    assert str(Protection()) == "nothing"
    assert [Protection(landlock=1).complete, Protection(landlock=1, seccomp=True).complete] == [False, True]


def test_what_a_program_was_installed_with_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path / "data"))
    own = tmp_path / "tools" / "bin" / "tesseract"
    policy = Policy(file=tmp_path / "file", folder=tmp_path / "folder", libraries=(), programs=(own,))
    for wanted in ("tools/share/tessdata/eng.traineddata", "tools/lib/liblept.so", "data/eng.traineddata"):
        assert _allows(policy.readable, tmp_path / wanted), wanted
    for other in ("tools/etc/secret", "tools/share/doc/secret"):
        assert not _allows(policy.readable, tmp_path / other)
    for other in ("/opt/secret", "/usr/share/doc/secret", "/usr/local/share/secret"):
        assert not _allows(policy.readable, Path(other))
    without = Policy(file=tmp_path / "file", folder=tmp_path / "folder", libraries=())
    assert not _allows(without.readable, tmp_path / "data" / "eng.traineddata")
