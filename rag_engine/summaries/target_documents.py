from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_engine.summaries import intent_patterns
from rag_engine.summaries.target_words import naming_words, points_to_a_file
from rag_engine.text.lazy_pattern import lazy
from rag_engine.text.spelling import most_edits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.summaries.intent import SummaryRequest
    from rag_engine.types import DocumentRecord, KnowledgeBaseId

Finding: TypeAlias = Literal["documents", "several", "nothing_here", "unknown", "topic"]
"""Found; ambiguous; no file pointed to; unknown file; no file meant."""

_FILE_NAME = lazy(lambda: re.compile(r"[^\s/\\\"]*\w\.[A-Za-z][A-Za-z0-9]{1,4}\b"))
_SUFFIX = lazy(lambda: re.compile(r"\.[A-Za-z0-9]{1,8}$"))
_TOKEN = lazy(lambda: re.compile(r"[^\W_]+"))
_CAMEL = lazy(lambda: re.compile(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])"))
_TYPO_LETTERS = 5
_UNSPACED_STEM = 2
_UNSPACED_LETTER = lazy(lambda: re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMatch:
    """`documents` are those meant, or the candidates; `name` is the unknown file."""

    finding: Finding
    documents: tuple[DocumentRecord, ...] = ()
    name: str = ""


def match_targets(
    request: SummaryRequest,
    records: Sequence[DocumentRecord],
    *,
    recent: Sequence[str] = (),
    named: Mapping[KnowledgeBaseId, str] | None = None,
    continues: bool = False,
) -> TargetMatch:
    """`recent` are the latest files of the conversation; `named` are names of knowledge bases. `continues`:
    something was answered since, which a bare "it" may mean.
    """
    if request.everything:
        return _everything(request, records, named or {})
    titled, left = _titled(request, records, recent)
    words = naming_words(left)
    if titled:
        named_by = frozenset[str]().union(*(_tokens(record.document.title) for record in titled))
        others = [word for word in words if not _tokens(word) <= named_by]
        return TargetMatch(finding="topic") if others else TargetMatch(finding="documents", documents=titled)
    if name := _FILE_NAME.search(left):
        return _by_words(request, words, records) or TargetMatch(finding="unknown", name=name[0])
    is_kind = all(word in intent_patterns.KIND_WORDS for word in words)
    found = _by_words(request, words, records) if words else None
    if found and not (found.finding == "several" and is_kind and recent):
        return found
    if request.sign == "loose" or not is_kind:
        return TargetMatch(finding="topic")
    return _pointed_to(request, records, recent, continues=continues)


def _pointed_to(
    request: SummaryRequest,
    records: Sequence[DocumentRecord],
    recent: Sequence[str],
    *,
    continues: bool,
) -> TargetMatch:
    is_file = points_to_a_file(request.about)
    if continues and request.about and not is_file:
        return TargetMatch(finding="topic")
    known: dict[str, DocumentRecord] = {record.document.uri: record for record in records}
    known |= {record.document.id: record for record in records}
    if here := tuple(known[one] for one in recent if one in known):
        return TargetMatch(finding="documents", documents=here)
    if request.sign == "ordinary" and not is_file:
        return TargetMatch(finding="topic")
    if len(records) == 1 and not recent:
        return TargetMatch(finding="documents", documents=tuple(records))
    readable = tuple(record for record in records if record.state == "ready")
    return TargetMatch(finding="several" if readable else "nothing_here", documents=readable)


def _everything(
    request: SummaryRequest, records: Sequence[DocumentRecord], named: Mapping[KnowledgeBaseId, str]
) -> TargetMatch:
    words = naming_words(request.about)
    if not words:
        return TargetMatch(finding="documents" if records else "nothing_here", documents=tuple(records))
    bases = {base for base, name in named.items() if set(words) <= _tokens(name)}
    exact = {base for base in bases if frozenset(words) == _tokens(named[base])}
    found = tuple(record for record in records if record.document.knowledge_base in (exact or bases))
    if found:
        return TargetMatch(finding="documents", documents=found)
    return _by_words(request, words, records) or TargetMatch(finding="topic")


def _titled(
    request: SummaryRequest, records: Sequence[DocumentRecord], recent: Sequence[str]
) -> tuple[tuple[DocumentRecord, ...], str]:
    about, text = _folded(request.about), _folded(request.text)
    found: list[DocumentRecord] = []
    by_title = [(record, _folded(record.document.title)) for record in records]
    longest_first = sorted({title for _, title in by_title}, key=lambda title: (-len(title), title))
    for whole in (True, False):
        for title in longest_first:
            name = title if whole else _SUFFIX.sub("", title)
            if not name or (not whole and (name == title or not _is_distinctive(name))):
                continue
            # Words of a title may look like a style: "brief history.pdf".
            rest = _cut_out(text, name) if whole else _cut_out(about, name)
            if rest is not None:
                text, about = (rest, _cut_out(about, name) or about) if whole else (text, rest)
                found += [other for other, folded in by_title if folded == title]
        if found:
            break
    return _preferred(found, recent), about


def _preferred(found: Sequence[DocumentRecord], recent: Sequence[str]) -> tuple[DocumentRecord, ...]:
    by_title: dict[str, list[DocumentRecord]] = {}
    for record in found:
        by_title.setdefault(_folded(record.document.title), []).append(record)
    kept: list[DocumentRecord] = []
    for same in by_title.values():
        mine = [record for record in same if record.document.id in recent]
        distinct = {record.document.digest or record.document.id: record for record in mine or same}
        kept += distinct.values()
    return tuple(kept)


def _by_words(
    request: SummaryRequest, words: Sequence[str], records: Sequence[DocumentRecord]
) -> TargetMatch | None:
    named = frozenset(token for word in words for token in _tokens(word))
    distinctive = named - intent_patterns.KIND_WORDS
    if not named:
        return None
    fitting = [(record, _tokens(_SUFFIX.sub("", record.document.title))) for record in records]
    exact = [record for record, tokens in fitting if named == tokens]
    if not exact and request.sign == "plain":
        exact = [record for record, tokens in fitting if named <= tokens]
        if not exact and distinctive:
            exact = [record for record, tokens in fitting if all(_is_near(word, tokens) for word in named)]
    if not exact:
        return None
    same = len({record.document.title for record in exact}) == 1
    return TargetMatch(finding="documents" if len(exact) == 1 or same else "several", documents=tuple(exact))


def _is_near(word: str, tokens: frozenset[str]) -> bool:
    if word in tokens:
        return True
    most = most_edits(word)
    return len(word) >= _TYPO_LETTERS and any(
        abs(len(word) - len(other)) <= most and _edits(word, other) <= most for other in tokens
    )


def _edits(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        before, row[0] = row[0], number
        for place, against in enumerate(other, 1):
            before, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, before + (letter != against)),
            )
    return row[-1]


def _is_distinctive(name: str) -> bool:
    if _UNSPACED_LETTER.search(name):
        return len(name) >= _UNSPACED_STEM and bool(naming_words(name))
    return len(name) > _UNSPACED_STEM and bool(naming_words(name))


def _cut_out(about: str, name: str) -> str | None:
    place = about.find(name)
    while place >= 0:
        end = place + len(name)
        before, after = about[place - 1 : place], about[end : end + 1]
        if not (_joins(before, name[0]) or _joins(name[-1], after)):
            return f"{about[:place]} {about[end:]}"
        place = about.find(name, place + 1)
    return None


def _joins(one: str, other: str) -> bool:
    return bool(one and other) and all(
        sign.isalnum() and not _UNSPACED_LETTER.match(sign) for sign in (one, other)
    )


def _tokens(name: str) -> frozenset[str]:
    normal = unicodedata.normalize("NFKC", name)
    return frozenset(token.casefold() for token in _TOKEN.findall(_CAMEL.sub(" ", normal)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
