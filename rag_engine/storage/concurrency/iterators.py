from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_Item = TypeVar("_Item")


async def close(items: AsyncIterator[object]) -> None:
    if isinstance(items, AsyncGenerator):
        await items.aclose()


@asynccontextmanager
async def closing(items: AsyncIterator[_Item]) -> AsyncGenerator[AsyncIterator[_Item]]:
    try:
        yield items
    finally:
        await close(items)
