from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from adapters.slack.context import SlackContext
    from bot.port import Overview, Place

_SECONDS: Final = 1.0
_TITLE_CHARACTERS: Final = 80
_PROMPT_CHARACTERS: Final = 70
_MOST_PROMPTS: Final = 4


async def show_activity(context: SlackContext, place: Place, *, title: str, status: str) -> None:
    """The first message removes the status."""
    client, optional = context.write_client, context.optional_calls
    thread = {"channel_id": place.channel, "thread_ts": place.thread}
    calls = [
        ("assistant.threads.setStatus", partial(client.assistant_threads_setStatus, status=status, **thread))
    ]
    if title and context.optional_calls.first_time(place.thread):
        shown = " ".join(title.split())[:_TITLE_CHARACTERS]
        calls.append(
            ("assistant.threads.setTitle", partial(client.assistant_threads_setTitle, title=shown, **thread))
        )
    try:
        async with asyncio.timeout(_SECONDS):
            await asyncio.gather(*(optional.try_to_call(method, call) for method, call in calls))
    except TimeoutError:
        return


async def rename(context: SlackContext, place: Place, title: str) -> None:
    call = partial(
        context.write_client.assistant_threads_setTitle,
        channel_id=place.channel,
        thread_ts=place.thread,
        title=" ".join(title.split())[:_TITLE_CHARACTERS],
    )
    await context.optional_calls.try_to_call("assistant.threads.setTitle", call)


async def suggest_prompts(context: SlackContext, channel: str, thread: str, overview: Overview) -> None:
    """`thread` only in the older assistant pane."""
    prompts = [
        {"title": each[:_PROMPT_CHARACTERS], "message": each} for each in overview.prompts[:_MOST_PROMPTS]
    ]
    call = partial(
        context.write_client.assistant_threads_setSuggestedPrompts,
        channel_id=channel,
        thread_ts=thread or None,
        title=overview.prompts_heading,
        prompts=prompts,
    )
    if prompts:
        await context.optional_calls.try_to_call("assistant.threads.setSuggestedPrompts", call)
