"""A parser as anyone may add one: found by its entry point, named for the suffix that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def install(folder: Path, name: str, source: str) -> None:
    """Write the distribution into a folder, which must come to `sys.path`."""
    metadata = folder / f"{name}-1.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{name}_parser.py").write_text(source, encoding="utf-8")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        f"[rag_engine.parsers]\n{name} = {name}_parser\n", encoding="utf-8"
    )
