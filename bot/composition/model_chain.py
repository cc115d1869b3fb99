from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.composition.loader import with_openai
from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.settings import Settings, TaskSettings
    from bot.settings.slices import FallbackSlice

_QUOTING: Final = "extractive"
_OPENAI: Final = "openai"
TASKS: Final = (
    "answer",
    "understand",
    "summary",
    "outline",
    "hypothesis",
    "follow_ups",
    "titles",
    "tags",
    "sql",
    "mindmap",
    "subqueries",
    "extract",
    "sufficiency",
    "agent",
    "passage_summary",
    "passage_questions",
    "graph",
    "gaps",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    kind: str
    values: Mapping[str, object] = field(repr=False)
    variable: str = "MODEL"


def model_choices(settings: Settings) -> list[ModelChoice]:
    """Up to the extractive answerer, which never fails. Raises `BadSettings`."""
    kind, values, fallbacks = settings.model_kind(), settings.model.rest(), settings.model.fallbacks
    if kind == _QUOTING:
        if fallbacks:
            raise BadSettings(
                "FOOTNOTE_MODEL__NAME is not set, so the FOOTNOTE_MODEL__FALLBACKS have no model to replace."
            )
        return [ModelChoice(kind=kind, values=values)]
    if kind == _OPENAI:
        values = with_openai(values, settings)
    first = ModelChoice(kind=kind, values=values)
    labels = sorted(fallbacks, key=lambda label: (len(label), label))
    others = [
        _beside(fallbacks[label], first, variable=f"MODEL__FALLBACKS__{label.upper()}") for label in labels
    ]
    choices = [first, *others, ModelChoice(kind=_QUOTING, values={})]
    return choices[: [choice.kind for choice in choices].index(_QUOTING) + 1]


def with_tasks(
    settings: Settings, choices: Sequence[ModelChoice]
) -> tuple[list[ModelChoice], dict[str, ModelChoice]]:
    """With tasks' own models. Raises `BadSettings` for an unknown task, and without a language model."""
    for task in settings.tasks:
        if task not in TASKS:
            raise BadSettings(
                f"FOOTNOTE_TASKS__{task.upper()}: there is no such task; there are: {', '.join(TASKS)}."
            )
    if not settings.tasks:
        return [*choices], {}
    if not choices:
        raise BadSettings(
            "FOOTNOTE_MODEL__NAME is not set, so the FOOTNOTE_TASKS have no model to differ from."
        )
    first, *others = choices
    own = {task: choice for task, own in settings.tasks.items() if (choice := _of_task(task, own, first))}
    return [own.pop("answer", first), *others], own


def chosen_models(settings: Settings, choices: Sequence[ModelChoice]) -> dict[str, ModelChoice]:
    """By label. Raises `BadSettings` without a language model."""
    own = settings.model.choices
    if own and not choices:
        raise BadSettings(
            "FOOTNOTE_MODEL__NAME is not set, so the FOOTNOTE_MODEL__CHOICES have no model to differ from."
        )
    return {
        label.casefold(): _beside(own[label], choices[0], variable=f"MODEL__CHOICES__{label.upper()}")
        for label in sorted(own)
    }


def _of_task(task: str, own: TaskSettings, first: ModelChoice) -> ModelChoice | None:
    wanted = {
        "name": own.model or None,
        "base_url": own.base_url or None,
        "api_key": own.api_key if own.api_key.get_secret_value() else None,
        "temperature": own.temperature,
        "first_token_seconds": own.seconds,
    }
    changed = {name: value for name, value in wanted.items() if value is not None}
    if not changed:
        return None
    # And another model has another window.
    dropped = {"api_key"} if own.base_url else set[str]()
    dropped |= {"context_tokens"} if own.model else set[str]()
    values = {name: value for name, value in first.values.items() if name not in dropped}
    return ModelChoice(kind=first.kind, values={**values, **changed}, variable=f"TASKS__{task.upper()}")


def _beside(own: FallbackSlice, first: ModelChoice, *, variable: str) -> ModelChoice:
    """Another server never gets the first one's key."""
    values = own.rest()
    if own.kind == first.kind == _OPENAI and "base_url" not in values:
        reached = {name: value for name, value in first.values.items() if name in {"base_url", "api_key"}}
        values = {**reached, **values}
    return ModelChoice(kind=own.kind, values=values, variable=variable)
