"""The Helm chart against Kubernetes' own schemas and the settings; the systemd unit against systemd, where it is installed.

Helm cannot be had everywhere: `helm_template` renders the little of it that the chart uses. Neither was run on a machine or cluster.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from bot import settings
from bot.__main__ import EXIT_MISCONFIGURED
from tests.unit.helm_template import rendered

PROJECT = Path(__file__).parents[2]
CHART = PROJECT / "deploy" / "helm"
UNIT = PROJECT / "deploy" / "systemd" / "footnote.service"
TEMPLATES = sorted((CHART / "templates").glob("*.yaml"))
SYSTEMD = shutil.which("systemd-analyze")
VERSIONS = ("1.30", "1.34")


def read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def values(**changes: Any) -> dict[str, Any]:
    return read((CHART / "values.yaml").read_text(encoding="utf-8")) | changes


def manifests(given: dict[str, Any]) -> dict[str, Any]:
    chart = read((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    known = {"Values": given, "Release": {"Name": "answers"}, "Chart": {"AppVersion": chart["appVersion"]}}
    found = [read(rendered(each.read_text(encoding="utf-8"), known)) for each in TEMPLATES]
    return {each["kind"]: each for each in found}


OTHERS = values(
    storage={"size": "1Ti", "className": "fast"},
    metrics={"fromNamespace": "monitoring"},
    settings={"FOOTNOTE_INDEX__KIND": "elasticsearch", "ELASTICSEARCH_URL": "https://index: 9200"},
    image={"repository": "registry.example.org/bot", "tag": "0.2.0", "pullPolicy": "Always"},
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("given", [values(), OTHERS], ids=["as shipped", "changed"])
def test_manifests_follow_kubernetes_schemas(given: dict[str, Any], version: str) -> None:
    found = manifests(given)
    assert set(found) == {"ConfigMap", "StatefulSet", "Service", "NetworkPolicy"}
    for manifest in found.values():
        kubernetes_validate.validate(manifest, version, strict=True)


def test_values_follow_the_charts_schema() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    for given in (values(), OTHERS):
        jsonschema.validate(given, schema)
    for wrong in (values(settings={"FOOTNOTE_X": 1}), values(storage={"size": "10"}), values(replicas=2)):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_the_pod_runs_without_rights_and_alone() -> None:
    stateful = manifests(values())["StatefulSet"]["spec"]
    pod = stateful["template"]["spec"]
    (bot,) = pod["containers"]
    assert stateful["replicas"] == 1
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    assert bot["securityContext"]["readOnlyRootFilesystem"]
    assert bot["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert {each["mountPath"] for each in bot["volumeMounts"]} == {"/data", "/tmp"}
    assert pod["terminationGracePeriodSeconds"] > settings.read({}).chat.grace_seconds


def test_changed_values_arrive() -> None:
    found = manifests(OTHERS)
    (bot,) = found["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    assert bot["image"] == "registry.example.org/bot:0.2.0"
    assert found["ConfigMap"]["data"] == OTHERS["settings"]
    assert found["StatefulSet"]["spec"]["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "fast"
    (rule,) = found["NetworkPolicy"]["spec"]["ingress"]
    assert rule["ports"] == [{"port": "metrics"}]


def test_versions_are_those_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    chart = read((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["appVersion"] == project


def test_variables_of_chart_and_unit_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [path.read_text(encoding="utf-8") for path in (*TEMPLATES, CHART / "values.yaml", UNIT)]
    named = set(re.findall(r"\bFOOTNOTE_[A-Z_]+(?==|:|\n)", "\n".join(texts)))
    assert {"FOOTNOTE_METRICS__PORT", "FOOTNOTE_LOG_LEVEL", "FOOTNOTE_DATA_DIR"} <= named
    example = {
        "FOOTNOTE_METRICS__PORT": "9464",
        "FOOTNOTE_METRICS__HOST": "0.0.0.0",  # noqa: S104 - as in the chart
        "FOOTNOTE_LOG_LEVEL": "info",
    }
    for name, value in example.items():
        monkeypatch.setenv(name, value)
    assert settings.read().metrics.port == 9464


def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_gives_answers_time_and_leaves_bad_settings() -> None:
    found = unit()
    assert float(found["TimeoutStopSec"][0]) > settings.read({}).chat.grace_seconds
    assert found["RestartPreventExitStatus"] == [str(EXIT_MISCONFIGURED)]


@pytest.mark.process
@pytest.mark.skipif(SYSTEMD is None, reason="systemd is not installed")
def test_systemd_understands_the_unit_and_finds_it_closed() -> None:
    verified = subprocess.run(
        [str(SYSTEMD), "verify", str(UNIT)], capture_output=True, text=True, check=False, timeout=60
    )
    lines = [line for line in verified.stderr.splitlines() if "footnote" in line]
    assert [line for line in lines if "is not executable" not in line] == []
    judged = subprocess.run(
        [str(SYSTEMD), "security", "--offline=true", "--threshold=25", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert judged.returncode == 0, judged.stdout[-300:]
