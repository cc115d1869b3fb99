from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import BadSettings
from tests.markers import NO_TORCH, runs_torch

if not runs_torch():
    pytest.skip(NO_TORCH, allow_module_level=True)

from rag_engine.rerankers import sentence_transformers

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch


async def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    settings = sentence_transformers.Settings(model=str(tmp_path / "no-such-model"))
    with pytest.raises(BadSettings, match="no-such-model"):
        async with sentence_transformers.connect(settings, data_dir=tmp_path):
            pass
