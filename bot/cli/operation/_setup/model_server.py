from __future__ import annotations

from typing import Final, cast

import httpx2

from rag_engine.errors import UserError

_SECONDS: Final = 15.0


async def models_of(base_url: str, api_key: str) -> list[str]:
    """What a server says it serves. Raises `UserError` with the reason."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    try:
        async with httpx2.AsyncClient(timeout=_SECONDS) as client:
            answer = await client.get(f"{base_url.rstrip('/')}/models", headers=headers)
        if answer.status_code in (401, 403):
            raise UserError("The server refuses the key.")
        listing = answer.json() if answer.is_success else None
    except httpx2.InvalidURL as error:
        raise UserError("This is no address: it begins with http:// or https://.") from error
    except (httpx2.HTTPError, ValueError) as error:
        raise UserError(
            f"The server does not answer as one of models does ({type(error).__name__})."
        ) from error
    data = cast("dict[str, object]", listing).get("data") if isinstance(listing, dict) else None
    entries = cast("list[object]", data) if isinstance(data, list) else []
    found = [str(cast("dict[str, object]", each).get("id", "")) for each in entries if isinstance(each, dict)]
    names = sorted(filter(None, found))
    if not names:
        raise UserError(f"The server lists no models (status {answer.status_code}).")
    return names
