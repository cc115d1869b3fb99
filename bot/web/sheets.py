"""Templates become HTML here, in a thread; everything in them is escaped."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.port import Place

STATIC = {"page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("bot.web", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for function in (moment, day, whole, amount, broken, counted, size, duration, clipped, place_key):
        environment.filters[function.__name__] = function  # pyright: ignore[reportUnknownMemberType]
    versions = {name: f"/static/{name}?{_version(name)}" for name in STATIC}
    environment.globals["static"] = versions  # pyright: ignore[reportUnknownMemberType]
    environment.globals["form_token"] = _form_token  # pyright: ignore[reportUnknownMemberType]
    return environment


async def rendered(template: str, values: Mapping[str, object]) -> str:
    return await asyncio.to_thread(lambda: _environment().get_template(template).render(values))


@cache
def static(name: str) -> bytes:
    return (files("bot.web") / "static" / name).read_bytes()


def _version(name: str) -> str:
    return hashlib.sha256(static(name)).hexdigest()[:12]


def _form_token(token: str) -> Markup:
    return Markup('<input type="hidden" name="token" value="{}">').format(token)


def amount(number: float | None) -> str:
    if number is None:
        return "–"
    if number == int(number):
        return whole(number)
    places = max(2, 1 - math.floor(math.log10(abs(number))))
    return f"{number:,.{places}f}".rstrip("0").rstrip(".")


def moment(seconds: float | None) -> str:
    return "" if not seconds else time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def day(number: int) -> str:
    return time.strftime("%d %b", time.gmtime(number * 86_400))


def whole(number: float) -> str:
    return f"{number:,.0f}"


def counted(number: float, thing: str) -> str:
    return f"{whole(number)} {thing}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    if count < 1 << 20:
        return f"{max(1, count // 1024)} kB"
    return f"{count / (1 << 20):,.1f} MB"


def place_key(place: Place) -> str:
    return f"{place.platform}:{place.workspace}:{place.channel}"


def broken(name: str) -> Markup:
    """May be divided where its parts meet."""
    return Markup("__<wbr>").join(name.split("__"))


def duration(seconds: float | None) -> str:
    if seconds is None or math.isnan(seconds):
        return "–"
    if seconds < 10:
        return f"{seconds:.1f}\N{NO-BREAK SPACE}s"
    if seconds < 120:
        return f"{seconds:.0f}\N{NO-BREAK SPACE}s"
    if seconds < 7200:
        return f"{seconds / 60:.0f}\N{NO-BREAK SPACE}min"
    return f"{seconds / 3600:.0f}\N{NO-BREAK SPACE}h"


def clipped(text: str, most: int = 160) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"
