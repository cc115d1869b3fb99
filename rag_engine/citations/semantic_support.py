from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from rag_engine.citations.claims import claims
from rag_engine.citations.markers.placement import MOST_MARKERS
from rag_engine.citations.quotes import units
from rag_engine.citations.stated_numbers import missing
from rag_engine.citations.wording_similarity import Weights, WordingSimilarity
from rag_engine.errors import Unavailable
from rag_engine.retrieval.ranking.language_familiarity import gauge
from rag_engine.text.analyzer import tokens
from rag_engine.text.language import detect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.citations.claims import Claim
    from rag_engine.ports import Embedder
    from rag_engine.types import Chunk, Hit, Matrix, Vector

THRESHOLDS: Final = (0.63, 0.504, 0.4032, 0.32256)
"""The first that a claim's best passage reaches is its confidence."""
_SUPPLEMENT: Final = 0.3
_TOLERANCE: Final = 0.99
_MEANING_SHARE: Final = 0.4
_BACKGROUND: Final = 0.75
_LEAST_BACKGROUND: Final = 0.2
_FEWEST_WINDOWS: Final = 2
_FEWEST_TOKENS: Final = 3
_MOST_CLAIMS: Final = 64
_MOST_WINDOWS: Final = 64
"""Embedding takes nearly all of the time."""
_PATIENCE: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Best first; the threshold that the best one reached."""

    claim: Claim
    passages: tuple[int, ...] = ()
    threshold: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    wording: WordingSimilarity
    windows: tuple[str, ...]
    window_wordings: tuple[WordingSimilarity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    found: list[Claim]
    said: list[str]
    chosen: list[str]
    compared: list[str]
    wordings: list[WordingSimilarity]
    evidence: list[_Evidence]


async def supports(
    text: str, passages: Sequence[Hit], *, question: str, embedder: Embedder
) -> tuple[list[Support], tuple[str, ...]]:
    """Of each claim, and the fallbacks used. Answers of a word or two are compared with their question."""
    comparison = await asyncio.to_thread(_comparison, text, passages, question)
    if not comparison.chosen:
        return [Support(claim=claim) for claim in comparison.found], ()
    windows = [passage.windows for passage in comparison.evidence]
    cosines = await cosines_of(comparison.compared, windows, embedder)
    share = 0.0 if cosines is None else _MEANING_SHARE * familiarity(text, passages, embedder)
    supported = await asyncio.to_thread(_supported, comparison, cosines, share, passages)
    return supported, () if cosines is not None else ("citing_without_vectors",)


def _comparison(text: str, passages: Sequence[Hit], question: str) -> _Comparison:
    found = list(claims(text))
    language = detect(text)
    said = [text[claim.start : claim.end] for claim in found]
    chosen, is_terse = _chosen(
        [words for claim, words in zip(found, said, strict=True) if claim.states], language
    )
    compared = [f"{question}\n{words}" for words in chosen] if is_terse else chosen
    wordings = [WordingSimilarity.of(words, language=language) for words in compared]
    evidence = _evidence(passages, wordings) if chosen else []
    return _Comparison(
        found=found, said=said, chosen=chosen, compared=compared, wordings=wordings, evidence=evidence
    )


def _supported(
    comparison: _Comparison, cosines: Matrix | None, share: float, passages: Sequence[Hit]
) -> list[Support]:
    evidence = comparison.evidence
    scores = (1 - share) * _wording_scores(comparison.wordings, evidence)
    if cosines is not None:
        scores += share * meaning_scores(cosines, [len(passage.windows) for passage in evidence])
    rows = {words: row for row, words in enumerate(comparison.chosen)}
    return [
        _support(claim, words, scores[rows[words]], passages)
        if claim.states and words in rows
        else Support(claim=claim)
        for claim, words in zip(comparison.found, comparison.said, strict=True)
    ]


def _chosen(said: Sequence[str], language: str) -> tuple[list[str], bool]:
    counted = {words: len(tokens(words, language=language)) for words in said}
    chosen = [words for words, count in counted.items() if count >= _FEWEST_TOKENS]
    is_terse = not chosen
    if is_terse:
        chosen = [words for words, count in counted.items() if count]
    if len(chosen) > _MOST_CLAIMS:
        chosen = sorted(chosen, key=len, reverse=True)[:_MOST_CLAIMS]
    return chosen, is_terse


def _evidence(passages: Sequence[Hit], wordings: Sequence[WordingSimilarity]) -> list[_Evidence]:
    most = max(1, _MOST_WINDOWS // len(passages))
    said = frozenset(token for wording in wordings for token in wording.tokens - wording.empty)
    evidence: list[_Evidence] = []
    for chunk in (hit.chunk for hit in passages):
        language = chunk.language or detect(chunk.text)
        windows = ranked_windows(chunk, said, language)[:most]
        evidence.append(
            _Evidence(
                wording=WordingSimilarity.of(chunk.text, language=language),
                windows=tuple(window for window, _ in windows),
                window_wordings=tuple(wording for _, wording in windows),
            )
        )
    return evidence


def ranked_windows(chunk: Chunk, said: frozenset[str], language: str) -> list[tuple[str, WordingSimilarity]]:
    windows = [chunk.text[start:end] for start, end in units(chunk)] or [chunk.text]
    worded = [(window, WordingSimilarity.of(window, language=language)) for window in windows]
    return sorted(worded, key=lambda one: -len(said & one[1].tokens))


async def cosines_of(
    chosen: Sequence[str], windows: Sequence[Sequence[str]], embedder: Embedder
) -> Matrix | None:
    """Shape (claims, windows of all passages); None without vectors."""
    texts = [*chosen, *(window for passage in windows for window in passage)]
    try:
        async with asyncio.timeout(_PATIENCE):
            vectors = await embedder.embed(texts, side="passage")
    except (Unavailable, TimeoutError):
        return None
    return vectors[: len(chosen)] @ vectors[len(chosen) :].T


def familiarity(text: str, passages: Sequence[Hit], embedder: Embedder) -> float:
    """0 to 1."""
    known = gauge(embedder.count_tokens)
    return min(known(text), sum(known(hit.chunk.text) for hit in passages) / len(passages))


def _wording_scores(wordings: list[WordingSimilarity], evidence: list[_Evidence]) -> Matrix:
    weights = Weights([passage.wording for passage in evidence])
    return np.array(
        [
            [
                0.5 * weights.overlap(claim, passage.wording)
                + 0.5 * max(weights.overlap(claim, window) for window in passage.window_wordings)
                for passage in evidence
            ]
            for claim in wordings
        ],
        dtype=np.float32,
    )


def meaning_scores(cosines: Matrix, lengths: list[int]) -> Matrix:
    """Shape (claims, passages): above the claim's background, since cosines of one topic cluster."""
    starts = np.cumsum([0, *lengths[:-1]])
    best = np.maximum.reduceat(cosines, starts, axis=1)
    usual = np.maximum(np.quantile(cosines, _BACKGROUND, axis=1, keepdims=True), _LEAST_BACKGROUND)
    if cosines.shape[1] <= _FEWEST_WINDOWS:
        usual = np.full_like(usual, _LEAST_BACKGROUND)
    return np.clip((best - usual) / np.maximum(1 - usual, 1e-6), 0, 1).astype(np.float32)


def _support(claim: Claim, words: str, scores: Vector, passages: Sequence[Hit]) -> Support:
    best = float(scores.max())
    threshold = next((threshold for threshold in THRESHOLDS if best >= threshold), 0.0)
    if not threshold:
        return Support(claim=claim)
    order = sorted(range(len(passages)), key=lambda index: (-float(scores[index]), index))
    cited = [index for index in order if scores[index] >= max(threshold, _TOLERANCE * best)][:MOST_MARKERS]
    lacking = missing(words, [passages[index].chunk.text for index in cited])
    for index in order:
        # Also cite a passage that contains what the others lack.
        if not lacking or len(cited) == MOST_MARKERS or scores[index] < _SUPPLEMENT:
            break
        still = missing(words, [passages[other].chunk.text for other in (*cited, index)])
        if index not in cited and len(still) < len(lacking):
            cited.append(index)
            lacking = still
    return Support(claim=claim, passages=tuple(cited), threshold=threshold)
