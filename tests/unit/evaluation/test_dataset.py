from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from rag_engine.errors import UserError
from rag_engine.evaluation.dataset import DatasetRow, count_documents, read_corpus, read_judgements

if TYPE_CHECKING:
    from pathlib import Path

_CORPUS = '{"id": "a", "title": "A title", "text": "A text", "meta": {}}\n{"id": "b", "text": "没有标题"}\n'
_QUERIES = '{"id": "1", "text": "first"}\n{"id": "2", "text": "second"}\n{"id": "3", "text": "unjudged"}\n'
_QRELS = "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t2\n2\ta\t0\n9\ta\t1\n"


def _folder(path: Path, *, corpus: str = _CORPUS, queries: str = _QUERIES, qrels: str = _QRELS) -> Path:
    for name, text in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels.tsv", qrels)):
        (path / name).write_bytes(text.encode())
    return path


def _read_all(folder: Path) -> None:
    read_judgements(folder)
    list(read_corpus(folder))


def test_a_folder_is_read(tmp_path: Path) -> None:
    folder = _folder(tmp_path)

    assert list(read_corpus(folder)) == [
        DatasetRow(id="a", title="A title", text="A text"),
        DatasetRow(id="b", title="", text="没有标题"),
    ]
    assert count_documents(folder) == 2
    judged = read_judgements(folder)
    assert judged.questions == {"1": "first", "2": "second"}
    assert judged.grades == {"1": {"a": 1}, "2": {"b": 2, "a": 0}}


def test_compressed_files_are_read_too(tmp_path: Path) -> None:
    plain = _folder(tmp_path)
    expected = list(read_corpus(plain)), read_judgements(plain)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        (tmp_path / name).unlink()

    assert (list(read_corpus(tmp_path)), read_judgements(tmp_path)) == expected


def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    dirty = {
        name: "\ufeff" + text.replace("\n", "\r\n") + "\r\n\r\n"
        for name, text in (("corpus", _CORPUS), ("queries", _QUERIES), ("qrels", _QRELS))
    }
    folder = _folder(tmp_path, **dirty)

    assert [row.id for row in read_corpus(folder)] == ["a", "b"]
    assert read_judgements(folder).grades == {"1": {"a": 1}, "2": {"b": 2, "a": 0}}


@pytest.mark.parametrize(
    "qrels",
    [
        "1\ta\t1\n2\tb\t2\n2\ta\t0\n",
        "1 0 a 1\n2 0 b 2\n2 0 a 0\n",
        "1\t0\ta\t1\n2\t0\tb\t2\n2\t0\ta\t0\n",
        "qid\tdocid\trel\n1\ta\t1.0\n2\tb\t2.0\n2\ta\t0.0\n",
    ],
)
def test_judgements_in_other_forms(qrels: str, tmp_path: Path) -> None:
    assert read_judgements(_folder(tmp_path, qrels=qrels)).grades == {"1": {"a": 1}, "2": {"b": 2, "a": 0}}


def test_ids_may_hold_blanks_and_be_numbers(tmp_path: Path) -> None:
    folder = _folder(
        tmp_path,
        corpus='{"_id": "Lilu (mythology)", "title": null, "text": "x"}\n{"id": 7, "text": "y"}\n',
        queries='{"_id": 1, "text": "who?"}\n',
        qrels="1\tLilu (mythology)\t1\n1\t7\t1\n",
    )

    assert [row.id for row in read_corpus(folder)] == ["Lilu (mythology)", "7"]
    assert read_judgements(folder).grades == {"1": {"Lilu (mythology)": 1, "7": 1}}


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="There is no folder"):
        read_judgements(tmp_path / "nowhere")


@pytest.mark.parametrize("missing", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_file_that_is_not_there_is_named(missing: str, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / missing).unlink()

    with pytest.raises(UserError, match=f"{missing}.gz"):
        _read_all(folder)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    [
        ({"corpus": '{"id": "a"}\n{"id":'}, r"corpus.jsonl, line 2: this is no JSON\."),
        ({"corpus": "[1]\n"}, r"corpus.jsonl, line 1: this is no JSON object\."),
        ({"corpus": '{"text": "x"}\n'}, r"corpus.jsonl, line 1: there is no id\."),
        ({"queries": '{"text": "x"}\n'}, r"queries.jsonl, line 1: there is no id\."),
        ({"qrels": "query\tdocument\tgrade\n1\ta\tmany\n"}, r"qrels.tsv, line 2: expected"),
        ({"qrels": "1\ta\t1\nonly\n"}, r"qrels.tsv, line 2: expected"),
        ({"qrels": "1\ta\tb\tc\t1\n"}, r"qrels.tsv, line 1: expected"),
        ({"qrels": "8\ta\t1\n"}, "No question of"),
    ],
)
def test_unreadable_parts_are_reported_with_their_place(
    broken: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    folder = _folder(tmp_path, **broken)

    with pytest.raises(UserError, match=sentence):
        _read_all(folder)


@pytest.mark.parametrize("content", [b"no gzip at all", gzip.compress(_CORPUS.encode(), mtime=0)[:-9], b""])
def test_a_damaged_archive_is_reported(content: bytes, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "corpus.jsonl").unlink()
    (folder / "corpus.jsonl.gz").write_bytes(content)

    if content:
        with pytest.raises(UserError, match="cannot be read"):
            list(read_corpus(folder))
    else:
        assert list(read_corpus(folder)) == []


def test_text_in_another_encoding_is_reported(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "corpus.jsonl").write_bytes('{"id": "a", "text": "Größe"}'.encode("latin-1"))

    with pytest.raises(UserError, match="cannot be read"):
        list(read_corpus(folder))
