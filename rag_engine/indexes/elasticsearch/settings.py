"""What an operator may set, `FOOTNOTE_INDEX__…`."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from rag_engine.indexes.elasticsearch.schema import VectorKind


class Settings(BaseModel):
    """Where the cluster is, and how it is used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str = "http://localhost:9200"
    """One or several addresses of one cluster, separated by commas; ELASTICSEARCH_URL means the same."""
    api_key: SecretStr | None = None
    """ELASTICSEARCH_API_KEY means the same."""
    ca_file: Path | None = None
    """The certificate of the authority that signed the server's, in PEM; the system's authorities when not given."""
    alias: str = Field(default="footnote", pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")
    """The name the index is found by; the names of the indexes behind it begin with it."""
    shards: int = Field(default=1, ge=1, le=64)
    """Of an index made from now on; one is enough for millions of chunks."""
    replicas: int | None = Field(default=None, ge=0, le=8)
    """Copies of each shard besides the first; when not given, one as soon as there is a second node."""
    vectors: VectorKind = "int8_hnsw"
    """How the vectors of an index made from now on are kept; deploy/README.md has the figures."""
    timeout: float = Field(default=10.0, gt=0)
    """Seconds a search may take, its repetitions included."""
    write_timeout: float = Field(default=60.0, gt=0)
    """Seconds one step of writing may take."""
    attempts: int = Field(default=4, ge=1, le=10)
    """How often a call is made before it fails, when a node is lost or busy."""
    connections: int = Field(default=32, ge=1)
    """To each node at once."""
    compress: bool = False
    """Whether requests are compressed; worth it on slow networks only."""
    bulk_chunks: int = Field(default=500, ge=1)
    """Chunks in one bulk request, at most."""
    bulk_bytes: int = Field(default=1_000_000, ge=10_000)
    """Bytes in one bulk request, unless a single chunk has more. Larger ones are not faster, and hold up the event loop."""
    bulk_requests: int = Field(default=2, ge=1, le=16)
    """Bulk requests on their way at once."""
