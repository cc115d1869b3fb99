from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from rag_engine.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rag_engine.ports import Embedder
    from rag_engine.types import Matrix

_log = logging.getLogger(__name__)

_LEAST = 0.05

UNRELATED = (
    "The invoice is due within thirty days.",
    "Whales breathe air and nurse their young.",
    "Preheat the oven and grease the tin.",
    "The court dismissed the appeal on Tuesday.",
    "Rust does not form on aluminium.",
    "She plays the cello in a string quartet.",
    "The train to Lisbon leaves from platform four.",
    "Restart the server after changing the port.",
    "Vaccines train the immune system.",
    "The goalkeeper saved two penalties.",
    "Interest rates fell to a record low.",
    "The castle was built in the twelfth century.",
)


RELATED = (
    ("How many holidays do employees get?", "Staff receive 28 days of vacation a year."),
    ("Where can I leave my car?", "Vehicles are parked behind the building."),
    ("Who looks after sick children?", "Paediatricians treat ill kids."),
    ("Is wine reimbursed?", "Alcohol is never paid back."),
)
_LEAST_RELATED = 0.3


def meaning_meter(
    embedder: Embedder, contrast: Callable[[], Awaitable[float]]
) -> Callable[[], Awaitable[bool]]:
    """One that counts words does not. Measured once."""
    measured: list[bool] = []

    async def knows_meaning() -> bool:
        if not measured:
            try:
                asked = await embedder.embed([question for question, _ in RELATED], side="query")
                said = await embedder.embed([answer for _, answer in RELATED], side="passage")
            except Unavailable as error:
                _log.warning("whether the embedder knows meaning could not be measured: %s", error)
                return False
            cosine = float((asked * said).sum(axis=1).mean())
            measured.append(1 - (1 - cosine) / await contrast() >= _LEAST_RELATED)
        return measured[0]

    return knows_meaning


def contrast_meter(embedder: Embedder) -> Callable[[], Awaitable[float]]:
    """Measured once. If the embedder fails: 1, as for most models, and another try next time."""
    measured: list[float] = []

    async def contrast() -> float:
        if not measured:
            try:
                measured.append(contrast_of(await embedder.embed(UNRELATED, side="passage")))
            except Unavailable as error:
                _log.warning("the embedder's contrast could not be measured: %s", error)
                return 1.0
        return measured[0]

    return contrast


def contrast_of(vectors: Matrix) -> float:
    """Mean distance (1 - cosine) of unit rows: near 1 for most models, 0.2 if all cosines are near 1. Never 0."""
    count = len(vectors)
    cosines = vectors @ vectors.T
    mean = (float(cosines.sum()) - float(cosines.trace())) / (count * (count - 1))
    return max(1 - mean, _LEAST)
