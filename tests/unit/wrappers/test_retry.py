"""Back-off and attempts: how long a pause is, and when there is no further attempt."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.errors import Unavailable
from rag_engine.wrappers.retry import Attempts, Backoff

CHANCES = st.floats(min_value=0, max_value=1)
FAILURES = st.integers(min_value=1, max_value=10_000)
AT_ONCE = Backoff(first=0.0)


def backoff(chance: float) -> Backoff:
    return Backoff(first=0.5, longest=20.0, chance=lambda: chance)


@given(failures=FAILURES, chance=CHANCES)
def test_a_pause_is_at_least_half_the_first_and_at_most_the_longest(failures: int, chance: float) -> None:
    assert 0.25 <= backoff(chance).seconds(failures) <= 20


@given(failures=FAILURES, chance=CHANCES)
def test_a_pause_is_never_shorter_than_the_one_before(failures: int, chance: float) -> None:
    assert backoff(chance).seconds(failures + 1) >= backoff(chance).seconds(failures)


@given(failures=FAILURES, chance=CHANCES, retry_after=st.floats(0, 1000))
def test_a_pause_is_never_shorter_than_the_service_asks(
    failures: int, chance: float, retry_after: float
) -> None:
    assert backoff(chance).seconds(failures, retry_after=retry_after) >= retry_after


def test_without_jitter_pauses_double() -> None:
    plain = Backoff(first=1.0, longest=5.0, jitter=0.0)
    assert [plain.seconds(failures) for failures in range(1, 6)] == [1, 2, 4, 5, 5]


async def test_the_last_error_is_raised_when_the_attempts_are_used_up() -> None:
    attempts = Attempts(backoff=AT_ONCE, most=3)
    errors = [Unavailable(str(number)) for number in range(3)]
    for error in errors[:2]:
        await attempts.pause(error)
    with pytest.raises(Unavailable) as raised:
        await attempts.pause(errors[2])
    assert raised.value is attempts.last is errors[2]
    assert attempts.failures == 3


async def test_no_attempt_begins_after_the_deadline() -> None:
    attempts = Attempts(backoff=Backoff(first=10.0), seconds=5.0)
    assert 4.5 < attempts.seconds_left <= 5.0
    with pytest.raises(Unavailable):
        async with asyncio.timeout(1):
            await attempts.pause(Unavailable())


async def test_a_service_that_asks_for_too_long_a_pause_is_not_tried_again() -> None:
    attempts = Attempts(backoff=AT_ONCE, longest_retry_after=0.01)
    await attempts.pause(Unavailable(), retry_after=0.01)
    with pytest.raises(Unavailable):
        await attempts.pause(Unavailable(), retry_after=0.02)
