"""The rules are never cut, the question only if it does not fit beside them. Then come the best passage, the last
round of the conversation, and shares for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import floor
from typing import TYPE_CHECKING, TypeAlias

from rag_engine.errors import BadSettings
from rag_engine.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.generation.prompts import Round
    from rag_engine.types import Hit, Message

MESSAGE_OVERHEAD = 4
"""Tokens that a chat server adds."""
SMALLEST_REPLY = 256
_FIRST_PASSAGE_SHARE = 0.4
_PASSAGES_SHARE = 0.7
_SMALLEST_CUT = 100

Assemble: TypeAlias = "Callable[[Sequence[str], Sequence[Round], str], tuple[Message, ...]]"
Format: TypeAlias = "Callable[[int, Hit, str], str]"
"""From a passage's number, hit and (possibly cut) text."""
Arrange: TypeAlias = "Callable[[Sequence[Excerpt]], tuple[Excerpt, ...]]"
Listing: TypeAlias = "Callable[[Sequence[Excerpt]], Sequence[str]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLayout:
    assemble: Assemble
    format: Format
    count: tokens.Count
    arrange: Arrange = tuple
    listing: Listing | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    hit: Hit
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """`tokens` includes overheads and never exceeds the budget."""

    messages: tuple[Message, ...]
    question: str
    excerpts: tuple[Excerpt, ...]
    rounds: tuple[Round, ...]
    tokens: int


def reply_reserve(window: int, wanted: int) -> int:
    """At most a quarter of the window, at least 256."""
    return max(SMALLEST_REPLY, min(wanted, window // 4))


def prompt_budget(window: int, wanted_reply: int, *, ratio: float = 0.95) -> int:
    return floor(ratio * window) - reply_reserve(window, wanted_reply)


def fit(
    question: str, passages: Sequence[Hit], rounds: Sequence[Round], *, budget: int, layout: PromptLayout
) -> Fitted:
    """Numbered after the cut; the newest rounds. Raises `BadSettings` if the rules alone exceed the window."""
    layout = replace(layout, count=cache(layout.count))
    everything = _Draft(question=question, excerpts=_whole(passages), rounds=tuple(rounds))
    messages = _messages(everything, layout)
    if messages_size(messages, layout.count) <= budget:
        return _fitted(everything, messages, layout)
    question = _shorten_question(question, passages, budget=budget, layout=layout)
    room = budget - _frame(question, layout, passages=bool(passages))
    first = _first_excerpt(passages, room, budget=budget, layout=layout)
    room -= sum(_block_size(excerpt, layout) for excerpt in first)
    draft, room = _with_shares(_Draft(question=question, excerpts=first), passages, rounds, room, layout)
    if first and first[0].text != first[0].hit.chunk.text:
        longer = _excerpt(first[0].hit, room + _block_size(first[0], layout), layout) or first[0]
        draft = replace(draft, excerpts=(longer, *draft.excerpts[1:]))
    messages = _messages(draft, layout)
    while messages_size(messages, layout.count) > budget and draft.is_cuttable:
        draft = draft.smaller()
        messages = _messages(draft, layout)
    return _fitted(draft, messages, layout)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    question: str
    excerpts: tuple[Excerpt, ...] = ()
    rounds: tuple[Round, ...] = ()

    @property
    def is_cuttable(self) -> bool:
        return bool(self.excerpts or self.rounds)

    def smaller(self) -> _Draft:
        if self.rounds:
            return replace(self, rounds=self.rounds[1:])
        return replace(self, excerpts=self.excerpts[:-1])


def _whole(passages: Sequence[Hit]) -> tuple[Excerpt, ...]:
    return tuple(Excerpt(hit=hit, text=hit.chunk.text) for hit in passages)


def _fitted(draft: _Draft, messages: tuple[Message, ...], layout: PromptLayout) -> Fitted:
    return Fitted(
        messages=messages,
        question=draft.question,
        excerpts=layout.arrange(draft.excerpts),
        rounds=draft.rounds,
        tokens=messages_size(messages, layout.count),
    )


def _messages(draft: _Draft, layout: PromptLayout) -> tuple[Message, ...]:
    excerpts = layout.arrange(draft.excerpts)
    blocks = (
        layout.listing(excerpts)
        if layout.listing is not None
        else [layout.format(number, one.hit, one.text) for number, one in enumerate(excerpts, 1)]
    )
    return layout.assemble(blocks, draft.rounds, draft.question)


def messages_size(messages: Sequence[Message], count: tokens.Count) -> int:
    return sum(count(message.content) + MESSAGE_OVERHEAD for message in messages)


def _frame(question: str, layout: PromptLayout, *, passages: bool) -> int:
    alone = messages_size(layout.assemble((), (), question), layout.count)
    return (
        max(alone, messages_size(layout.assemble(("",), (), question), layout.count)) if passages else alone
    )


def _shorten_question(question: str, passages: Sequence[Hit], *, budget: int, layout: PromptLayout) -> str:
    least = min(_first_share(passages, budget, layout), _SMALLEST_CUT)
    if _frame(question, layout, passages=bool(passages)) + least <= budget:
        return question
    room = budget - _frame("", layout, passages=bool(passages))
    if room < layout.count(tokens.OMISSION) + 1:
        raise BadSettings(
            "The language model's window is too small for the instructions alone: set FOOTNOTE_MODEL__CONTEXT_TOKENS "
            "to what the model really takes, or choose a model with a larger window."
        )
    reserve = min(_first_share(passages, budget, layout), room // 2)
    limit = room - reserve
    shortened = tokens.cut_middle(question, limit, count=layout.count)
    while shortened and _frame(shortened, layout, passages=bool(passages)) + reserve > budget:
        limit -= max(1, limit // 20)
        shortened = tokens.cut_middle(question, limit, count=layout.count)
    return shortened


def _first_share(passages: Sequence[Hit], budget: int, layout: PromptLayout) -> int:
    if not passages:
        return 0
    whole = _block_size(Excerpt(hit=passages[0], text=passages[0].chunk.text), layout)
    return min(whole, floor(_FIRST_PASSAGE_SHARE * budget))


def _first_excerpt(
    passages: Sequence[Hit], room: int, *, budget: int, layout: PromptLayout
) -> tuple[Excerpt, ...]:
    share = min(room, _first_share(passages, budget, layout))
    excerpt = _excerpt(passages[0], share, layout) if passages else None
    return (excerpt,) if excerpt else ()


def _with_shares(
    draft: _Draft, passages: Sequence[Hit], rounds: Sequence[Round], room: int, layout: PromptLayout
) -> tuple[_Draft, int]:
    costs = [messages_size(exchange, layout.count) for exchange in rounds]
    kept, room = _take_rounds(costs[-1:], room)
    further = passages[1:] if draft.excerpts else ()
    share = floor(_PASSAGES_SHARE * room)
    taken, left = _take_passages(further, share, layout, cutting=False)
    room -= share - left
    if kept:
        earlier, room = _take_rounds(costs[:-1], room)
        kept += earlier
    more, room = _take_passages(further[len(taken) :], room, layout, cutting=True)
    excerpts = (*draft.excerpts, *taken, *more)
    return replace(draft, excerpts=excerpts, rounds=tuple(rounds[len(rounds) - kept :])), room


def _take_rounds(costs: Sequence[int], room: int) -> tuple[int, int]:
    kept = 0
    for cost in reversed(costs):
        if cost > room:
            break
        kept, room = kept + 1, room - cost
    return kept, room


def _take_passages(
    passages: Sequence[Hit], room: int, layout: PromptLayout, *, cutting: bool
) -> tuple[list[Excerpt], int]:
    taken: list[Excerpt] = []
    for hit in passages:
        whole = Excerpt(hit=hit, text=hit.chunk.text)
        excerpt = whole if _block_size(whole, layout) <= room else None
        if excerpt is None and cutting:
            excerpt = _excerpt(hit, room, layout, smallest=_SMALLEST_CUT)
        if excerpt is not None:
            taken.append(excerpt)
            room -= _block_size(excerpt, layout)
        elif not cutting:
            break
    return taken, room


def _excerpt(hit: Hit, room: int, layout: PromptLayout, *, smallest: int = 1) -> Excerpt | None:
    wrapping = layout.count(layout.format(99, hit, "")) + 1
    limit = room - wrapping
    while limit >= smallest:
        excerpt = Excerpt(hit=hit, text=tokens.cut(hit.chunk.text, limit, count=layout.count).rstrip())
        size = _block_size(excerpt, layout)
        if size <= room:
            return excerpt if excerpt.text else None
        limit -= max(1, size - room)
    return None


def _block_size(excerpt: Excerpt, layout: PromptLayout) -> int:
    return layout.count(layout.format(99, excerpt.hit, excerpt.text)) + 1
