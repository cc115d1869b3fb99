from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from collections.abc import Iterable


class Slice(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")
    kind: str

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Names only: values may be keys."""
        yield "kind", self.kind
        for name in self.rest():
            yield name, "…"

    def rest(self) -> dict[str, object]:
        return dict(self.model_extra or {})


class EmbedderSlice(Slice):
    """The model that turns text into vectors."""

    kind: str = "local"
    """`local`, `onnx`, `sentence_transformers`, `openai` or `hashing`."""


class IndexSlice(Slice):
    """The search index."""

    kind: str = "embedded"
    """`embedded` (in the data directory) or `elasticsearch`."""


class FallbackSlice(Slice):
    """A language model beside the first. Without `base_url` it is on the same server."""

    kind: str = "openai"


class ModelSlice(Slice):
    """The language model that writes answers."""

    kind: str = ""
    """`openai` (any server with its protocol), `extractive` (quotes without a model) or `scripted`. By default `openai` with a name, key or server, else `extractive`."""
    fallbacks: dict[str, FallbackSlice] = Field(default_factory=dict[str, FallbackSlice])
    """Models to try next, in the order of their labels: `FOOTNOTE_MODEL__FALLBACKS__1__NAME=…`, `…__1__BASE_URL`, `…__1__API_KEY`."""
    choices: dict[str, FallbackSlice] = Field(default_factory=dict[str, FallbackSlice])
    """Models to choose by label (`/kb settings model`, `/ask --model`): `FOOTNOTE_MODEL__CHOICES__FAST__NAME=…`, `…__FAST__BASE_URL`, `…__FAST__API_KEY`."""


class RerankerSlice(Slice):
    """The model that reorders search results."""

    kind: str = ""
    """`onnx`, `http` or `sentence_transformers`; empty for none."""


class WebSearchSlice(Slice):
    """Where pages of the web are found, in places that allow it (`/kb settings web`). The question leaves this machine."""

    kind: str = ""
    """`searxng`, `tavily`, `brave` or `wikipedia`; empty: the web is never searched."""


class SplitterSlice(Slice):
    """How documents are split into passages."""

    kind: str = "structure"
    """`structure`: along headings, paragraphs and tables."""


class SpeechSlice(Slice):
    """What reads answers aloud (`/speak`)."""

    kind: str = ""
    """`openai` (any server with its protocol), `espeak` (espeak-ng on this machine) or `off`. By default `openai` with a `base_url` or `api_key`, else `espeak` if installed."""


class TranscriptionSlice(Slice):
    """What writes voice messages and audio files down."""

    kind: str = ""
    """`openai` (any server with its protocol, such as Whisper's) or `off`. By default `openai` with a `base_url` or `api_key`."""
