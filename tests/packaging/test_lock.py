"""The lock files of the image fit what `pyproject.toml` declares; checked without a network."""

from __future__ import annotations

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts import lock

IMAGE = {"sys_platform": "linux", "platform_system": "Linux", "python_version": lock.PYTHON}
IMAGE |= {"python_full_version": f"{lock.PYTHON}.0", "implementation_name": "cpython", "extra": ""}
PIN = re.compile(r"([A-Za-z0-9._\-\[\]]+)==([^ ;\\]+)(?: ; ([^\\]+?))? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def lines(name: str) -> list[str]:
    text = (lock.PROJECT / "deploy" / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def pins(name: str) -> dict[str, Version]:
    """What the image installs, by name."""
    found: dict[str, Version] = {}
    for line in lines(name):
        if (pin := PIN.fullmatch(line)) and (
            not pin[3] or Requirement(f"x; {pin[3]}").marker.evaluate(IMAGE)
        ):  # pyright: ignore[reportOptionalMemberAccess]
            found[canonicalize_name(Requirement(pin[1]).name)] = Version(pin[2])
    return found


@pytest.mark.parametrize("name", lock.requirements())
def test_every_requirement_has_a_pin_that_satisfies_it(name: str) -> None:
    fixed = pins(name)
    for wanted in map(Requirement, lock.requirements()[name]):
        version = fixed.get(canonicalize_name(wanted.name))
        assert version is not None, f"{wanted} is not locked: run `make lock`"
        assert wanted.specifier.contains(version, prereleases=True), f"{wanted}: {version}: run `make lock`"


@pytest.mark.parametrize("name", lock.requirements())
def test_every_pin_has_hashes_and_nothing_names_a_host(name: str) -> None:
    for line, following in zip(lines(name), [*lines(name)[1:], ""], strict=True):
        assert PIN.fullmatch(line) or HASH.fullmatch(line), line
        assert HASH.fullmatch(following) or not PIN.fullmatch(line), f"{line} has no hash"
    text = "\n".join(lines(name))
    assert not re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host|@ ", text)


def test_the_lock_is_whole_and_has_nothing_left_over() -> None:
    """By what the installed packages require: the same names, whatever their versions."""
    fixed, reached = pins("requirements.lock"), set[str]()
    waiting = [Requirement(each) for each in lock.requirements()["requirements.lock"]]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in reached and not wanted.extras:
            continue
        reached.add(name)
        for line in metadata.requires(wanted.name) or ():
            needed = Requirement(line)
            extras = [{**IMAGE, "extra": extra} for extra in ("", *wanted.extras)]
            if needed.marker is None or any(needed.marker.evaluate(each) for each in extras):
                waiting.append(needed)
    assert reached == set(fixed), "run `make lock`"


def test_the_image_installs_only_what_is_locked() -> None:
    dockerfile = (lock.PROJECT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    installs = re.findall(r"pip install [^&\n]*", dockerfile)
    assert len(installs) == 4
    for install in installs:
        assert "--require-hashes" in install or "--no-index" in install, install
    assert "--no-build-isolation" in dockerfile
