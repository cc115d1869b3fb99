from __future__ import annotations

import json
import tempfile
import time
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rich.console import Console
from rich.table import Table

from bot.composition.answer_laboratory import answer_laboratory
from bot.observability import Observers
from bot.observability.operations import ModelCall
from rag_engine.errors import UserError
from rag_engine.evaluation.answer_measures import CitedPassage, Outcome, curve, measures
from rag_engine.evaluation.answer_set import read_questions
from rag_engine.evaluation.corpus_index import index_corpus
from rag_engine.evaluation.dataset import find
from rag_engine.ingestion.blobs import blob_from_path
from rag_engine.types import BEST_PASSAGES, Answer, Query, Retrieval

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Mapping, Sequence

    from bot.composition.components import Application
    from bot.observability.operations import Operation
    from bot.settings import Settings
    from rag_engine.engine import Engine
    from rag_engine.evaluation.answer_set import GoldQuestion
    from rag_engine.pipeline import NamedStep
    from rag_engine.ports import LanguageModel
    from rag_engine.types import DocumentId, KnowledgeBaseId

    Progress = Callable[[str, int, int], None]

_SCOPE = "evaluation"
_QUOTING = "extractive"
_NEEDED = frozenset({"retrieve", "fuse", "pack"})


@dataclass(slots=True)
class _ModelCalls:
    calls: list[ModelCall] = field(default_factory=list[ModelCall])

    @contextmanager
    def around(self, operation: Operation) -> Generator[None]:
        try:
            yield
        finally:
            if isinstance(operation, ModelCall) and operation.model != _QUOTING:
                self.calls.append(operation)

    def depth(self, queue: str, read: Callable[[], float]) -> None:
        pass

    def waited(self, database: str, seconds: float) -> None:
        pass

    def circuit(self, backend: str, state: str) -> None:
        pass


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corpus:
    knowledge_base: KnowledgeBaseId
    names: Mapping[DocumentId, str]
    unread: Mapping[str, str]

    def name(self, document: DocumentId) -> str:
        return self.names.get(document, document)


async def run(folder: Path, arguments: argparse.Namespace, settings: Settings, progress: Progress) -> int:
    questions = read_questions(folder)
    calls = _ModelCalls()
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as temporary:
        async with answer_laboratory(
            settings,
            Path(temporary),
            index_kind=arguments.index,
            observers=Observers(sinks=(calls,)),
        ) as application:
            reduced = _without(application.engine, arguments.without)
            corpus = await _fill(folder, application, progress)
            _check(questions, corpus)
            measured = await _measured(questions, corpus, application, calls, arguments, progress)
            if reduced is not application.engine:
                poorer = replace(application, engine=reduced)
                measured["without"] = await _measured(questions, corpus, poorer, calls, arguments, progress)
    if arguments.json:
        print(json.dumps(measured, ensure_ascii=False, indent=2))
    else:
        _print(measured, arguments.without, Console(highlight=False))
    return 0


def _without(engine: Engine, step: str) -> Engine:
    if not step:
        return engine
    names = [
        named.name for named in (*engine.search_steps, *engine.prompt_steps) if named.name not in _NEEDED
    ]
    if step not in names:
        raise UserError(f"--without takes one of the steps {', '.join(names)}.")
    steps_for = engine.prompt_steps_for

    def kept(steps: Sequence[NamedStep]) -> list[NamedStep]:
        return [named for named in steps if named.name != step]

    def kept_for(model: LanguageModel) -> list[NamedStep]:
        return kept(steps_for(model)) if steps_for else []

    return replace(
        engine,
        search_steps=kept(engine.search_steps),
        prompt_steps=kept(engine.prompt_steps),
        prompt_steps_for=kept_for if steps_for else None,
    )


async def _fill(folder: Path, application: Application, progress: Progress) -> _Corpus:
    library = application.library
    base = await library.catalog.open(_SCOPE, model=library.embedder.model)
    files = folder / "files"
    if not files.is_dir():
        find(folder, "corpus.jsonl")
        await index_corpus(
            folder,
            knowledge_base=base.id,
            embedder=library.cached_embedder,
            index=library.index,
            splitter=library.splitter,
            progress=progress,
        )
        return _Corpus(knowledge_base=base.id, names={}, unread={})
    names: dict[DocumentId, str] = {}
    unread: dict[str, str] = {}
    paths = sorted(path for path in files.rglob("*") if path.is_file())
    for number, path in enumerate(paths, 1):
        name = path.relative_to(files).as_posix()
        try:
            blob = await blob_from_path(path, max_bytes=library.max_file_bytes)
            record = (await library.ingestion.ingest(blob, knowledge_base=base.id)).record
        except UserError as error:
            unread[name] = str(error)
        else:
            names[record.document.id] = name
            if record.state == "failed":
                unread[name] = record.reason
        progress("reading", number, len(paths))
    if not names:
        raise UserError(f"{files} has no file that can be read.")
    return _Corpus(knowledge_base=base.id, names=names, unread=unread)


def _check(questions: Sequence[GoldQuestion], corpus: _Corpus) -> None:
    if not corpus.names:
        return
    known = set(corpus.names.values())
    for question in questions:
        for document in question.documents:
            if document not in known:
                raise UserError(f"questions.jsonl names {document}, which is not in files/.")


async def _measured(
    questions: Sequence[GoldQuestion],
    corpus: _Corpus,
    application: Application,
    calls: _ModelCalls,
    arguments: argparse.Namespace,
    progress: Progress,
) -> dict[str, object]:
    outcomes: list[Outcome] = []
    for question in questions:
        calls.calls.clear()
        outcome = await _outcome(question, corpus, application)
        outcomes.append(
            replace(
                outcome,
                calls=len(calls.calls),
                prompt_tokens=sum(call.prompt_tokens for call in calls.calls),
                reply_tokens=sum(call.reply_tokens for call in calls.calls),
            )
        )
        progress("asking", len(outcomes), len(questions))
    prices = tuple(arguments.prices) if arguments.prices else None
    found = measures(outcomes, prices=cast("tuple[float, float] | None", prices))
    found["curve"] = curve(outcomes)
    if corpus.unread:
        found["unread"] = dict(corpus.unread)
    return found


async def _outcome(question: GoldQuestion, corpus: _Corpus, application: Application) -> Outcome:
    query = Query(
        text=question.text,
        knowledge_bases=frozenset({corpus.knowledge_base}),
        scope=_SCOPE,
        limit=application.settings.answering.passages or BEST_PASSAGES,
        exact_limit=application.settings.answering.passages is not None,
    )
    started = time.perf_counter()
    texts: dict[str, str] = {}
    answer: Answer | None = None
    async with aclosing(application.engine.answer(query)) as events:
        async for event in events:
            if isinstance(event, Retrieval):
                texts = {hit.chunk.id: hit.chunk.text for hit in event.hits}
            elif isinstance(event, Answer):
                answer = event
    if answer is None:
        raise RuntimeError("the engine ended a reply without an answer")
    seconds = time.perf_counter() - started
    trace = await application.library.storage.history.trace(answer.turn)
    judged = trace.details.get("evidence_judged") if trace else None
    probability = (
        cast("Mapping[str, object]", judged).get("probability") if isinstance(judged, dict) else None
    )
    return Outcome(
        question=question,
        text=answer.text,
        cited=tuple(
            CitedPassage(
                document=corpus.name(citation.document),
                quote=citation.quote,
                text=texts.get(citation.chunk, citation.quote),
            )
            for citation in answer.citations
        ),
        probability=probability if isinstance(probability, float) else None,
        seconds=seconds,
    )


def _print(measured: Mapping[str, object], without: str, console: Console) -> None:
    poorer = cast("Mapping[str, object]", measured.get("without", {}))
    columns = ("", "measured", *((f"without {without}", "difference") if poorer else ()))
    table = Table(*columns, box=None, pad_edge=False)
    for name, value, other in _rows(measured, poorer):
        cells = [name, _shown(value)]
        if poorer:
            numbers = isinstance(value, int | float) and isinstance(other, int | float)
            cells += [_shown(other), f"{value - other:+.4g}" if numbers else ""]  # pyright: ignore
        table.add_row(*cells)
    console.print(table)
    if points := cast("Sequence[Mapping[str, float]]", measured.get("curve", ())):
        lines = Table("line", "abstained", "refused", box=None, pad_edge=False)
        for point in points:
            lines.add_row(*(f"{point[name]:.2f}" for name in ("line", "abstained", "refused")))
        console.print(lines)
    for name, reason in cast("Mapping[str, str]", measured.get("unread", {})).items():
        console.print(f"{name}: {reason}", markup=False)


def _rows(
    values: Mapping[str, object], others: Mapping[str, object], above: str = ""
) -> Generator[tuple[str, object, object]]:
    for name, value in values.items():
        if name in {"curve", "without", "unread"}:
            continue
        other = others.get(name)
        if isinstance(value, dict):
            inner = cast("Mapping[str, object]", other if isinstance(other, dict) else {})
            yield from _rows(cast("Mapping[str, object]", value), inner, f"{above}{name} ")
        else:
            yield f"{above}{name}".replace("_", " "), value, other


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else f"{value}"
