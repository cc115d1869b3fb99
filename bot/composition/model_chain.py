from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.composition.loader import with_openai
from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.settings import FallbackSlice, Settings

_QUOTING: Final = "extractive"
_OPENAI: Final = "openai"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """`variable` is its settings' group, without prefix."""

    kind: str
    values: Mapping[str, object] = field(repr=False)
    variable: str = "MODEL"


def model_choices(settings: Settings) -> list[ModelChoice]:
    """The models up to the first extractive answerer, which never fails.

    Raises `BadSettings` for fallbacks without a model.
    """
    kind, values, fallbacks = settings.model_kind(), settings.model.rest(), settings.model.fallbacks
    if kind == _QUOTING:
        if fallbacks:
            raise BadSettings(
                "FOOTNOTE_MODEL__NAME is not set, so the FOOTNOTE_MODEL__FALLBACKS have nothing to stand in for."
            )
        return [ModelChoice(kind=kind, values=values)]
    if kind == _OPENAI:
        values = with_openai(values, settings)
    first = ModelChoice(kind=kind, values=values)
    # "2" comes before "10".
    labels = sorted(fallbacks, key=lambda label: (len(label), label))
    others = [_fallback(label, fallbacks[label], first) for label in labels]
    choices = [first, *others, ModelChoice(kind=_QUOTING, values={})]
    return choices[: [choice.kind for choice in choices].index(_QUOTING) + 1]


def _fallback(label: str, own: FallbackSlice, first: ModelChoice) -> ModelChoice:
    """Another server never gets the first one's key."""
    values = own.rest()
    if own.kind == first.kind == _OPENAI and "base_url" not in values:
        reached = {name: value for name, value in first.values.items() if name in {"base_url", "api_key"}}
        values = {**reached, **values}
    return ModelChoice(kind=own.kind, values=values, variable=f"MODEL__FALLBACKS__{label.upper()}")
