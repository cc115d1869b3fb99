"""Runs inside the bot's process: records which of our files one marked Slack message passes on its way in and out.

`sys.setprofile` reports every call. A context variable marks the work that belongs to one delivery of the message; tasks inherit it.
The measure is defined in `scripts.message_path`.
"""

from __future__ import annotations

import asyncio
import dis
import inspect
import json
import os
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType

OUTPUT_VARIABLE = "MESSAGE_PATH_OUTPUT"
MARKER_VARIABLE = "MESSAGE_PATH_MARKER"
_PROJECT = Path(__file__).resolve().parent.parent
_PACKAGES = ("adapters", "bot", "rag_engine")
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR | inspect.CO_COROUTINE
_CREATE_TASK = ("base_events.py", "create_task")
_ARRIVAL = ("adapters/slack/connection/socket_mode.py", "run_message_listeners")
_ENGINE = ("rag_engine/engine.py", "answer")
_SHOW = ("bot/streaming/message_stream.py", "show")
_MODELS = "rag_engine/models/"


@dataclass(eq=False)
class _Delivery:
    """One delivery of the message, with the frames of ours that are active for it."""

    active: dict[FrameType, asyncio.Task[Any] | None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    """Every file of ours that was called, in order."""
    in_path: list[str] | None = None
    delta_stack: list[FrameType] = field(default_factory=list)
    """The stack when the model last yielded a piece of text."""
    before_engine: set[FrameType] = field(default_factory=set)
    out_path: list[str] | None = None
    """From the model to `MessageStream.show`."""


_delivery: ContextVar[_Delivery | None] = ContextVar("delivery", default=None)
_ancestors: ContextVar[tuple[tuple[str, ...], tuple[asyncio.Task[Any] | None, ...]]] = ContextVar(
    "ancestors", default=((), ())
)
_files: dict[CodeType, str] = {}
_saved: list[Any] = []


def install() -> None:
    """Start recording in this thread. Does nothing unless the environment names the output file."""
    if OUTPUT_VARIABLE in os.environ:
        sys.setprofile(_profile)


def _profile(frame: FrameType, event: str, argument: object) -> None:
    if event not in ("call", "return"):
        return
    code = frame.f_code
    file = _files.get(code)
    if file is None:
        file = _files[code] = _file(code)
    if not file:
        return
    if (file, code.co_name) == _ARRIVAL and event == "call" and _delivery.get() is None and _is_marked(frame):
        _delivery.set(_Delivery())
    delivery = _delivery.get()
    if delivery is not None:
        _record(delivery, frame, file, event)


def _is_marked(frame: FrameType) -> bool:
    return os.environ[MARKER_VARIABLE] in str(frame.f_locals.get("raw_message", ""))


def _record(delivery: _Delivery, frame: FrameType, file: str, event: str) -> None:
    name = frame.f_code.co_name
    if file == _CREATE_TASK[0]:
        _spawn(frame, event)
    elif file == "slack_sdk":
        if event == "call" and delivery.out_path is not None:
            _written(delivery, frame)
    elif event == "call":
        delivery.called.setdefault(file)
        if not name.startswith("<"):  # an abandoned generator expression never reports its end
            delivery.active.setdefault(frame, _task())
        if (file, name) == _ENGINE and delivery.in_path is None:
            _arrived(delivery, frame)
        elif (file, name) == _SHOW and delivery.delta_stack and delivery.out_path is None:
            _shown(delivery, frame)
    elif _is_suspended(frame):
        if file.startswith(_MODELS) and delivery.in_path is not None and delivery.out_path is None:
            if not delivery.delta_stack:
                delivery.called = {}
            delivery.delta_stack = _stack(frame)
    else:
        delivery.active.pop(frame, None)


def _spawn(frame: FrameType, event: str) -> None:
    """A task gets the stack of its creator as ancestors; the creator keeps its own."""
    if event == "call":
        _saved.append(_ancestors.get())
        files, tasks = _saved[-1]
        stack = tuple(_ours(reversed(_stack(frame))))
        _ancestors.set(((*files, *stack), (*tasks, _task())))
    elif _saved:
        _ancestors.set(_saved.pop())


def _arrived(delivery: _Delivery, frame: FrameType) -> None:
    files, tasks = _ancestors.get()
    stack = _ours(reversed(_stack(frame)))
    tasks = (*tasks, _task())
    held = [each for each, task in delivery.active.items() if task in tasks]
    delivery.before_engine = set(delivery.active) - {frame}
    delivery.in_path = _ordered(delivery, {*files, *stack, *_ours(held)})
    _write(delivery, called=list(delivery.called))


def _shown(delivery: _Delivery, frame: FrameType) -> None:
    """From the model's frame up to the frame that both stacks share, then down to `show`."""
    showing = _stack(frame)
    shared = next(each for each in delivery.delta_stack if each in showing)
    up = delivery.delta_stack[: delivery.delta_stack.index(shared) + 1]
    down = showing[: showing.index(shared)]
    task = _task()
    held = [
        each
        for each, owner in delivery.active.items()
        if owner is task and each not in delivery.before_engine
    ]
    delivery.out_path = list(dict.fromkeys([*_ours(up), *_ours(reversed(down)), *_ours(held)]))


def _written(delivery: _Delivery, frame: FrameType) -> None:
    """The writer's task calls the platform."""
    task = _task()
    stack = list(reversed(_stack(frame)))
    held = [each for each, owner in delivery.active.items() if owner is task]
    path = list(dict.fromkeys([*(delivery.out_path or ()), *_ours(stack), *_ours(held)]))
    _write(delivery, out=path, called=list(delivery.called))
    sys.setprofile(None)


def _write(delivery: _Delivery, *, called: list[str], out: list[str] | None = None) -> None:
    output = Path(os.environ[OUTPUT_VARIABLE])
    found: dict[str, object] = json.loads(output.read_text()) if output.exists() else {}
    if out is None:
        found |= {"in": delivery.in_path, "in_called": _without(called, delivery.in_path or [])}
    else:
        found |= {"out": out, "out_called": _without(called, out)}
    part = output.with_suffix(".part")
    part.write_text(json.dumps(found))
    part.replace(output)


def _ordered(delivery: _Delivery, files: set[str]) -> list[str]:
    return [file for file in delivery.called if file in files]


def _without(files: list[str], passed: list[str]) -> list[str]:
    return [file for file in files if file not in passed]


def _ours(frames: Any) -> list[str]:
    files = dict.fromkeys(_files.get(frame.f_code) or _file(frame.f_code) for frame in frames)
    return [file for file in files if file.endswith(".py") and file != _CREATE_TASK[0]]


def _stack(frame: FrameType | None) -> list[FrameType]:
    """The frame and its callers, awaiting ones included, up to the event loop."""
    frames: list[FrameType] = []
    while frame is not None and not frame.f_code.co_filename.endswith("asyncio/events.py"):
        frames.append(frame)
        frame = frame.f_back
    return frames


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _is_suspended(frame: FrameType) -> bool:
    """Whether the frame yields or awaits, and is not finished."""
    if not frame.f_code.co_flags & _GENERATORS or frame.f_lasti < 0:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in ("YIELD_VALUE", "RETURN_GENERATOR", "SEND")


def _file(code: CodeType) -> str:
    """The path of a file of ours in the project; a short name for the two of others that matter; else empty."""
    path = code.co_filename
    if path.endswith("asyncio/base_events.py") and code.co_name == "create_task":
        return _CREATE_TASK[0]
    if "slack_sdk/web/async_base_client" in path and code.co_name == "api_call":
        return "slack_sdk"
    try:
        file = Path(path).relative_to(_PROJECT).as_posix()
    except ValueError:
        return ""
    return file if file.split("/", 1)[0] in _PACKAGES else ""
