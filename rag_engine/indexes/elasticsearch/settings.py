from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from rag_engine.indexes.elasticsearch.schema import VectorKind
from rag_engine.text.header_secret import HeaderSecret


class Settings(BaseModel):
    """The cluster, and how it is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = "http://localhost:9200"
    """One or more addresses of one cluster, separated by commas; also ELASTICSEARCH_URL."""
    api_key: HeaderSecret | None = None
    """Also ELASTICSEARCH_API_KEY."""
    ca_file: Path | None = None
    """The certificate of the authority that signed the server's, in PEM; by default the system's authorities."""
    alias: str = Field(default="footnote", pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")
    """The name of the index; the indexes behind it start with this name."""
    shards: int = Field(default=1, ge=1, le=64)
    """Shards of new indexes; one is enough for millions of chunks."""
    replicas: int | None = Field(default=None, ge=0, le=8)
    """Copies of each shard besides the first; by default one as soon as there is a second node."""
    vectors: VectorKind = "int8_hnsw"
    """How new indexes store vectors; docs/figures.md has the figures."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds for a search, including retries."""
    write_timeout: float = Field(default=60.0, gt=0)
    """Seconds for one step of writing."""
    attempts: int = Field(default=4, ge=1, le=10)
    """Attempts per call if a node is lost or busy."""
    connections: int = Field(default=32, ge=1)
    """Connections to each node."""
    kept_chunks: int = Field(default=10_000, ge=0)
    """Chunks found lately that stay in memory, with 5 to 7 KB each; the others cost a question a second request."""
    compress: bool = False
    """Compress requests; only worth it on slow networks."""
    bulk_chunks: int = Field(default=500, ge=1)
    """Most chunks in one bulk request."""
    bulk_bytes: int = Field(default=1_000_000, ge=10_000)
    """Most bytes in one bulk request, unless a single chunk is larger. Larger requests are not faster and block the event loop."""
    bulk_requests: int = Field(default=2, ge=1, le=16)
    """Bulk requests in flight."""
