"""Values of the wrong kind count as missing."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _texts(value: object) -> object:
    listed = cast("list[object]", value if isinstance(value, list) else [value])
    return [text for text in listed if isinstance(text, str)]


def _numbers(value: object) -> object:
    listed = cast("list[object]", value if isinstance(value, list) else [value])
    return [int(str(one)) for one in listed if not isinstance(one, bool) and str(one).strip().isdecimal()]


def _text(value: object) -> object:
    return value if isinstance(value, str) else ""


class SubqueriesReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    questions: Annotated[list[str], BeforeValidator(_texts)]


class FactReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    fact: Annotated[str, BeforeValidator(_text)] = ""
    passages: Annotated[list[int], BeforeValidator(_numbers)] = []


class FactsReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    facts: list[FactReply]


class SufficiencyReply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    sufficient: bool
    missing: Annotated[list[str], BeforeValidator(_texts)] = []
    questions: Annotated[list[str], BeforeValidator(_texts)] = []
    contradictions: Annotated[list[str], BeforeValidator(_texts)] = []
