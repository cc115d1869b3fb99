from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_engine.errors import UserError

_HEADER = ("Model", "Part", "Languages", "Parameters", "Tokens", "Published quality", "Published speed")
_REMARKS = {
    "embedder": "Existing files keep the vectors of the former model until `footnote kb reindex --all` has run.",
    "reranker": "Nothing has to be indexed again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    name: str
    part: Literal["embedder", "reranker"]
    repository: str
    languages: str
    millions: int
    tokens: int
    quality: str = "–"
    speed: str = "–"
    kind: str = "onnx"

    def settings(self) -> dict[str, str]:
        return {f"{self.group}KIND": self.kind, f"{self.group}MODEL": self.repository}

    @property
    def group(self) -> str:
        return f"FOOTNOTE_{self.part.upper()}__"

    @property
    def remark(self) -> str:
        return _REMARKS[self.part]

    def cells(self) -> tuple[str, ...]:
        return (
            self.name,
            self.part,
            self.languages,
            f"{self.millions} million",
            str(self.tokens),
            self.quality,
            self.speed,
        )


MODELS = (
    KnownModel(
        name="all-MiniLM-L6-v2",
        part="embedder",
        repository="all-MiniLM-L6-v2",
        languages="English",
        millions=23,
        tokens=256,
        kind="local",
    ),
    KnownModel(
        name="multilingual-e5-small",
        part="embedder",
        repository="intfloat/multilingual-e5-small",
        languages="about 100",
        millions=118,
        tokens=512,
        quality="Mr. TyDi MRR@10 .644",
    ),
    KnownModel(
        name="multilingual-e5-base",
        part="embedder",
        repository="intfloat/multilingual-e5-base",
        languages="about 100",
        millions=278,
        tokens=512,
        quality="Mr. TyDi MRR@10 .659",
    ),
    KnownModel(
        name="multilingual-e5-large",
        part="embedder",
        repository="intfloat/multilingual-e5-large",
        languages="about 100",
        millions=560,
        tokens=512,
        quality="Mr. TyDi MRR@10 .705",
    ),
    KnownModel(
        name="bge-m3",
        part="embedder",
        repository="BAAI/bge-m3",
        languages="over 100",
        millions=568,
        tokens=8192,
    ),
    KnownModel(
        name="ms-marco-MiniLM-L6-v2",
        part="reranker",
        repository="cross-encoder/ms-marco-MiniLM-L6-v2",
        languages="English",
        millions=23,
        tokens=512,
        quality="TREC DL 2019 nDCG@10 .743",
        speed="1,800 pairs/s on a V100",
    ),
    KnownModel(
        name="ms-marco-MiniLM-L12-v2",
        part="reranker",
        repository="cross-encoder/ms-marco-MiniLM-L12-v2",
        languages="English",
        millions=33,
        tokens=512,
        quality="TREC DL 2019 nDCG@10 .743",
        speed="960 pairs/s on a V100",
    ),
    KnownModel(
        name="mmarco-mMiniLMv2-L12-H384-v1",
        part="reranker",
        repository="cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
        languages="14",
        millions=118,
        tokens=512,
    ),
    KnownModel(
        name="bge-reranker-v2-m3",
        part="reranker",
        repository="onnx-community/bge-reranker-v2-m3-ONNX",
        languages="over 100",
        millions=568,
        tokens=8192,
    ),
)


def named(name: str) -> KnownModel:
    for model in MODELS:
        if name.lower() in (model.name.lower(), model.repository.lower()):
            return model
    raise UserError(
        f"There is no model {name!r} in the list; there are: {', '.join(one.name for one in MODELS)}."
    )


def table() -> list[str]:
    rows = [_HEADER, ("---",) * len(_HEADER), *(model.cells() for model in MODELS)]
    return [f"| {' | '.join(row)} |" for row in rows]
