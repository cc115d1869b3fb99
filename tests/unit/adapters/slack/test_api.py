"""Slack's error codes as `ChatError`."""

from __future__ import annotations

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from adapters.slack.api import BlocksRefused, chat_error
from bot.port import ChatError, Gone, Throttled, Unreachable, WriteRefused


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
    return chat_error(SlackApiError("no", response), "chat.update", {"in_the_list": "A sentence for people."})


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
        ("invalid_blocks", BlocksRefused),
        ("missing_scope", WriteRefused),
        ("token_revoked", WriteRefused),
        ("restricted_action", WriteRefused),
        ("a_word_of_next_year", WriteRefused),
        ("in_the_list", WriteRefused),
    ],
)
def test_error_codes_become_chat_errors(code: str, meant: type[ChatError]) -> None:
    assert type(said(code)) is meant


def test_a_fault_repeats_no_word_of_the_answer() -> None:
    assert str(said("xoxb-a-token and a question", status=503)) == "Slack failed at chat.update (503)."
    assert str(said("internal_error", status=500)) == "Slack failed at chat.update (internal_error)."


def test_retry_after_is_honoured() -> None:
    throttled = said("", status=429, headers={"Retry-After": "7"})
    assert isinstance(throttled, Throttled)
    assert throttled.seconds == 7


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_server_errors_mean_unreachable(status: int) -> None:
    assert type(said("a_word_of_next_year", status=status)) is Unreachable
    assert type(said("", status=status)) is Unreachable


def test_sentences_for_people_take_precedence() -> None:
    assert str(said("in_the_list")) == "A sentence for people."
