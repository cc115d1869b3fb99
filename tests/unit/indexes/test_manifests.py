"""Manifest rules alone: at most one version counts, whatever writers do and whenever they die."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rag_engine.indexes.elasticsearch.manifests import (
    LEASE_SECONDS,
    Abandon,
    Change,
    Empty,
    Forget,
    Lease,
    Manifest,
    ManifestOutcome,
    Publish,
    Withdraw,
    applied,
    documents_of,
    from_source,
    leased,
    to_source,
)
from rag_engine.types import DocumentId
from tests.hypothesis_profiles import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

GRACE = 120.0
A, B = DocumentId("a"), DocumentId("b")
START = 1_000_000.0


def change(
    manifest: Manifest, *changes: Change, now: float = START, **counting: Sequence[str]
) -> ManifestOutcome:
    """`counting`: the generations of each document that count."""
    known = {DocumentId(name): generations for name, generations in counting.items()}
    return applied(manifest, changes, counting=known, now=now, grace=GRACE)


def with_generations(count: int = 2) -> tuple[Manifest, list[str]]:
    return leased(Manifest(), count, now=START)


def publish(document: DocumentId, generation: str, manifest: Manifest) -> Publish:
    return Publish(document=document, generation=generation, base=manifest.base)


def test_publishing_shows_the_new_version_and_condemns_the_old_in_one_change() -> None:
    manifest, (old, new) = with_generations()
    assert manifest.hidden == [old, new]
    first = change(manifest, publish(A, old, manifest)).manifest
    assert first.hidden == [new]
    second = change(first, publish(A, new, manifest), a=[old])
    assert second.done == (True,)
    assert (second.manifest.hidden, list(second.manifest.condemned)) == ([old], [old])
    assert not second.manifest.shows_what(first)
    assert documents_of([publish(B, new, manifest), Withdraw(document=A), Empty(), Lease()]) == [A, B]


def test_of_two_versions_published_in_one_change_the_last_counts() -> None:
    manifest, (one, two) = with_generations()
    outcome = change(manifest, publish(A, one, manifest), publish(A, two, manifest))
    assert outcome.done == (True, True)
    assert outcome.manifest.hidden == [one]


def test_a_base_that_was_emptied_takes_no_generation_of_before() -> None:
    manifest, (generation, _) = with_generations()
    emptied = change(manifest, Empty()).manifest
    assert (emptied.base, list(emptied.dropped)) == ("", [manifest.base])
    assert emptied.hidden == list(
        manifest.pending
    )  # their writers may still be active; their output must be deleted
    again, _ = leased(emptied, 1, now=START)
    assert again.base not in ("", manifest.base)
    assert change(again, publish(A, generation, manifest)).done == (False,)
    assert change(Manifest(), Empty()).manifest == Manifest()


def test_a_generation_abandoned_unused_leaves_nothing_behind() -> None:
    manifest, (used, unused) = with_generations()
    after = change(manifest, Abandon(generation=used), Abandon(generation=unused, used=False)).manifest
    assert after.pending == {}
    assert after.condemned == {used: START + GRACE}
    assert after.shows_what(manifest)


def test_what_a_late_request_may_still_write_is_not_forgotten() -> None:
    manifest, (late, replaced) = with_generations()
    manifest = change(manifest, publish(A, replaced, manifest)).manifest
    manifest = change(manifest, Abandon(generation=late), Withdraw(document=A), a=[replaced]).manifest
    deleted = Forget(generations=frozenset({late, replaced}), bases=frozenset())
    assert list(change(manifest, deleted).manifest.condemned) == [late]
    assert list(change(manifest, deleted, now=START + GRACE).manifest.condemned) == []
    emptied = change(manifest, Empty()).manifest
    deleted = Forget(generations=frozenset({late, replaced}), bases=frozenset({manifest.base}))
    assert change(emptied, deleted).manifest.dropped
    assert change(emptied, deleted, now=START + GRACE).manifest.is_empty


def test_what_is_condemned_after_the_deletion_began_is_not_forgotten_with_it() -> None:
    manifest, (one, two) = with_generations()
    manifest = change(manifest, publish(A, one, manifest), publish(B, two, manifest)).manifest
    manifest = change(manifest, Withdraw(document=A), Withdraw(document=B), a=[one], b=[two]).manifest
    deleted = Forget(generations=frozenset({one}), bases=frozenset())
    assert list(change(manifest, deleted).manifest.condemned) == [two]


def test_a_lease_runs_out_and_then_it_can_be_neither_published_nor_seen() -> None:
    manifest, (mine, _) = with_generations()
    in_time = change(manifest, Lease(), now=START + LEASE_SECONDS).manifest
    assert in_time == manifest
    late = START + LEASE_SECONDS + 1
    expired = change(manifest, Lease(), now=late).manifest
    assert expired.pending == {}
    assert set(expired.condemned.values()) == {late + GRACE}
    assert expired.hidden == manifest.hidden
    assert change(expired, publish(A, mine, manifest), now=late).done == (False,)
    assert change(manifest, publish(A, mine, manifest), now=late).done == (False,)


@pytest.mark.parametrize("swept", [False, True])
def test_a_put_that_slept_past_its_lease_is_not_acknowledged(swept: bool) -> None:
    """Its reply seems lost because another writer changed the manifest and gave its generation up for deletion."""
    manifest, (mine, _) = with_generations()
    late = START + LEASE_SECONDS + 1
    expired = change(manifest, Lease(), now=late).manifest
    if swept:
        forgotten = Forget(generations=frozenset(expired.condemned), bases=frozenset())
        expired = change(expired, forgotten, now=late + GRACE).manifest
    assert change(expired, publish(A, mine, manifest), now=late + GRACE).done == (False,)


def test_a_publish_whose_answer_was_lost_is_recognised() -> None:
    manifest, (mine, _) = with_generations()
    published = change(manifest, publish(A, mine, manifest)).manifest
    again = change(published, publish(A, mine, manifest), a=[mine])
    assert (again.manifest, again.done) == (published, (True,))


names = st.text(alphabet="0123456789abcdef", min_size=1, max_size=8)
times = st.dictionaries(names, st.floats(min_value=0, max_value=4e9), max_size=4)
manifests = st.builds(
    Manifest, base=names | st.just(""), commits=st.integers(0), pending=times, condemned=times, dropped=times
)


@given(manifests)
def test_stored_and_read_again_it_is_the_same(manifest: Manifest) -> None:
    source = to_source(manifest)
    assert from_source(source) == manifest
    assert source["unfinished"] == bool(manifest.pending or manifest.condemned or manifest.dropped)
    assert manifest.is_empty == (manifest == replace(Manifest(), commits=manifest.commits))


class Writers(RuleBasedStateMachine):
    """Many writers of one knowledge base, and its physical content: each chunk is a generation, its base and its document.

    Any reply may be lost, so changes are retried; an abandoned request may still write within the grace period.
    """

    @initialize()
    def start(self) -> None:
        self.now = START
        self.manifest = Manifest()
        self.chunks: set[tuple[str, str, DocumentId]] = set()
        self.open: dict[str, tuple[str, float]] = {}
        self.late: dict[str, tuple[str, float]] = {}
        self.expected: dict[DocumentId, str] = {}

    def counting(self, manifest: Manifest) -> dict[DocumentId, list[str]]:
        found: dict[DocumentId, list[str]] = {}
        for generation, base, document in sorted(self.chunks):
            if base == manifest.base and generation not in manifest.hidden:
                found.setdefault(document, []).append(generation)
        return found

    def commit(self, *changes: Change, lost: bool = False) -> tuple[bool, ...]:
        outcome = None
        for _ in range(1 + lost):
            outcome = applied(
                self.manifest,
                changes,
                counting={
                    document: generations
                    for document, generations in self.counting(self.manifest).items()
                    if document in documents_of(changes)
                },
                now=self.now,
                grace=GRACE,
            )
            self.manifest = outcome.manifest
        assert outcome is not None
        return outcome.done

    @rule(count=st.integers(1, 8))
    def lease(self, count: int) -> None:
        self.commit(Lease())
        self.manifest, made = leased(self.manifest, count, now=self.now)
        self.open |= dict.fromkeys(made, (self.manifest.base, self.now))

    def take(self, data: st.DataObject) -> tuple[str, str, bool]:
        """A generation of some writer, its base, and whether its lease is valid; without a lease nothing is written."""
        name = list(self.open)[data.draw(st.integers(0, len(self.open) - 1))]
        base, at = self.open.pop(name)
        return name, base, self.now <= at + LEASE_SECONDS

    @precondition(lambda self: self.open)
    @rule(data=st.data(), document=st.sampled_from([A, B]), lost=st.booleans())
    def put(self, data: st.DataObject, document: DocumentId, lost: bool) -> None:
        name, base, leased = self.take(data)
        if leased:
            self.chunks.add((name, base, document))
        (held,) = self.commit(Publish(document=document, generation=name, base=base), lost=lost)
        if held:
            self.expected[document] = name
            self.late.pop(name, None)  # chunk versions reject late requests
        else:
            self.give_up(name)

    @precondition(lambda self: len(self.open) > 1)
    @rule(data=st.data(), other=st.sampled_from([A, B]), withdrawn=st.sampled_from([A, B]))
    def put_several_at_once(self, data: st.DataObject, other: DocumentId, withdrawn: DocumentId) -> None:
        changes: list[Publish] = []
        for document in (A, other):
            name, base, leased = self.take(data)
            if leased:
                self.chunks.add((name, base, document))
            changes.append(Publish(document=document, generation=name, base=base))
        held = self.commit(*changes, Withdraw(document=withdrawn))
        for publish, holds in zip(changes, held, strict=False):
            if holds:
                self.expected[publish.document] = publish.generation
                self.late.pop(publish.generation, None)
            else:
                self.send_no_more(publish.generation)
        self.expected.pop(withdrawn, None)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), document=st.sampled_from([A, B]), killed=st.booleans(), lost=st.booleans())
    def fail_to_put(self, data: st.DataObject, document: DocumentId, killed: bool, lost: bool) -> None:
        """Abandoned or killed midway: nobody reports that the generation will not be published."""
        name, base, leased = self.take(data)
        if leased and base == self.manifest.base:
            self.chunks.add((name, base, document))
            self.late[name] = (base, self.now + GRACE)
        if not killed:
            self.give_up(name, lost=lost)

    def give_up(self, name: str, *, lost: bool = False) -> None:
        """Reports the failure; earlier requests may still arrive."""
        self.commit(Abandon(generation=name), lost=lost)
        self.send_no_more(name)

    def send_no_more(self, name: str) -> None:
        if name in self.late:
            base, until = self.late[name]
            self.late[name] = (base, min(until, self.now + GRACE))

    @precondition(lambda self: self.late)
    @rule(data=st.data(), document=st.sampled_from([A, B]))
    def write_late(self, data: st.DataObject, document: DocumentId) -> None:
        name = list(self.late)[data.draw(st.integers(0, len(self.late) - 1))]
        base, until = self.late[name]
        if self.now < until:
            self.chunks.add((name, base, document))

    @rule(document=st.sampled_from([A, B]), lost=st.booleans())
    def withdraw(self, document: DocumentId, lost: bool) -> None:
        self.commit(Withdraw(document=document), lost=lost)
        self.expected.pop(document, None)

    @rule(lost=st.booleans())
    def empty(self, lost: bool) -> None:
        """Active writers may continue until the lease ends, and a current request may arrive late."""
        for name, (base, at) in self.open.items():
            self.late[name] = (base, at + LEASE_SECONDS + GRACE)
        self.commit(Empty(), lost=lost)
        self.expected.clear()

    @rule(lost=st.booleans())
    def sweep(self, lost: bool) -> None:
        doomed = self.manifest
        self.chunks = {
            chunk
            for chunk in self.chunks
            if chunk[0] not in doomed.condemned and chunk[1] not in doomed.dropped
        }
        self.commit(
            Forget(generations=frozenset(doomed.condemned), bases=frozenset(doomed.dropped)), lost=lost
        )

    @rule(seconds=st.sampled_from([1.0, GRACE, LEASE_SECONDS / 2, LEASE_SECONDS + 1]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def one_version_of_each_document_counts_and_it_is_the_last_acknowledged(self) -> None:
        if not hasattr(self, "manifest"):
            return
        counted = self.counting(self.manifest)
        assert counted == {document: [name] for document, name in self.expected.items()}

    def teardown(self) -> None:
        """At the end, only what counts is left."""
        self.now += LEASE_SECONDS + 1
        self.commit(Lease())
        self.now += GRACE
        self.sweep(lost=False)
        assert not self.manifest.is_unfinished
        assert {(document, name) for name, _, document in self.chunks} == set(self.expected.items())


TestWriters = Writers.TestCase
TestWriters.settings = settings(examples(150), stateful_step_count=40)
