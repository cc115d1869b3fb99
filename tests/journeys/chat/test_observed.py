"""Metrics, dashboard, alerts and traces of `footnote run`."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import promql_parser
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families
from ruamel.yaml import YAML

from tests.conftest import PROJECT
from tests.doubles import collector_server, flaky_index
from tests.doubles.chats import PLATFORMS
from tests.doubles.fetching import fetch
from tests.doubles.model_servers.openai_server import refused, streamed
from tests.journeys.chat.interrupted import HANDBOOK, WHOLE
from tests.journeys.chat.scenario import Scenario, file, scenario

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from tests.doubles.collector_server import Collector, Span

pytestmark = pytest.mark.asyncio(loop_scope="module")

TURNS = 5
STEPS = sorted(path.stem for path in (PROJECT / "rag_engine" / "steps").glob("[!_]*.py"))
DEPLOY = PROJECT / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "footnote.json").read_text(encoding="utf-8"))
RULES = YAML(typ="safe").load(DEPLOY / "prometheus" / "footnote.rules.yml")
HAPPENS_SELDOM = {"footnote_recoveries_total", "footnote_troubles_total"}
"""Metrics that stay empty in this module."""
ADDED_BY_PROMETHEUS = {"job", "instance"}


@dataclass(kw_only=True)
class Watched:
    """A bot after answers, files and faults."""

    town: Scenario
    collector: Collector
    samples: Mapping[str, list[dict[str, str]]]
    """The labels of every sample, by name."""
    text: str
    lines: list[dict[str, Any]]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=PLATFORMS)
async def watched(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Watched]:
    folder = tmp_path_factory.mktemp(request.param)
    flaky_index.install(folder)
    async with collector_server.serve() as collector:
        settings = {
            **flaky_index.ENVIRONMENT,
            "FOOTNOTE_METRICS__PORT": "0",
            "FOOTNOTE_TRACING__ENDPOINT": collector.url,
            "FOOTNOTE_MODEL__RETRIES": "0",
            "FOOTNOTE_BREAKERS__FAILURES": "1",
            "FOOTNOTE_BREAKERS__REST_SECONDS": "600",
        }
        async with scenario(request.param, folder, **settings) as town:
            await _morning(town)
            started = next(line for line in _lines(town) if line["event"] == "metrics")
            text = await asyncio.to_thread(fetch, started["url"])
        yield Watched(town=town, collector=collector, samples=_samples(text), text=text, lines=_lines(town))


async def _morning(town: Scenario) -> None:
    room = town.room()
    await town.knows(room, HANDBOOK)
    broken = file("zebrafinch.pdf", "%PDF-1.7 zebrafinch")
    await town.says("ada", room, "@footnote", files=(broken,))
    for number, reply in enumerate((streamed(WHOLE), refused(503, message="zebrafinch"))):
        town.model.on(reply, task="answer", times=1)
        question = await town.says("ben", room, f"@footnote How long are logs of zebrafinch {number} kept?")
        await town.answered("ben", room, question)
    away = town.folder / "data" / flaky_index.AWAY
    away.touch(0o600)
    question = await town.says(
        "ben", room, "@footnote How long are logs of zebrafinch kept without an index?"
    )
    await town.answered("ben", room, question)
    away.unlink()
    await town.bot.until(lambda: sum(line["event"] == "answered" for line in _lines(town)) == TURNS)


def _lines(town: Scenario) -> list[dict[str, Any]]:
    return [json.loads(line) for line in town.bot.log().splitlines()]


def _samples(text: str) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(text):
        total = f"{family.name}_total" if family.type == "counter" else family.name
        found.setdefault(f"{total}_bucket" if family.type == "histogram" else total, [])
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


# --- counters


async def test_questions_writes_models_and_files_are_counted(watched: Watched) -> None:
    platform = watched.town.chat.platform
    values = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(watched.text)
        for sample in family.samples
    }

    def counted(name: str, /, **labels: str) -> float:
        return values[name, tuple(sorted(labels.items()))]

    assert counted("footnote_turns_total", platform=platform, outcome="final") == 4
    assert counted("footnote_turns_running", platform=platform) == 0
    assert counted("footnote_events_total", platform=platform, kind="message") >= 4
    assert counted("footnote_turns_total", platform=platform, outcome="failed") == 1
    assert counted("footnote_turn_first_text_seconds_count", platform=platform) == TURNS
    assert counted("footnote_model_calls_total", model="scripted", task="answer", outcome="ok") == 1
    assert counted("footnote_model_calls_total", model="scripted", task="answer", outcome="unavailable") == 1
    assert counted("footnote_model_tokens_total", model="scripted", direction="reply") > 5
    assert counted("footnote_index_faults_total", backend="flaky", reason="unreachable") == 1
    assert counted("footnote_fallbacks_total", name="model_unavailable") == 1
    assert counted("footnote_circuit_open", backend="language model scripted") == 1
    assert counted("footnote_parsed_files_total", format="markdown", outcome="ok") == 1
    assert counted("footnote_parsed_files_total", format="pdf", outcome="rejected") == 1
    assert counted("footnote_index_passages_total") == 1
    assert counted("footnote_waiting", queue="answers") == counted("footnote_waiting", queue="files") == 0
    assert counted("footnote_stage_seconds_count", stage="retrieve") == 2
    written = [
        each
        for each in watched.samples["footnote_writes_total"]
        if each["action"] == "final" and each["outcome"] == "ok"
    ]
    assert written
    assert "zebrafinch" not in watched.text


# --- dashboard and alerts


def _queries() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for note in DASHBOARD["annotations"]["list"]:
        yield note["name"], note["expr"]
    for group in RULES["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]


def _inside(expression: Any) -> Iterator[Any]:
    """The expression and its parts."""
    yield expression
    for name in ("expr", "lhs", "rhs", "vector_selector", "param"):
        part = getattr(expression, name, None)
        if part is not None:
            yield from _inside(part)
    for part in getattr(expression, "args", ()):
        yield from _inside(part)


async def test_every_query_asks_for_what_is_shown(watched: Watched) -> None:
    for title, query in _queries():
        parsed = list(_inside(promql_parser.parse(query.replace("$__rate_interval", "5m"))))
        selectors = [each for each in parsed if isinstance(each, promql_parser.VectorSelector)]
        assert selectors, title
        known = set(ADDED_BY_PROMETHEUS).union(*(_labels(watched, each, title) for each in selectors))
        for each in parsed:
            if isinstance(each, promql_parser.AggregateExpr) and each.modifier is not None:
                assert set(each.modifier.labels) <= known, f"{title}: by {each.modifier.labels}"


def _labels(watched: Watched, selector: Any, title: str) -> set[str]:
    """The metric must exist, with every label in its selector."""
    name = selector.name
    if name == "up":  # Prometheus's own
        return ADDED_BY_PROMETHEUS
    assert name in watched.samples, f"{title}: there is no {name}"
    assert watched.samples[name] or name in HAPPENS_SELDOM, f"{title}: nothing was counted in {name}"
    labels = {label for sample in watched.samples[name] for label in sample} | ADDED_BY_PROMETHEUS
    for matcher in selector.matchers.matchers:
        assert matcher.name in labels, f"{title}: {name} has no {matcher.name}"
        values = {sample.get(matcher.name) for sample in watched.samples[name]} | {"throttled"}
        if matcher.op == promql_parser.MatchOp.Equal and matcher.name not in ADDED_BY_PROMETHEUS:
            assert matcher.value in values, f"{title}: {matcher.value} is never counted in {name}"
    return labels


async def test_every_label_in_a_legend_or_a_sentence_is_there(watched: Watched) -> None:
    told = {label for samples in watched.samples.values() for sample in samples for label in sample}
    legends = [target["legendFormat"] for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
    named = {label for legend in legends for label in re.findall(r"\{\{(\w+)\}\}", legend)}
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    named |= set(re.findall(r"\$labels\.(\w+)", json.dumps(rules)))
    assert named - told == {"fault"}  # rare


async def test_the_rules_are_whole() -> None:
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"].endswith((".", "?"))
        promql_parser.parse_duration(rule.get("for", "1s"))
    scraped = YAML(typ="safe").load(DEPLOY / "prometheus" / "prometheus.yml")
    assert scraped["rule_files"] == ["footnote.rules.yml"]
    assert scraped["scrape_configs"][0]["job_name"] == "footnote"


async def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + right, at["y"] + down) for right in range(at["w"]) for down in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


# --- traces


def _below(spans: list[Span], span: Span) -> list[str]:
    return sorted(each.name for each in spans if each.parent == span.id)


async def test_each_turn_is_one_trace_of_its_steps_calls_and_writes(watched: Watched) -> None:
    spans = watched.collector.spans
    turns = [span for span in spans if span.name == "turn"]
    assert len(turns) == len({span.trace for span in spans}) == TURNS
    assert {span.parent for span in turns} == {""}
    (answered,) = [each for each in turns if each.attributes.get("footnote.model") == "scripted"]
    assert answered.attributes["footnote.state"] == "final"
    assert answered.attributes["footnote.platform"] == watched.town.chat.platform
    assert answered.attributes["footnote.citations"] == 1
    own = [span for span in spans if span.trace == answered.trace]
    below = _below(own, answered)
    assert [name for name in below if not name.startswith("write")] == [
        *("embed query" for name in below if name == "embed query"),
        "model answer",
        *(f"step {name}" for name in STEPS),
    ]
    assert "write final" in below
    (retrieve,) = [span for span in own if span.name == "step retrieve"]
    assert _below(own, retrieve) == ["embed query", "index search"]
    (call,) = [span for span in own if span.name == "model answer"]
    assert 0 < float(call.attributes["footnote.first_text_seconds"]) <= call.seconds <= answered.seconds
    failed = sorted(span.name for span in spans if span.failed)
    assert failed == ["index search", "model answer", "step retrieve"]
    (taught, *_) = [span for span in spans if span.name == "parse" and not span.failed]
    assert taught.attributes["footnote.format"] in ("markdown", "pdf")


async def test_lines_of_the_log_name_the_trace_they_belong_to(watched: Watched) -> None:
    traces = {line["trace_id"]: line["turn"] for line in watched.lines if line["event"] == "answered"}
    assert set(traces) == {span.trace for span in watched.collector.spans}
    (warned,) = [
        line for line in watched.lines if line["event"].startswith("The language model answered 503")
    ]
    assert traces[warned["trace_id"]] == warned["turn"]
    assert warned["span_id"] in {span.id for span in watched.collector.spans}


async def test_traces_contain_no_user_text(watched: Watched) -> None:
    assert watched.collector.resource["service.name"] == "footnote"
    everything = b"".join(watched.collector.texts)
    for word in (b"zebrafinch", b"Logs", b"handbook", b"sk-test", b"ben"):
        assert word not in everything
