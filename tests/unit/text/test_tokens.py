from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_engine.text import tokens

SHARED = Path(__file__).parents[3].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is absent")

words = st.text(alphabet="ab cé中文🙂👩‍👧.!? \n", max_size=300)


@given(words, st.integers(0, 80))
def test_a_cut_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    kept = tokens.cut(text, limit, count=tokens.estimate)
    assert text.startswith(kept)
    assert kept == "" or tokens.estimate(kept) <= limit


@given(words)
def test_what_fits_is_not_cut(text: str) -> None:
    enough = len(text.encode()) + 1
    assert tokens.cut(text, enough, count=tokens.estimate) == text
    assert tokens.cut_middle(text, enough, count=tokens.estimate) == text


@example(text=" ??????👧", limit=10)
@example(text="?é\u200d\u200d👧 ", limit=13)
@given(words, st.integers(0, 80))
def test_a_cut_in_the_middle_stays_within_the_limit(text: str, limit: int) -> None:
    kept = tokens.cut_middle(text, limit, count=tokens.estimate)
    assert kept == "" or tokens.estimate(kept) <= limit
    if tokens.OMISSION in kept:
        head, tail = kept.split(tokens.OMISSION)
        assert text.startswith(head.rstrip())
        assert text.endswith(tail.lstrip())


def test_cuts_fall_between_sentences_and_never_inside_a_grapheme() -> None:
    text = "One two three. Four five six. Seven eight nine."
    assert tokens.cut(text, 32, count=len) == "One two three. Four five six. "
    family = "👩‍👩‍👧‍👦"
    assert tokens.cut(family * 5, 3 * len(family) + 3, count=len) == family * 3
    assert tokens.cut_middle("First. " + "x" * 500 + " Last.", 60, count=len).endswith("Last.")


@given(st.text(max_size=200))
def test_the_estimate_is_never_more_than_bytes(text: str) -> None:
    assert 0 <= tokens.estimate(text) <= len(text.encode("utf-8", "replace"))


@pytest.mark.slow
@needs_shared
def test_the_estimate_is_never_below_the_true_count_in_any_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(SHARED / "tiktoken"))
    import tiktoken

    encodings = [tiktoken.get_encoding(name) for name in ("o200k_base", "cl100k_base")]
    texts = [path.read_text(encoding="utf-8") for path in SHARED.glob("*.md")]
    for name in ("xquad-en", "xquad-es", "xquad-zh", "rgb-zh-pool", "scifact"):
        with gzip.open(SHARED / "data" / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as file:
            texts += [json.loads(line)["text"] for line in list(file)[:250]]
        with gzip.open(SHARED / "data" / name / "queries.jsonl.gz", "rt", encoding="utf-8") as file:
            texts += [json.loads(line)["text"] for line in list(file)[:100]]
    true = [max(len(encoding.encode_ordinary(text)) for encoding in encodings) for text in texts]
    estimated = [tokens.estimate(text) for text in texts]
    assert [text for text, low, high in zip(texts, true, estimated, strict=True) if high < low] == []
    assert sum(estimated) < 2.5 * sum(true)


@needs_shared
def test_special_tokens_count_as_the_text_they_are() -> None:
    assert tokens.count("<|endoftext|>") > 3
    assert tokens.count("") == 0
    assert tokens.count("hello world") == 2


@needs_shared
@pytest.mark.parametrize(
    "text",
    [" " * 1_000_000, "a" * 1_000_000, "\n" * 1_000_000, "The fox. " * 110_000],
    ids=["blanks", "letters", "line ends", "sentences"],
)
def test_a_megabyte_of_anything_is_counted_at_once(text: str) -> None:
    tokens.prepare()
    started = time.thread_time()
    assert tokens.count(text) > 1000
    assert time.thread_time() - started < 2


def test_a_vocabulary_that_never_arrives_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()

    def blocked() -> object:
        release.wait(30)
        raise OSError

    started = time.monotonic()
    with caplog.at_level(logging.WARNING):
        assert tokens.load_within(0.05, blocked) is None
    release.set()
    assert time.monotonic() - started < 5
    assert "TIKTOKEN_CACHE_DIR" in caplog.text


@pytest.mark.process
def test_without_a_vocabulary_tokens_are_estimated_and_said_once(tmp_path: Path) -> None:
    """In its own process, with a proxy that refuses every connection."""
    program = (
        "import logging; logging.basicConfig()\n"
        "from rag_engine.text import tokens\n"
        "assert tokens.count('hello world, again') == tokens.estimate('hello world, again') > 4\n"
        "assert tokens.count('more') == tokens.estimate('more')\n"
    )
    proxy = "http://127.0.0.1:9"
    environment = {
        **os.environ,
        "TIKTOKEN_CACHE_DIR": str(tmp_path),
        "HTTPS_PROXY": proxy,
        "https_proxy": proxy,
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("twice too high") == 1
