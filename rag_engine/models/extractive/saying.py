"""How what was chosen is written: quoted with its citation, in a list, under the headings of its sections. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rag_engine.untrusted import neutral

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rag_engine.models.extractive.candidates import Candidate
    from rag_engine.models.extractive.summary import Choice

_BACKTICKS = re.compile(r"`+")
_LONGEST_FENCE = 16
_END = re.compile(r"\s*([.!?…。！？；;:：]+[\"'”’»」』)\]*_]*)\Z")
_EMPHASIS = re.compile(r"[*_`~|\[\]<>]+")
_LONGEST_LABEL = 80
_LONGEST_CODE = 100
_NO_END = ";:,；：，、"


def quoted(candidate: Candidate) -> str:
    """The candidate with its citation before the final punctuation. Markers of its own would be taken for ours."""
    number = candidate.passage + 1
    fence = _fence(candidate.text)
    if candidate.is_code and len(fence) <= _LONGEST_FENCE:
        # Behind the code, as before it the marker would join the sentence above.
        return f"{fence}\n{candidate.text}\n{fence}\n[{number}]"
    text = _without_open_code(neutral(candidate.text, keep_markers=False))
    body, end = _END.sub("", text), _END.search(text)
    return f"{body} [{number}]{end[1] if end else ''}"


def said(choices: Sequence[Choice]) -> Iterator[str]:
    """A line for each section, under the title of its document where there are several."""
    several = len({choice.section.title for choice in choices}) > 1
    for title, of_document in groupby(choices, key=lambda choice: choice.section.title):
        yield f"\n\n**{_label(title)}**\n" if several else "\n"
        of_one = list(of_document)
        labelled = len(of_one) > 1
        for choice in of_one:
            label = _label(choice.section.label) if labelled else ""
            if label:
                sentences = [_in_line(candidate) for candidate in choice.chosen]
                yield f"\n- **{label}:** {' '.join([*sentences[:1], *map(_begun, sentences[1:])])}"
            else:
                yield "".join(f"\n- {_in_line(candidate)}" for candidate in choice.chosen)


def _in_line(candidate: Candidate) -> str:
    """As `quoted`, but of code its first line only."""
    if not candidate.is_code:
        return _ended(quoted(candidate))
    line = next((line.strip() for line in candidate.text.split("\n") if line.strip()), "")
    return f"`{_BACKTICKS.sub('', line)[:_LONGEST_CODE]}` [{candidate.passage + 1}]."


def _begun(sentence: str) -> str:
    """One with a small first letter would be taken for more of the sentence before it, its marker for a second one of that."""
    return f"… {sentence}" if sentence[:1].islower() else sentence


def _ended(sentence: str) -> str:
    """With a full stop behind its marker, so that the next sentence is another one."""
    return f"{sentence.rstrip(_NO_END)}." if sentence.endswith(("]", *_NO_END)) else sentence


def _label(text: str) -> str:
    """A heading as a few words in bold: one line, nothing in it that is formatting or a marker."""
    line = " ".join(_EMPHASIS.sub(" ", neutral(text, keep_markers=False)).split()).rstrip(" :.")
    return line if len(line) <= _LONGEST_LABEL else f"{line[: _LONGEST_LABEL - 1]}…"


def _without_open_code(text: str) -> str:
    """With apostrophes for backticks that begin no code, such as a rupee sign read as one: they would take the marker for code."""
    opened = ""
    for run in _BACKTICKS.findall(text):
        opened = run if not opened else "" if run == opened else opened
    return text.replace("`", "'") if opened else text


def _fence(code: str) -> str:
    """Backticks that no line of the code can close."""
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
