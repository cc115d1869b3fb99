"""What a node runs from: the published artifacts of Elasticsearch and our launcher, fetched and compiled once."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OLDEST_JDK = 21
SOURCES = Path(__file__).parent / "launcher"
CACHE = Path(__file__).parents[2] / ".cache" / "elastic"
BUILD_LIMIT = 240.0
"""Seconds for fetching everything with an empty Maven repository; one test may last 300."""

# Taken when the plug-in is loaded: tests run with a HOME of their own, and what all of them share is not to
# depend on which of them came first.
_ENVIRONMENT = dict(os.environ)


class Missing(Exception):
    """This machine cannot run Elasticsearch; the message is the one line that says what it lacks."""


class BuildFailed(Exception):
    """Fetching or compiling did not work; the message holds the end of what the tool said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A whole build: `home` as Elasticsearch's `path.home`, and what to give to `java`."""

    jdk: Path
    folder: Path

    @property
    def home(self) -> Path:
        """Elasticsearch's `path.home`, shared by all nodes and only read."""
        return self.folder / "home"

    @property
    def class_archive(self) -> Path:
        """The loaded classes of a started node as the JVM stores them: starting takes half the time."""
        return self.folder / "classes.jsa"

    def command(self, config: Path, options: Sequence[str]) -> list[str]:
        """The command that runs a node set up by `config/elasticsearch.yml`."""
        return [
            str(self.jdk / "bin" / "java"),
            *options,
            # What the JVM itself has to say belongs into the log too; standard output is for one line of ours.
            "-Xlog:disable",
            "-Xlog:all=warning:stderr",
            f"-Des.nativelibs.path={self.home / 'lib' / 'platform'}",
            "-jar",
            str(self.folder / "launcher.jar"),
            str(config),
        ]


QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""JVM options of a node that lives for seconds: compile quickly rather than well, collect without threads."""


def distribution() -> Distribution:
    """The build for this machine, made now if there is none; raises `Missing` or `BuildFailed`."""
    outcome = _outcome()
    if isinstance(outcome, BuildFailed):
        raise BuildFailed(str(outcome)) from outcome
    return outcome


@cache
def _outcome() -> Distribution | BuildFailed:
    """Tried once: what could not be fetched for the first test need not be waited for by the others."""
    jdk, maven = _find_tools()

    def build(folder: Path) -> None:
        _build(Distribution(jdk=jdk, folder=folder), maven)

    try:
        return Distribution(jdk=jdk, folder=made_once(CACHE / _key(jdk), build))
    except BuildFailed as failure:
        return failure


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """`folder` as `make` fills it: now, or in any process before that was not interrupted; others wait meanwhile."""
    whole = folder / "whole"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock", timeout=BUILD_LIMIT):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what an interrupted build left
            folder.mkdir()
            make(folder)
            whole.touch()
    return folder


def write_settings(config: Path, settings: Mapping[str, object]) -> None:
    """Write `elasticsearch.yml` (JSON is YAML) into the folder `config`."""
    config.mkdir(parents=True, exist_ok=True)
    (config / "elasticsearch.yml").write_text(json.dumps(settings), encoding="utf-8")


def _find_tools() -> tuple[Path, str]:
    jdk = next((home for home in _java_homes() if _is_usable(home)), None)
    maven = shutil.which("mvn", path=_ENVIRONMENT.get("PATH"))
    lacking = [
        *([] if jdk else [f"a JDK of version {OLDEST_JDK} or later (JAVA_HOME names it)"]),
        *([] if maven else ["Maven (mvn)"]),
    ]
    if jdk is None or maven is None:
        raise Missing(f"the tests with a real Elasticsearch need {' and '.join(lacking)}")
    return jdk, maven


def _java_homes() -> Iterator[Path]:
    """What the environment names (JAVA_HOME, but JAVA_HOME_21_X64 too), then `java` of the path, then their neighbours."""
    named = [Path(value) for name, value in sorted(_ENVIRONMENT.items()) if name.startswith("JAVA_HOME")]
    found = [shutil.which(program, path=_ENVIRONMENT.get("PATH")) for program in ("java", "javac")]
    homes = [*named, *(Path(program).resolve().parents[1] for program in found if program)]
    yield from homes
    for home in homes:
        yield from (release.parent for release in sorted(home.resolve().parent.glob("*/release")))


def _is_usable(home: Path) -> bool:
    return (home / "bin" / "javac").is_file() and _version(home)[0] >= OLDEST_JDK


def _version(home: Path) -> tuple[int, ...]:
    release = home / "release"
    text = release.read_text(encoding="utf-8") if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="([\d.]+)', text, re.MULTILINE)
    return tuple(int(part) for part in found[1].split(".")) if found else (0,)


def _key(jdk: Path) -> str:
    digest = hashlib.sha256(f"{jdk} {_version(jdk)}".encode())
    for path in (SOURCES / "pom.xml", SOURCES / "Launcher.java", Path(__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _build(target: Distribution, maven: str) -> None:
    jars, module = target.folder / "jars", target.home / "modules" / "transport-netty4"
    for folder in (jars, module, target.home / "plugins", target.home / "lib" / "platform"):
        folder.mkdir(parents=True)
    fetch = ["-q", "-B", "-C", "-f", str(SOURCES / "pom.xml"), "dependency:copy-dependencies"]
    _run([maven, *fetch, f"-DoutputDirectory={jars}"], target.jdk)
    _move_plugin(jars, module)
    _compile(target, jars)
    _archive_classes(target)


def _move_plugin(jars: Path, module: Path) -> None:
    for pattern in ("netty-*.jar", "transport-netty4-*.jar"):
        for jar in jars.glob(pattern):
            jar.rename(module / jar.name)
    name = "plugin-descriptor.properties"
    with zipfile.ZipFile(next(module.glob("transport-netty4-*.jar"))) as archive:
        text = archive.read(f"META-INF/es-plugins/transport-netty4/{name}").decode()
    # Our server is on the class path, where the plug-in finds no named modules.
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith("modulename")]
    (module / name).write_text("".join(lines), encoding="utf-8")


def _compile(target: Distribution, jars: Path) -> None:
    classes = target.folder / "classes"
    compiler = str(target.jdk / "bin" / "javac")
    _run([compiler, "-cp", f"{jars}/*", "-d", str(classes), str(SOURCES / "Launcher.java")], target.jdk)
    names = " ".join(f"jars/{jar.name}" for jar in sorted(jars.glob("*.jar")))
    manifest = [
        "Manifest-Version: 1.0",
        "Main-Class: Launcher",
        "Enable-Native-Access: ALL-UNNAMED",
        *_folded(f"Class-Path: {names}"),
    ]
    with zipfile.ZipFile(target.folder / "launcher.jar", "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", "".join(f"{line}\n" for line in manifest))
        for compiled in sorted(classes.glob("*.class")):
            archive.write(compiled, compiled.name)


def _folded(line: str) -> list[str]:
    """A line of a manifest, which may be 72 bytes long, with its continuations, which begin with a blank."""
    return [line[:70], *(f" {line[at : at + 70]}" for at in range(70, len(line), 70))]


def _archive_classes(target: Distribution) -> None:
    """Start a node once and let the JVM store, when it ends in order, the classes it has loaded."""
    folder = target.folder / "training"
    settings = {
        "path.home": str(target.home),
        "path.data": str(folder / "data"),
        "path.logs": str(folder / "logs"),
        "network.host": "127.0.0.1",
        "http.port": 0,
        "transport.port": 0,
        "discovery.type": "single-node",
    }
    write_settings(folder / "config", settings)
    options = (*QUICK, f"-XX:ArchiveClassesAtExit={target.class_archive}")
    _run([*target.command(folder / "config", options), "--until-ready"], target.jdk)
    shutil.rmtree(folder)


def _run(command: Sequence[str], jdk: Path) -> None:
    environment = {**_ENVIRONMENT, "JAVA_HOME": str(jdk)}
    tool = Path(command[0]).name
    try:
        subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=BUILD_LIMIT,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        tail = error.stdout.decode(errors="replace")[-2000:]
        raise BuildFailed(f"building Elasticsearch for the tests: {tool} failed\n{tail}") from error
    except subprocess.TimeoutExpired as error:
        raise BuildFailed(
            f"building Elasticsearch for the tests: {tool} took over {BUILD_LIMIT:.0f} s"
        ) from error
