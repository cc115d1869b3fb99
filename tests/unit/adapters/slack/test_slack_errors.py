"""What Slack's words for what went wrong mean for us: wait, try again, do it otherwise, or give up."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.wire import Unfit, meaning
from bot.port import ChatError, Gone, Refused, Throttled, Unreachable


def said(code: str, *, status: int = 200, headers: dict[str, str] | None = None) -> ChatError:
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="https://slack.example/api/chat.update",
        req_args={},
        data={"ok": False, "error": code} if code else "<html>",
        headers=headers or {},
        status_code=status,
    )
    return meaning(SlackApiError("no", response), "chat.update", {"in_the_list": "A sentence for people."})


@pytest.mark.parametrize(
    ("code", "meant"),
    [
        ("internal_error", Unreachable),
        ("fatal_error", Unreachable),
        ("service_unavailable", Unreachable),
        ("request_timeout", Unreachable),
        ("team_added_to_org", Unreachable),
        ("external_channel_migrating", Unreachable),
        ("update_failed", Unreachable),
        ("ratelimited", Throttled),
        ("rate_limited", Throttled),
        ("message_limit_exceeded", Throttled),
        ("message_not_found", Gone),
        ("is_archived", Gone),
        ("invalid_blocks", Unfit),
        ("missing_scope", Refused),
        ("token_revoked", Refused),
        ("restricted_action", Refused),
        ("a_word_of_next_year", Refused),
        ("in_the_list", Refused),
    ],
)
def test_each_word_has_its_meaning(code: str, meant: type[ChatError]) -> None:
    assert type(said(code)) is meant


def test_a_wait_is_as_long_as_slack_says() -> None:
    throttled = said("", status=429, headers={"Retry-After": "7"})
    assert isinstance(throttled, Throttled)
    assert throttled.seconds == 7


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_server_in_trouble_is_tried_again_whatever_it_says(status: int) -> None:
    assert type(said("a_word_of_next_year", status=status)) is Unreachable
    assert type(said("", status=status)) is Unreachable


def test_what_a_person_is_to_be_told_goes_before() -> None:
    assert str(said("in_the_list")) == "A sentence for people."
