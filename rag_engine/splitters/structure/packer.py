from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rag_engine.splitters.structure.pieces import Boundary, Piece, halves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rag_engine.splitters.structure.pieces import Weigh

Fits: TypeAlias = "Callable[[Sequence[Piece]], bool]"

_LEAST_FILL = 0.4

_WORTH = {
    Boundary.GRAPHEME: 0.0,
    Boundary.WORD: 0.1,
    Boundary.CLAUSE: 0.2,
    Boundary.SENTENCE: 0.5,
    Boundary.LINE: 0.6,
    Boundary.PARAGRAPH: 0.8,
    Boundary.SECTION: 0.9,
}


def pack(
    pieces: Iterable[Piece], *, capacity: int, overlap: int, fits: Fits, weigh: Weigh
) -> Iterator[Sequence[Piece]]:
    """Of at most `capacity` tokens, with a look-ahead of two passages. `fits` decides: token counts need not add up."""
    window: list[Piece] = []
    repeated = 0
    total = 0
    for piece in pieces:
        window.append(piece)
        total += piece.weight
        while total > 2 * capacity:
            passage = _take(window, repeated, capacity, fits, weigh)
            yield passage
            repeated = _advance(window, len(passage), overlap)
            total = _weight(window)
    while len(window) > repeated:
        passage = _take(window, repeated, capacity, fits, weigh)
        yield passage
        repeated = _advance(window, len(passage), overlap)


def _weight(pieces: Sequence[Piece]) -> int:
    return sum(piece.weight for piece in pieces)


def _take(window: list[Piece], repeated: int, capacity: int, fits: Fits, weigh: Weigh) -> Sequence[Piece]:
    count = _best_cut(window, repeated, capacity)
    while not fits(window[:count]):
        if count > repeated + 1:
            count = max(repeated + 1, min(count - 1, count * 7 // 8))
            continue
        if repeated:
            # No room for new text beside the overlap.
            del window[:repeated]
            repeated, count = 0, 1
            continue
        pair = halves(window[0], weigh)
        if pair is None:
            break
        window[:1] = pair
    return window[:count]


def _best_cut(window: Sequence[Piece], repeated: int, capacity: int) -> int:
    total = _weight(window)
    if total <= capacity:
        return len(window)
    last_two = total <= 2 * capacity
    best, best_score = repeated + 1, float("-inf")
    filled = 0
    for count, piece in enumerate(window, start=1):
        filled += piece.weight
        if filled > capacity:
            break
        if count <= repeated:
            continue
        score = _WORTH[piece.boundary]
        if last_two and total - filled <= capacity:
            score += 2 - abs(2 * filled / total - 1)
        else:
            fill = filled / capacity
            score += fill if fill >= _LEAST_FILL else fill - 2
        if score >= best_score:
            best, best_score = count, score
    return best


def _advance(window: list[Piece], count: int, overlap: int) -> int:
    kept, weight = 0, 0
    while kept < count - 1 and count < len(window):
        weight += window[count - 1 - kept].weight
        if weight > overlap:
            break
        kept += 1
    del window[: count - kept]
    return kept
