"""Which chunks of a knowledge base count: values and pure rules, nothing of Elasticsearch.

Elasticsearch changes one document at a time, and each search sees the moment of its last refresh. So that a document of ours,
which is many of theirs, is never seen missing, double or half, each `put` writes its chunks under a new *generation*, and one
small document a knowledge base, its *manifest*, says which generations do not count: those still being written, and those that
were replaced and wait to be deleted. Publishing a generation and withdrawing the one before is one change of the manifest,
made by compare-and-set, and therefore atomic. Readers exclude the hidden generations inside each leg, and read the manifest
again after the legs: when it has changed meanwhile, they ask again. Everything that is written or deleted piece by piece is
hidden while it is, so what a reader sees under one manifest is one version of the knowledge base.

A knowledge base as a whole is known by a random *base*, by which searches are filtered: emptied, it gets another.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_engine.types import DocumentId, KnowledgeBaseId

LEASE_SECONDS = 24 * 3600.0
"""A generation that was not published this long after it was leased belongs to a program that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Times are seconds since the epoch."""

    base: str = ""
    """What the chunks that count are filtered by; empty for a knowledge base without chunks."""
    commits: int = 0
    """Raised by each change of what readers see."""
    pending: Mapping[str, float] = field(default_factory=dict[str, float])
    """Generations being written, and when they were leased."""
    condemned: Mapping[str, float] = field(default_factory=dict[str, float])
    """Generations whose chunks are to be deleted, and when they may be forgotten: not while a late request may still write."""
    dropped: Mapping[str, float] = field(default_factory=dict[str, float])
    """Bases all of whose chunks are to be deleted, and when they may be forgotten."""

    @property
    def hidden(self) -> list[str]:
        """Generations that do not count."""
        return [*self.pending, *self.condemned]

    @property
    def is_unfinished(self) -> bool:
        """Whether something is to be deleted, or may be left over some day."""
        return bool(self.pending or self.condemned or self.dropped)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is lost when the manifest itself is deleted."""
        return not self.base and not self.is_unfinished

    def has_expired(self, now: float) -> bool:
        """Whether a program is gone that left generations behind."""
        return any(at + LEASE_SECONDS < now for at in self.pending.values())

    def shows_what(self, other: Manifest) -> bool:
        """Whether readers see the same under both."""
        return (self.base, self.commits) == (other.base, other.commits)

    def hiding_also(self, other: Manifest) -> Manifest:
        """What to read a view by that was opened between the two, which show the same."""
        return replace(self, condemned={**dict.fromkeys(other.hidden, 0.0), **self.condemned})


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    """The chunks of `generation` are `document` from now on."""

    document: DocumentId
    generation: str
    base: str
    """Under which they were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    """There is no `document` any more."""

    document: DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """There is no document any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandon:
    """A generation that will not be published."""

    generation: str
    used: bool = True
    """Whether anything may have been written under it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """What has been deleted."""

    generations: frozenset[str]
    bases: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A writer wants generations."""


Change = Publish | Withdraw | Empty | Abandon | Forget | Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`done` says of each change, in order, whether it holds now; a generation that no longer counts cannot be published."""

    manifest: Manifest
    done: tuple[bool, ...]


def documents_of(changes: Sequence[Change]) -> list[DocumentId]:
    """The documents whose generations must be known to apply these changes."""
    return sorted({change.document for change in changes if isinstance(change, Publish | Withdraw)})


def applied(
    manifest: Manifest,
    changes: Sequence[Change],
    *,
    counting: Mapping[DocumentId, Sequence[str]],
    now: float,
    grace: float,
) -> Outcome:
    """The manifest after these changes, one after the other.

    `counting` are the generations of each document that count in the manifest; one that is to be published is among them when
    the answer to the first attempt was lost. `grace` is the seconds in which a request that was given up may still write.
    """
    state = _expired(manifest, now=now, grace=grace)
    live = {document: set(generations) for document, generations in counting.items()}
    done: list[bool] = []
    for change in changes:
        state, held = _apply(state, change, live, now=now, grace=grace)
        done.append(held)
    return Outcome(manifest=state, done=tuple(done))


def leased(manifest: Manifest, count: int, *, now: float) -> tuple[Manifest, list[str]]:
    """The manifest with `count` new generations pending, and these."""
    made = [uuid.uuid4().hex for _ in range(count)]
    base = manifest.base or uuid.uuid4().hex
    return replace(manifest, base=base, pending={**manifest.pending, **dict.fromkeys(made, now)}), made


def _apply(
    state: Manifest,
    change: Change,
    live: dict[DocumentId, set[str]],
    *,
    now: float,
    grace: float,
) -> tuple[Manifest, bool]:
    match change:
        case Publish():
            return _published(state, change, live, now=now, grace=grace)
        case Withdraw():
            old = live.get(change.document, set())
            live[change.document] = set()
            return _replaced(state, old), True
        case Empty():
            live.clear()
            return _emptied(state, now=now, grace=grace), True
        case Abandon():
            return _abandoned(state, change, now=now, grace=grace), True
        case Forget():
            kept = {
                name: at for name, at in state.condemned.items() if name not in change.generations or at > now
            }
            bases = {name: at for name, at in state.dropped.items() if name not in change.bases or at > now}
            return replace(state, condemned=kept, dropped=bases), True
        case Lease():
            return state, True


def _published(
    state: Manifest, change: Publish, live: dict[DocumentId, set[str]], *, now: float, grace: float
) -> tuple[Manifest, bool]:
    if change.generation in live.get(change.document, ()):
        return state, True
    if state.base != change.base or change.generation not in state.pending:
        # Emptied meanwhile, or given up as left over: what was written is to be deleted, though it was perhaps already.
        return _condemned(state, change.generation, until=now + grace), False
    pending = {name: at for name, at in state.pending.items() if name != change.generation}
    old = live.get(change.document, set())
    live[change.document] = {change.generation}
    shown = replace(state, pending=pending, commits=state.commits + 1)
    return _condemned(shown, *sorted(old), until=0.0), True


def _replaced(state: Manifest, old: set[str]) -> Manifest:
    if not old:
        return state
    return _condemned(replace(state, commits=state.commits + 1), *sorted(old), until=0.0)


def _condemned(state: Manifest, *generations: str, until: float) -> Manifest:
    return replace(state, condemned={**state.condemned, **dict.fromkeys(generations, until)})


def _emptied(state: Manifest, *, now: float, grace: float) -> Manifest:
    if not state.base:
        return state
    # Who was writing may go on for as long as the lease: what it writes is deleted when it gives up, or when the lease is over.
    writing = {name: at + LEASE_SECONDS + grace for name, at in state.pending.items()}
    return Manifest(
        commits=state.commits + 1,
        condemned={**state.condemned, **writing},
        dropped={**state.dropped, state.base: now + grace},
    )


def _abandoned(state: Manifest, change: Abandon, *, now: float, grace: float) -> Manifest:
    if change.generation not in state.pending:
        return _given_up(state, change, until=now + grace)
    pending = {name: at for name, at in state.pending.items() if name != change.generation}
    if not change.used:
        return replace(state, pending=pending)
    return _condemned(replace(state, pending=pending), change.generation, until=now + grace)


def _given_up(state: Manifest, change: Abandon, *, until: float) -> Manifest:
    """A generation of an emptied knowledge base, which was kept in mind for as long as its writer might have gone on."""
    if state.condemned.get(change.generation, 0.0) <= until:
        return state
    condemned = {name: at for name, at in state.condemned.items() if name != change.generation}
    return replace(state, condemned={**condemned, change.generation: until} if change.used else condemned)


def _expired(state: Manifest, *, now: float, grace: float) -> Manifest:
    for generation, at in state.pending.items():
        if at + LEASE_SECONDS < now:
            state = _abandoned(state, Abandon(generation=generation), now=now, grace=grace)
    return state


def from_source(source: Mapping[str, Any]) -> Manifest:
    """The manifest in a stored document."""
    stored = source["manifest"]
    return Manifest(
        base=stored["base"],
        commits=stored["commits"],
        pending=stored["pending"],
        condemned=stored["condemned"],
        dropped=stored["dropped"],
    )


def to_source(manifest: Manifest) -> dict[str, Any]:
    """The part of a stored document that `from_source` reads."""
    return {
        "unfinished": manifest.is_unfinished,
        "manifest": {
            "base": manifest.base,
            "commits": manifest.commits,
            "pending": dict(manifest.pending),
            "condemned": dict(manifest.condemned),
            "dropped": dict(manifest.dropped),
        },
    }


def key_of(base: KnowledgeBaseId) -> str:
    """The id of the manifest of a knowledge base, whose own id may be any string."""
    return hashlib.sha256(base.encode("utf-8", "surrogatepass")).hexdigest()
