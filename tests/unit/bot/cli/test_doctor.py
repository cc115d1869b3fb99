"""What the doctor says of text recognition, with programs that only pretend."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bot.cli.operation import doctor
from bot.settings import ParsingSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="makes shell scripts"), pytest.mark.process]

_TESSERACT = """#!/bin/sh
if [ "$1" = --version ]; then echo "tesseract 5.3.0"; else printf 'List of available languages in "/data/":\\n%s\\n' "{}"; fi
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Put a program on a `PATH` that has no others."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(name: str, script: str) -> None:
        path = tmp_path / name
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)

    return make


def _tesseract(*languages: str) -> str:
    return _TESSERACT.format("\n".join(languages))


async def test_the_languages_are_named(install: Callable[[str, str], None]) -> None:
    install("tesseract", _tesseract("deu", "eng", "osd"))
    finding = await doctor.text_recognition(Settings())
    assert finding.state == "ok"
    assert finding.detail == "Tesseract 5.3.0 reads scans and pictures in eng, deu"


async def test_without_the_program_the_command_that_installs_it_is_reported(
    install: Callable[[str, str], None],
) -> None:
    install("apt-get", "#!/bin/sh\n")
    finding = await doctor.text_recognition(Settings())
    assert finding.state == "note"
    assert "scanned pages and pictures are not read" in finding.detail
    assert finding.remedy is not None
    assert "sudo apt-get install tesseract-ocr" in finding.remedy


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\n", "no program"])
async def test_a_program_that_does_not_work_is_none(install: Callable[[str, str], None], script: str) -> None:
    install("tesseract", script)
    assert (await doctor.text_recognition(Settings())).state == "note"


async def test_a_language_that_is_asked_for_and_missing_is_bad(install: Callable[[str, str], None]) -> None:
    install("tesseract", _tesseract("deu", "eng", "osd"))
    install("apt-get", "#!/bin/sh\n")
    settings = Settings(parsing=ParsingSettings(ocr_languages=("eng", "chi_sim")))
    finding = await doctor.text_recognition(settings)
    assert finding.state == "bad"
    assert "FOOTNOTE_PARSING__OCR_LANGUAGES: chi_sim" in finding.detail
    assert finding.remedy is not None
    assert "`sudo apt-get install tesseract-ocr-chi-sim`" in finding.remedy


async def test_very_many_languages_ask_for_a_choice(install: Callable[[str, str], None]) -> None:
    install("tesseract", _tesseract("eng", "osd", *(f"l{number:02}" for number in range(60))))
    finding = await doctor.text_recognition(Settings())
    assert finding.state == "note"
    assert "in eng, of 61 that are installed" in finding.detail
    assert (finding.remedy or "").startswith("set FOOTNOTE_PARSING__OCR_LANGUAGES")
    chosen = Settings(parsing=ParsingSettings(ocr_languages=("l07",)))
    assert (await doctor.text_recognition(chosen)).state == "ok"


async def test_without_the_data_for_orientation_it_says_what_is_lost(
    install: Callable[[str, str], None],
) -> None:
    install("tesseract", _tesseract("eng"))
    finding = await doctor.text_recognition(Settings())
    assert finding.state == "note"
    assert finding.detail.endswith("; pages that lie on their side are not read")


def test_languages_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_PARSING__OCR_LANGUAGES", "eng, deu,chi_sim")
    assert Settings().parsing.ocr_languages == ("eng", "deu", "chi_sim")
