"""An embedder that embeds each text once, where the time of embedding does not matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rag_engine.wrappers.delegation import DelegatingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rag_engine.types import Matrix, Side, Vector


@dataclass(frozen=True, slots=True)
class MemoizedEmbedder(DelegatingEmbedder):
    rows: dict[str, Vector] = field(default_factory=dict[str, "Vector"])

    async def embed(self, texts: Sequence[str], *, side: Side) -> Matrix:
        missing = [text for text in dict.fromkeys(texts) if text not in self.rows]
        if missing:
            self.rows.update(zip(missing, await self.embedder.embed(missing, side=side), strict=True))
        return np.stack([self.rows[text] for text in texts])
