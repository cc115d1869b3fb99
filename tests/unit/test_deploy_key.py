"""The key with which the bot reaches Elasticsearch (`deploy/make-api-key.sh`, `deploy/api-key.json`) against the calls that need rights."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from bot import settings
from bot.composition import loader
from rag_engine.indexes import elasticsearch
from tests.unit.test_deploy import DEPLOY, PROJECT, README

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = PROJECT / "rag_engine" / "indexes" / "elasticsearch"

RIGHTS = {
    "bulk": "write",
    "close_point_in_time": "read",
    "count": "read",
    "delete": "write",
    "index": "write",
    "indices.create": "manage",  # with aliases, which `create_index` does not contain
    "indices.get": "view_index_metadata",
    "indices.exists": "view_index_metadata",
    "indices.get_alias": "view_index_metadata",
    "indices.refresh": "maintenance",
    "indices.update_aliases": "manage",
    "mget": "read",
    "msearch": "read",
    "nodes.info": "cluster monitor",
    "open_point_in_time": "read",
    "search": "read",
}
"""What each call of the client needs, by the actions that each privilege grants in Elasticsearch's source."""
CONTAINED = {"manage": {"create_index", "delete_index", "maintenance", "monitor", "view_index_metadata"}}


def key_role() -> dict[str, Any]:
    descriptors = json.loads((DEPLOY / "api-key.json").read_text(encoding="utf-8"))["role_descriptors"]
    (role,) = descriptors.values()
    return role


def test_the_key_has_the_rights_of_every_call_and_no_other() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    pattern = r"(?<!\w)(?:client|reader|writer)\.((?:(?:indices|nodes|cluster)\.)?[a-z_]+)\("
    calls = set(re.findall(pattern, sources)) - {"options", "close"}
    assert calls == set(RIGHTS), "what right does the new call need? (deploy/api-key.json, deploy/README.md)"
    role = key_role()
    (entry,) = role["indices"]
    granted = set(entry["privileges"])
    needed = set(RIGHTS.values()) - {"cluster monitor"}
    contained = {right for each in granted for right in CONTAINED.get(each, ())}
    assert needed <= granted | contained
    assert granted <= needed
    assert role["cluster"] == ["monitor"]
    for right in granted | set(role["cluster"]):
        assert f"`{right}`" in README


def test_the_key_covers_the_names_of_the_indexes() -> None:
    alias = elasticsearch.Settings().alias
    (entry,) = key_role()["indices"]
    trial = loader.temporary_index(settings.IndexSlice(kind="elasticsearch")).rest()["alias"]
    names = (
        alias,
        f"{alias}-rebuilding",
        f"{alias}-3c3df5b8-1-chunks-write",
        f"{trial}-3c3df5b8-1-manifests",
    )
    for name in names:
        assert any(fnmatch.fnmatch(name, pattern) for pattern in entry["names"])
    assert not any(fnmatch.fnmatch("footnotes", pattern) for pattern in entry["names"])


def made_key(folder: Path, answer: str, *, code: int = 0) -> tuple[subprocess.CompletedProcess[str], Path]:
    """`make-api-key.sh` in a copy of its folder, with a stand-in for `docker` that answers so."""
    for name in ("es.sh", "make-api-key.sh", "api-key.json"):
        target = folder / name
        target.write_bytes((DEPLOY / name).read_bytes())
        target.chmod(0o755)
    (folder / "bin").mkdir()
    docker = folder / "bin" / "docker"
    docker.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/asked\nprintf '%s' '{answer}'\nexit {code}\n",
        encoding="utf-8",
    )
    docker.chmod(0o755)
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}"}
    done = subprocess.run(
        [str(folder / "make-api-key.sh")],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
    )
    return done, folder / "bot.env"


@pytest.mark.process
def test_the_key_is_written_for_the_bot_alone(tmp_path: Path) -> None:
    (tmp_path / "bot.env").write_text(
        "ELASTICSEARCH_API_KEY=old\nFOOTNOTE_LOG_LEVEL=debug\n", encoding="utf-8"
    )
    answer = '{"id":"VuaC","name":"footnote-bot","api_key":"ui2l","encoded":"VnVhQ2Zn+/R0Y0J==", "x": 1}'
    done, written = made_key(tmp_path, answer)
    assert done.returncode == 0, done.stderr
    lines = written.read_text(encoding="utf-8").splitlines()
    assert lines == ["FOOTNOTE_LOG_LEVEL=debug", "ELASTICSEARCH_API_KEY=VnVhQ2Zn+/R0Y0J=="]
    assert written.stat().st_mode & 0o777 == 0o600
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert asked.startswith("compose\nexec\n-T\nelasticsearch\n")
    assert "--request\nPOST\n" in asked
    assert "https://localhost:9200/_security/api_key" in asked
    assert '"footnote-*"' in asked
    assert "VnVh" not in done.stdout + done.stderr


@pytest.mark.parametrize(("answer", "code"), [('{"error":"security_exception"}', 22), ("{}", 0)])
@pytest.mark.process
def test_a_key_that_is_not_made_leaves_the_settings_as_they_were(
    tmp_path: Path, answer: str, code: int
) -> None:
    (tmp_path / "bot.env").write_text("ELASTICSEARCH_API_KEY=old\n", encoding="utf-8")
    done, written = made_key(tmp_path, answer, code=code)
    assert done.returncode == 1
    assert done.stderr.startswith("The key could not be made")
    assert written.read_text(encoding="utf-8") == "ELASTICSEARCH_API_KEY=old\n"
