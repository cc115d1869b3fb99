"""What is asked of each version of Landlock: all it knows, and nothing it does not."""

from __future__ import annotations

import pytest

from rag_engine.parsing.sandbox.landlock import handled


@pytest.mark.parametrize(
    ("version", "files", "ports", "scopes", "size"),
    [
        (1, 0x1FFF, 0, 0, 8),
        (2, 0x3FFF, 0, 0, 8),
        (3, 0x7FFF, 0, 0, 8),
        (4, 0x7FFF, 3, 0, 16),
        (5, 0xFFFF, 3, 0, 16),
        (6, 0xFFFF, 3, 3, 24),
        (7, 0xFFFF, 3, 3, 24),
        (12, 0xFFFF, 3, 3, 24),
    ],
)
def test_a_kernel_is_asked_for_what_it_knows(
    version: int, files: int, ports: int, scopes: int, size: int
) -> None:
    rights = handled(version)
    assert (rights.files, rights.ports, rights.scopes) == (files, ports, scopes)
    assert len(rights.packed(version)) == size
