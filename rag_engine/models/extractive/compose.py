from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rag_engine.generation.prompt_safety import neutral
from rag_engine.text.lazy_pattern import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.models.extractive.summary import Choice

_BACKTICKS = lazy(lambda: re.compile(r"`+"))
_LONGEST_FENCE = 16
_END = lazy(lambda: re.compile(r"(?<!\s)\s*(?<![.!?…。！？；;:：])([.!?…。！？；;:：]+[\"'”’»」』)\]*_]*)\Z"))
_EMPHASIS = lazy(lambda: re.compile(r"[*_`~|\[\]<>]+"))
_LONGEST_LABEL = 80
_LONGEST_CODE = 100
_NO_END = ";:,；：，、"


def quoted(candidate: Candidate) -> str:
    """The citation comes before the final punctuation."""
    number = candidate.passage + 1
    fence = _fence(candidate.text)
    if candidate.is_code and len(fence) <= _LONGEST_FENCE:
        # Before the code, the marker would join the sentence.
        return f"{fence}\n{candidate.text}\n{fence}\n[{number}]"
    text = _without_open_code(neutral(candidate.text, keep_markers=False))
    body, end = _END.sub("", text), _END.search(text)
    return f"{body} [{number}]{end[1] if end else ''}"


def list_lines(choices: Sequence[Choice]) -> Iterator[str]:
    several = len({choice.section.title for choice in choices}) > 1
    for title, of_document in groupby(choices, key=lambda choice: choice.section.title):
        yield f"\n\n**{_label(title)}**\n" if several else "\n"
        of_one = list(of_document)
        labelled = len(of_one) > 1
        for choice in of_one:
            label = _label(choice.section.label) if labelled else ""
            if label:
                sentences = [_in_line(candidate) for candidate in choice.chosen]
                yield f"\n- **{label}:** {' '.join([*sentences[:1], *map(_with_ellipsis, sentences[1:])])}"
            else:
                yield "".join(f"\n- {_in_line(candidate)}" for candidate in choice.chosen)


def _in_line(candidate: Candidate) -> str:
    if not candidate.is_code:
        return _ended(quoted(candidate))
    line = next((line.strip() for line in candidate.text.split("\n") if line.strip()), "")
    return f"`{_BACKTICKS.sub('', line)[:_LONGEST_CODE]}` [{candidate.passage + 1}]."


def _with_ellipsis(sentence: str) -> str:
    return f"… {sentence}" if sentence[:1].islower() else sentence


def _ended(sentence: str) -> str:
    return f"{sentence.rstrip(_NO_END)}." if sentence.endswith(("]", *_NO_END)) else sentence


def _label(text: str) -> str:
    line = " ".join(_EMPHASIS.sub(" ", neutral(text, keep_markers=False)).split()).rstrip(" :.")
    return line if len(line) <= _LONGEST_LABEL else f"{line[: _LONGEST_LABEL - 1]}…"


def _without_open_code(text: str) -> str:
    opened = ""
    for run in _BACKTICKS.findall(text):
        opened = run if not opened else "" if run == opened else opened
    return text.replace("`", "'") if opened else text


def _fence(code: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
