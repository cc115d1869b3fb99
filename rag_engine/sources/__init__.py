"""Kinds of sources, one module each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from rag_engine.web.page_client import PageClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """`folder` stays between runs."""

    folder: Path
    data_dir: Path
    client: PageClient
    most_bytes: int
    most_download_bytes: int
    seconds: float
