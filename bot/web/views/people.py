from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any, Final

from bot.web.visit import NothingHere, Shown
from rag_engine.errors import Unavailable, UserError

if TYPE_CHECKING:
    from bot.web.visit import Reply, Visit

TITLE: Final = "People's data"
PATH: Final = "people"
POSITION: Final = 70
OPERATOR_ONLY: Final = True

_KINDS: Final = ("person", "channel")
_SECONDS: Final = 300.0
_LONGEST: Final = 200


async def show(visit: Visit) -> Shown:
    return Shown(
        template="people.html", values={"kinds": _KINDS, "kind": "person", "who": "", "files": False}
    )


async def act(visit: Visit) -> Reply:
    kind, who = visit.form.get("kind", ""), visit.form.get("who", "").strip()[:_LONGEST]
    if kind not in _KINDS or visit.form.get("act") not in ("preview", "forget"):
        raise NothingHere
    if not who or who.startswith("-"):
        raise UserError("Give the id that the platform shows in the profile, or the name.")
    files = kind == "person" and visit.form.get("files") == "yes"
    forgets = visit.form["act"] == "forget"
    given = [kind, who, *(["--files"] if files else []), "--yes" if forgets else "--dry-run"]
    if forgets:
        visit.audit(f"forget {kind}")
    values = {"kinds": _KINDS, "kind": kind, "who": who, "files": files, "found": await _forget(given)}
    return Shown(template="people.html", values=values)


async def _forget(given: list[str]) -> dict[str, Any]:
    """`footnote forget` in a process of its own. Raises `UserError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "forget", *given, "--json",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(_SECONDS):
            out, problem = await process.communicate()
    except TimeoutError as error:
        raise Unavailable(
            "It takes longer than five minutes: run `footnote forget` in the terminal, which continues it.",
            backend="forget",
            reason="timeout",
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
    try:
        return json.loads(out)
    except ValueError as error:
        sentence = problem.decode("utf-8", "replace").strip().removeprefix("footnote: ")
        raise UserError(" ".join(sentence.split())[-500:] or "It could not be looked up.") from error
