"""Never quotes the server, which may quote documents."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import elastic_transport
import elasticsearch

from rag_engine.errors import BadSettings, IndexUnavailable, Misconfigured

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

BACKEND = "elasticsearch"

_RED = frozenset(
    {
        "master_not_discovered_exception",
        "no_shard_available_action_exception",
        "search_phase_execution_exception",
        "unavailable_shards_exception",
        "node_not_connected_exception",
        "node_disconnected_exception",
        "node_closed_exception",
        "process_cluster_event_timeout_exception",
    }
)
_SENTENCES = {
    "unreachable": "The search index cannot be reached; try again in a moment.",
    "timeout": "The search index took too long to answer; try again in a moment.",
    "rejected": "The search index has more to do than it can; try again in a moment.",
    "read_only": "The search index takes nothing in because its disk is nearly full; the operator must make room.",
    "red": "A part of the search index is not there at the moment; try again when its cluster has recovered.",
    "unauthorized": "The search index refuses Footnote's key; the operator must set ELASTICSEARCH_API_KEY.",
    "missing": "The search index was removed while it was in use; try again in a moment.",
    "failed": "The search index failed; try again in a moment.",
}
_RETRY_SECONDS = {"rejected": 1.0, "unreachable": 2.0, "red": 2.0, "timeout": 2.0, "read_only": 10.0}
_FORBIDDEN = frozenset({401, 403})


def unavailable(reason: str, kind: str = "") -> IndexUnavailable:
    """`kind`: Elasticsearch's name of the error."""
    sentence = _SENTENCES[reason]
    if reason == "failed" and kind:
        sentence = f"The search index failed ({kind}); try again in a moment."
    return IndexUnavailable(sentence, backend=BACKEND, retry_after=_RETRY_SECONDS.get(reason), reason=reason)


@contextmanager
def translate_errors(*, starting: bool = False) -> Generator[None]:
    """Raises `IndexUnavailable`, or `Misconfigured` if only the operator can act. `starting`: a refused key is a matter
    of settings.
    """
    try:
        yield
    except elasticsearch.UnsupportedProductError as error:
        raise Misconfigured(
            "ELASTICSEARCH_URL leads to a server that is not Elasticsearch; set it to one."
        ) from error
    except elasticsearch.ApiError as error:
        raise _of_status(error, starting=starting) from error
    except elastic_transport.TlsError as error:
        sentence = "The certificate of the search index is not trusted: set FOOTNOTE_INDEX__CA_FILE to the certificate of its authority."
        raise BadSettings(sentence) if starting else unavailable("unreachable") from error
    except elastic_transport.ConnectionTimeout as error:
        raise unavailable("timeout") from error
    except elastic_transport.TransportError as error:
        raise unavailable("unreachable") from error
    except TimeoutError as error:
        raise unavailable("timeout") from error


def reason_of(status: int, error: Mapping[str, Any] | None) -> str:
    kinds = set(_kinds(error or {}))
    if "cluster_block_exception" in kinds:
        return "read_only" if status in {403, 429} else "red"
    if "index_not_found_exception" in kinds:
        return "missing"
    if status == 429 or "es_rejected_execution_exception" in kinds:
        return "rejected"
    if status in {502, 503, 504} or (kinds & _RED and status >= 500):
        return "red"
    return "unauthorized" if status in _FORBIDDEN else "failed"


def kind_of(error: Mapping[str, Any] | None) -> str:
    return next(iter(_kinds(error or {})), "")


def _of_status(error: elasticsearch.ApiError, *, starting: bool) -> Exception:
    body = cast("object", error.body)
    described: Mapping[str, Any] | None = None
    if isinstance(body, dict):
        inner = cast("dict[str, Any]", body).get("error")
        described = cast("dict[str, Any]", inner) if isinstance(inner, dict) else None
    if kind_of(described) == "media_type_header_exception":
        return Misconfigured(
            "The Elasticsearch server is older than Footnote can speak to: it must be 9.3 or later."
        )
    reason = reason_of(error.status_code, described)
    if reason == "unauthorized" and starting:
        return BadSettings(
            "The Elasticsearch server refuses the key: set ELASTICSEARCH_API_KEY to one that may use the index"
            " (deploy/README.md says which rights it needs)."
        )
    return unavailable(reason, kind_of(described))


def _kinds(error: Mapping[str, Any]) -> list[str]:
    found = [str(error["type"])] if "type" in error else []
    causes = [
        *error.get("root_cause", ()),
        *(failed.get("reason") for failed in error.get("failed_shards", ())),
    ]
    causes.append(error.get("caused_by"))
    for cause in causes:
        if isinstance(cause, dict):
            found.extend(_kinds(cast("dict[str, Any]", cause)))
    return found
