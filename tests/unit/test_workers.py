"""`tests.workers`, in runs of their own: what a forked worker runs, says and survives."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from textwrap import dedent
from typing import TYPE_CHECKING, Protocol

import pytest

from tests.conftest import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process


class Run(Protocol):
    def __call__(self, *options: str, **files: str) -> tuple[int, str]: ...


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Pytest with two workers on these modules; its exit code and output."""

    return partial(_run, tmp_path)


def _run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    for name, content in files.items():
        (folder / f"test_{name}.py").write_text(dedent(content), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-p", "tests.workers", "--workers", "2"),
            *("-c", os.devnull, "--rootdir", str(folder), *options, str(folder)),
        ],
        check=False,
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stdout + done.stderr


def test_every_test_runs_once_and_a_file_stays_together(run: Run, tmp_path: Path) -> None:
    content = f"""
        import os, pathlib, pytest

        @pytest.mark.parametrize("number", range(20))
        def test_it(number):
            with open({str(tmp_path / "ran")!r}, "a") as ran:
                print(__name__, number, os.getpid(), file=ran)
    """
    code, output = run(one=content, two=content, three=content)
    lines = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert code == 0, output
    assert "60 passed" in output
    assert len({(name, number) for name, number, _ in lines}) == len(lines) == 60
    assert len({(name, process) for name, _, process in lines}) == 3
    assert len({process for _, _, process in lines}) == 2


def test_a_failure_is_shown_with_its_output(run: Run) -> None:
    broken = """
        import warnings

        def test_it():
            print("what it printed")
            warnings.warn("it is old", DeprecationWarning)
            assert 1 + 1 == 3
    """
    code, output = run(broken=broken, good="def test_it(): print('unseen')")
    assert code == 1
    assert "assert (1 + 1) == 3" in output
    assert "what it printed" in output
    assert "DeprecationWarning: it is old" in output
    assert "unseen" not in output
    assert "1 failed, 1 passed, 1 warning" in output


def test_what_is_set_up_for_the_session_is_ended_once_in_each_worker(run: Run, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        dedent(f"""
            import os, pytest

            @pytest.fixture(scope="session")
            def server():
                yield os.getpid()
                with open({str(tmp_path / "ended")!r}, "a") as ended:
                    print(os.getpid(), file=ended)
        """)
    )
    content = "import os\ndef test_it(server): assert server == os.getpid()"
    code, output = run(**{f"file{number}": content for number in range(8)})
    ended = (tmp_path / "ended").read_text().split()
    assert code == 0, output
    assert len(ended) == len(set(ended)) == 2


def test_a_worker_that_dies_fails_its_test_and_the_others_run(run: Run) -> None:
    deadly = """
        import os, signal

        def test_before(): pass
        def test_deadly(): os.kill(os.getpid(), signal.SIGKILL)
        def test_after(): pass
    """
    code, output = run(deadly=deadly, good="def test_it(): pass")
    assert code == 1
    assert "The worker died: SIGKILL" in output
    assert "test_deadly.py::test_deadly" in output
    assert "1 failed, 3 passed" in output


def test_a_run_that_broke_off_leaves_nothing_to_run_again_alone(run: Run) -> None:
    """CI passes if what failed passes alone: then everything else must have run."""
    broken = """
        import os, pytest

        @pytest.fixture(scope="session")
        def server():
            yield
            os._exit(7)

        def test_it(server): assert not server
        def test_bad(): assert False
    """
    code, output = run(broken=broken, good="def test_it(): pass")
    assert (code, "A worker died between tests" in output) == (pytest.ExitCode.INTERNAL_ERROR, True)
    code, output = run("--last-failed", "--last-failed-no-failures", "none")
    assert code == pytest.ExitCode.NO_TESTS_COLLECTED, output


def test_the_first_failure_ends_the_run_if_asked(run: Run) -> None:
    content = """
        import pytest

        @pytest.mark.parametrize("number", range(500))
        def test_it(number):
            assert number
    """
    code, output = run("-x", one=content, two=content, three=content)
    assert code == 1
    assert "stopping after" in output
    assert "1497 passed" not in output


def test_an_interrupted_run_ends_what_its_workers_started(run: Run, tmp_path: Path) -> None:
    content = f"""
        import os, pytest, signal, time
        from pathlib import Path

        @pytest.fixture(scope="session", autouse=True)
        def server():
            yield
            Path({str(tmp_path)!r}, f"ended-{{os.getpid()}}").touch()

        def test_it():
            Path({str(tmp_path)!r}, f"began-{{os.getpid()}}").touch()
            while len(list(Path({str(tmp_path)!r}).glob("began-*"))) < 2:
                time.sleep(0.01)
            if __name__ == "test_file0":
                os.kill(os.getppid(), signal.SIGINT)
    """
    code, output = run(**{f"file{number}": content for number in range(40)})
    assert code == 2, output
    assert "KeyboardInterrupt" in output
    began = {path.name.partition("-")[2] for path in tmp_path.glob("began-*")}
    assert began == {path.name.partition("-")[2] for path in tmp_path.glob("ended-*")}
    assert len(began) == 2


def test_a_folder_of_its_own_in_each_worker_is_kept_where_it_failed(run: Run, tmp_path: Path) -> None:
    content = """
        def test_it(tmp_path):
            (tmp_path / "left").write_text(tmp_path.parent.name)
            assert {outcome}
    """
    options = ("--basetemp", str(tmp_path / "folders"), "-o", "tmp_path_retention_policy=failed")
    code, output = run(*options, bad=content.format(outcome="False"), good=content.format(outcome="True"))
    assert code == 1, output
    [left] = (tmp_path / "folders").rglob("left")
    assert left.read_text() == left.parent.parent.name
    assert left.read_text().startswith("worker")


def test_what_takes_too_long_is_said(run: Run) -> None:
    code, output = run(
        "--timeout", "1", slow="import time\ndef test_it(): time.sleep(60)", good="def test_it(): pass"
    )
    assert code == 1
    assert "Timeout" in output
    assert "1 failed, 1 passed" in output
