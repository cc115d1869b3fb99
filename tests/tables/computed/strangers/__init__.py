"""Sets by people who saw neither the rules nor other sets: their files, and the questions with their answers."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from tests.tables.computed.question_set import SHARED, ComputedQuestion, QuestionSet

_FOLDER = Path(__file__).parent
NAMES = (
    *("eighteenth", "nineteenth", "twentieth", "twenty_first", "twenty_second"),
    *("twenty_third", "twenty_fourth", "twenty_fifth", "twenty_sixth"),
    *("twenty_seventh", "twenty_eighth"),
)


def stranger_set(name: str) -> QuestionSet:
    """Empty without the real files that its questions are about, too."""
    folder = _FOLDER / name
    kept: dict[str, Any] = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    real: dict[str, str] = kept["real"]
    is_whole = all((SHARED / place).is_file() for place in real.values())
    asked = [_question(one) for one in kept["questions"]] if is_whole else []
    files = (path for path in sorted(folder.iterdir()) if path.name != "questions.json")
    makers = {path.name: partial(shutil.copyfile, path) for path in files if path.is_file()}
    return QuestionSet(makers=makers, real=real, questions=lambda: asked)  # pyright: ignore[reportArgumentType]


def _question(kept: dict[str, Any]) -> ComputedQuestion:
    gold = tuple(kept["gold"])
    return ComputedQuestion(text=kept["text"], kind=kept["kind"], gold=gold, language=kept["language"])
