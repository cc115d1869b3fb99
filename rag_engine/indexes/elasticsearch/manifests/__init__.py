"""Which chunks of a knowledge base are visible.

Documents have many chunks, which Elasticsearch changes one by one. So `put` writes chunks under a new *generation*, and one record
per knowledge base, its *manifest*, lists hidden generations: being written or deleted. A compare-and-set publishes one
and withdraws the previous one. Searches read the manifest last and start again if it changed.

Searches filter a knowledge base by its random *base*; emptied, it gets a new one.
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
"""An older one belongs to a program that ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Times are seconds since the epoch."""

    base: str = ""
    commits: int = 0
    pending: Mapping[str, float] = field(default_factory=dict[str, float])
    """Generations being written, with their lease times."""
    condemned: Mapping[str, float] = field(default_factory=dict[str, float])
    """And when to forget them: late requests may write until then."""
    dropped: Mapping[str, float] = field(default_factory=dict[str, float])
    """And when to forget them."""

    @property
    def hidden(self) -> list[str]:
        return [*self.pending, *self.condemned]

    @property
    def is_unfinished(self) -> bool:
        return bool(self.pending or self.condemned or self.dropped)

    @property
    def is_empty(self) -> bool:
        return not self.base and not self.is_unfinished

    def has_expired(self, now: float) -> bool:
        return any(at + LEASE_SECONDS < now for at in self.pending.values())

    def shows_what(self, other: Manifest) -> bool:
        return (self.base, self.commits) == (other.base, other.commits)

    def hiding_also(self, other: Manifest) -> Manifest:
        """For a view opened between the two, which show the same."""
        return replace(self, condemned={**dict.fromkeys(other.hidden, 0.0), **self.condemned})


def searched_chunks(manifests: Sequence[Manifest]) -> dict[str, Any]:
    bases = sorted(manifest.base for manifest in manifests if manifest.base)
    hidden = sorted({name for manifest in manifests for name in manifest.hidden})
    seen: dict[str, Any] = {"filter": [{"terms": {"base": bases}}]}
    if hidden:
        seen["must_not"] = [{"terms": {"generation": hidden}}]
    return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish:
    document: DocumentId
    generation: str
    base: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdraw:
    document: DocumentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandon:
    generation: str
    used: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    generations: frozenset[str]
    bases: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    pass


Change = Publish | Withdraw | Empty | Abandon | Forget | Lease


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestOutcome:
    """`done`: whether each change holds."""

    manifest: Manifest
    done: tuple[bool, ...]


def documents_of(changes: Sequence[Change]) -> list[DocumentId]:
    return sorted({change.document for change in changes if isinstance(change, Publish | Withdraw)})


def applied(
    manifest: Manifest,
    changes: Sequence[Change],
    *,
    counting: Mapping[DocumentId, Sequence[str]],
    now: float,
    grace: float,
) -> ManifestOutcome:
    """`counting`: each document's visible generations. An abandoned request may write for `grace` seconds."""
    state = _expired(manifest, now=now, grace=grace)
    live = {document: set(generations) for document, generations in counting.items()}
    done: list[bool] = []
    for change in changes:
        state, held = _apply(state, change, live, now=now, grace=grace)
        done.append(held)
    return ManifestOutcome(manifest=state, done=tuple(done))


def leased(manifest: Manifest, count: int, *, now: float) -> tuple[Manifest, list[str]]:
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
        # Emptied meanwhile: the chunks must be deleted.
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
    # Writers may continue for their lease.
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
    stored = source["manifest"]
    return Manifest(
        base=stored["base"],
        commits=stored["commits"],
        pending=stored["pending"],
        condemned=stored["condemned"],
        dropped=stored["dropped"],
    )


def to_source(manifest: Manifest) -> dict[str, Any]:
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
    """Hashed, because knowledge base ids may be any string."""
    return hashlib.sha256(base.encode("utf-8", "surrogatepass")).hexdigest()
