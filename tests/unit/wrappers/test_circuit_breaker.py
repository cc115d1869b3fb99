"""When a service is no longer called, which error callers get meanwhile, and how it comes back."""

from __future__ import annotations

import asyncio
import gc
import weakref
from dataclasses import dataclass, field

import pytest

from rag_engine.errors import ContentFiltered, ModelUnavailable, RateLimited, Unavailable, UserError
from rag_engine.wrappers.circuit_breaker import BreakerLimits, BreakerState, CircuitBreaker


@dataclass
class Watched:
    """A breaker with a clock of its own, and what it said of itself."""

    now: float = 0.0
    told: list[BreakerState] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.breaker = CircuitBreaker(
            "the server",
            limits=BreakerLimits(failures=3, within_seconds=60, rest_seconds=10, slow_seconds=5),
            away=ModelUnavailable,
            on_change=lambda backend, state: self.told.append(state),
            clock=lambda: self.now,
        )

    def fails(self, error: BaseException | None = None, *, after: float = 0.0) -> None:
        error = ModelUnavailable("It is on fire.") if error is None else error
        with pytest.raises(type(error)):
            self._call(error, after)

    def _call(self, error: BaseException, seconds: float) -> None:
        with self.breaker.call():
            self.now += seconds
            raise error

    def answers(self) -> None:
        with self.breaker.call():
            pass

    def refused(self) -> Unavailable:
        """The error of a call while the service is not asked."""
        with pytest.raises(Unavailable) as raised, self.breaker.call():
            raise AssertionError("the service was asked")
        return raised.value

    def opened(self) -> Watched:
        for _ in range(3):
            self.fails()
        return self


def test_after_failures_in_a_row_callers_learn_at_once_what_is_wrong_and_for_how_long() -> None:
    watched = Watched().opened()
    watched.now = 4
    error = watched.refused()
    assert type(error) is ModelUnavailable
    assert (str(error), error.retry_after, error.reason) == ("It is on fire.", 6, "left_alone")
    assert error.backend == "the server"
    assert watched.told == ["open"]


def test_an_answer_between_two_failures_ends_the_row() -> None:
    watched = Watched()
    for _ in range(5):
        watched.fails()
        watched.fails()
        watched.answers()
    assert watched.breaker.state == "closed"


def test_failures_that_are_far_apart_are_no_row() -> None:
    watched = Watched()
    for _ in range(10):
        watched.fails()
        watched.now += 31
    assert watched.breaker.state == "closed"


@pytest.mark.parametrize("error", [UserError("Too long."), ContentFiltered()])
def test_a_refusal_is_an_answer(error: Exception) -> None:
    watched = Watched()
    watched.fails()
    watched.fails()
    watched.fails(error)
    watched.fails()
    watched.fails()
    assert watched.breaker.state == "closed"
    watched = Watched().opened()
    watched.now = 10
    watched.fails(error)
    assert watched.breaker.state == "closed"


def test_one_call_tries_it_and_its_success_opens_the_way_for_all() -> None:
    watched = Watched().opened()
    watched.now = 10
    with watched.breaker.call():
        assert watched.breaker.state == "half_open"
        assert watched.refused().retry_after == 1, "somebody is trying"
    watched.answers()
    assert watched.told == ["open", "half_open", "closed"]


def test_a_trial_that_fails_restarts_the_pause() -> None:
    watched = Watched().opened()
    watched.now = 10
    watched.fails(ModelUnavailable("Still on fire."))
    watched.now = 19
    assert str(watched.refused()) == "Still on fire."
    watched.now = 20
    watched.answers()
    assert watched.told == ["open", "half_open", "open", "half_open", "closed"]


@pytest.mark.parametrize("error", [asyncio.CancelledError(), RuntimeError("a bug of ours")])
def test_an_inconclusive_trial_leaves_the_decision_to_the_next(error: BaseException) -> None:
    watched = Watched().opened()
    watched.now = 10
    watched.fails(error)
    assert watched.breaker.state == "open"
    watched.answers()
    assert watched.breaker.state == "closed"


def test_giving_up_on_a_silent_service_is_a_failure_and_going_away_early_is_none() -> None:
    watched = Watched()
    for _ in range(5):
        watched.fails(asyncio.CancelledError(), after=4)
    assert watched.breaker.state == "closed"
    for _ in range(3):
        watched.fails(asyncio.CancelledError(), after=5)
    assert watched.breaker.state == "open"
    assert str(watched.refused()) == str(ModelUnavailable())


def test_a_service_that_says_when_to_come_back_is_left_alone_until_then_within_reason() -> None:
    watched = Watched()
    for asked in (20.0, 3600.0):
        while watched.breaker.state == "closed":
            watched.fails(RateLimited("Slow down.", retry_after=asked))
        error = watched.refused()
        assert (type(error), error.retry_after) == (RateLimited, min(asked, 60))
        watched.now += min(asked, 60)
        watched.answers()


def test_calls_that_were_on_their_way_when_it_broke_change_nothing_but_by_an_answer() -> None:
    watched = Watched()
    early, late = watched.breaker.call(), watched.breaker.call()
    early.__enter__()
    late.__enter__()
    watched.opened()
    watched.now = 9
    failure = ModelUnavailable("It burns.")
    early.__exit__(type(failure), failure, None)
    assert watched.refused().retry_after == 1, "the rest is not drawn out"
    late.__exit__(None, None, None)
    assert watched.breaker.state == "closed"


def test_it_is_logged_once_when_it_breaks_and_once_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    watched = Watched().opened()
    for now in (10, 20, 30):
        watched.refused()
        watched.now = now
        watched.fails()
    watched.now = 40
    watched.answers()
    assert [record.getMessage() for record in caplog.records] == [
        "calls to the server are suspended: It is on fire.",
        "the server answers again",
    ]


def test_it_holds_nothing_of_the_calls_that_failed() -> None:
    """An error holds its traceback, and that the question."""

    class Question:
        pass

    watched = Watched()

    def ask() -> weakref.ref[Question]:
        question = Question()
        with pytest.raises(ModelUnavailable), watched.breaker.call():
            raise ModelUnavailable(str(type(question)))
        return weakref.ref(question)

    asked = ask()
    gc.collect()
    assert asked() is None
