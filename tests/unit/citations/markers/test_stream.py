"""Markers in streamed text: every form, place and split."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.citations import DraftAnswer, MarkerStream
from tests.hypothesis_profiles import examples
from tests.unit.citations.passages import in_pieces, numbered, streamed

PASSAGES = numbered(13, same=[(5, 6), (5, 7)])
LEAD = "This answer is long enough that its first characters are not held any more. "

FORMS = [
    "[12]", "[ 12 ]", "[ID:12]", "[ID: 12]", "[ ID : 12 ]", "(ID: 12)", "(id:12)", "【12】", "【ID:12】", "【ID: 12】", "[^12]",
    "(source 12)", "[source 12]", "(Source: 12)", "[Source #12]", "[12†source]", "【12†L3-L5】", "##12$$", "#12#", "[#12]",
    '<source id="12">', "<source id='12'/>", "<source id=12 name=\"a b.pdf\">", "<cite>12</cite>", "<ref>[12]</ref>",
    "ref 12", "ref. 12", "REF12", "[１２]", "【１２】", "［12］", "[١٢]", "[۱۲]", "~~[12]~~", "~~ [12] ~~", "**[12]**", "*[12]*", "^[12]^",
    "<sup>[12]</sup>", "[[12]]", "[12, p. 3]", "(资料：12)", "（来源：12）", "(Quelle: 12)", "(fuente 12)", "[doc 12]",
]  # fmt: skip

SEVERAL = [
    ("Fact [1, 2].", "Fact [1][2]."),
    ("Fact [1][2].", "Fact [1][2]."),
    ("Fact [1] [2].", "Fact [1][2]."),
    ("Fact [1], [2] and [3].", "Fact [1][2] and [3]."),
    ("Fact [1-3].", "Fact [1][2][3]."),
    ("Fact [2–4].", "Fact [1][2][3]."),
    ("Fact [ID:1, ID:5].", "Fact [1][2]."),
    ("Fact (Sources: 3, 4).", "Fact [1][2]."),
    ("Fact (sources 1 and 2).", "Fact [1][2]."),
    ("Fact ~~[1][2]~~.", "Fact [1][2]."),
    ("事实【1】【2】。", "事实 [1][2]。"),
    ("Fact [5][6][7].", "Fact [1]."),
    ("Fact [9]. Other [2]. Again [9].", "Fact [1]. Other [2]. Again [1]."),
    ("a [1][2][3][4][5][8].", "a [1][2][3][4]."),
    ("Fact [1] and more [1].", "Fact [1] and more."),
    ("Fact [1]. [1] Other [1].", "Fact [1]. Other [1]."),
]

PLACES = [
    ("x. [1]", "x [1]."),
    ("x.[1]", "x [1]."),
    ("x [1].", "x [1]."),
    ("Word[1].", "Word [1]."),
    ("x [1] .", "x [1]."),
    ("x. [1].", "x [1]."),
    ("x. [1] Next.", "x [1]. Next."),
    ("x.[1] Next.", "x [1]. Next."),
    ("x.[1]Next.", "x [1].Next."),
    ("x.\n[1]\n\nNext.", "x [1].\n\nNext."),
    ("x.\n\n[1] The handbook.", "x.\n\n[1] The handbook."),
    ("x! [1] Y", "x [1]! Y"),
    ("x… [1] Y", "x [1]… Y"),
    ("“Quoted.” [1] Y", "“Quoted [1].” Y"),
    ("(In brackets.) [1] Y", "(In brackets [1].) Y"),
    ("**Bold.** [1] Y", "**Bold [1].** Y"),
    ("e.g. [1] in the text", "e.g. [1] in the text"),
    ("x [1] goes on", "x [1] goes on"),
    ("x [1], but y", "x [1], but y"),
    ("x [1] , but y", "x [1], but y"),
    ("天空是蓝的。[1]草是绿的。[2]", "天空是蓝的 [1]。草是绿的 [2]。"),
    ("空は青い。【1】草は緑。", "空は青い [1]。草は緑。"),
    ("([1])", "([1])"),
    ("- [1] item\n- item [2]\n", "- [1] item\n- item [2]"),
    ("| a [1] | bee[2] |", "| a [1] | bee [2] |"),
    ("[1] says so.", "[1] says so."),
    ("According to [2], it is so.", "According to [1], it is so."),
    ('<source id="2">The sky is blue.</source> Next', "The sky is blue [1]. Next"),
    ('<source id="2">The sky is blue.\nNext', "The sky is blue [1].\nNext"),
]

GONE = [
    ("Fact [99].", "Fact.", 1),
    ("Fact [0].", "Fact.", 1),
    ("Fact [99] and more.", "Fact and more.", 1),
    ("Fact [98] [99], and more.", "Fact, and more.", 2),
    ("Fact [1, 99].", "Fact [1].", 1),
    ("Fact. [99] Next.", "Fact. Next.", 1),
    ("Fact (ID: 99).", "Fact.", 1),
    ("Fact 【4:0†source】.", "Fact.", 1),
    ("Fact [1", "Fact", 1),
    ("Fact 【ID: 1", "Fact", 1),
]

ORDINARY = [
    "array[3] and x[1] and my_list[2] = 4 and data[0]",
    "[note] and [2024] and [1.5] and [12:30] and [a-z] and [0-9]",
    "(see page 3) and (1) and (2024)",
    "- [ ] open\n- [x] done",
    "[text](https://example.org/a) and [a](b.md)",
    "[1](https://example.org/1) is a link",
    "href 3 and pref12 and ref 3 mm and reference 4.",
    "https://example.org/[1]/(ID:1)?q=a[2]&b=#1# is an address",
    "www.example.org/a[1]b is one too",
    "see [here](http://example.org/[1]) now",
    "# Heading\n## Another\n#channel and #1 and C# 1",
    "2 * 3 * 4, **bold**, _it_, snake_case_name, ~~gone~~",
    "a < b and c > d and <b>bold</b> and x<sup>2</sup>",
    "`arr[1]` and ``a ` [2]`` and `[ID:3]`",
    "```python\nx = a[1]  # [2]\n```",
    "~~~\n[1] (ID: 2)\n~~~",
    "1. one\n   ```\n   [1]\n   ```\n2. two",
    "unclosed:\n```\n[1] and [2]\n",
    "the scale [1-9] and [3-1]",
    "5 > 3; \"quoted\" 'text' — dash… and 3.14",
    "ends with a bracket [",
    "(id est) and (source code) and [source] and (ref)",
]

TAGS = [
    ("<answer>Yes [1].</answer>", "Yes [1]."),
    ("<sources>a</sources> b", "a b"),
    ('<passage id="2" title="x y.pdf">Text</passage>.', "Text [1]."),
    ("A </source> b", "A b"),
]


def _without_numbers(text: str) -> str:
    return re.sub(r" ?\[\d+\]", "", text)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_becomes_the_clean_one(form: str) -> None:
    assert streamed(f"Fact {form}.", PASSAGES).text == "Fact [1]."
    assert (
        streamed(f"{LEAD}Fact {form}. Then it went on.", PASSAGES).text == f"{LEAD}Fact [1]. Then it went on."
    )


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_ever_seen_while_it_comes(form: str) -> None:
    stream, seen = MarkerStream(PASSAGES), ""
    for piece in f"{LEAD}Fact {form}. Then it went on.":
        seen += stream.feed(piece)
        assert f"{LEAD}Fact [1]. Then it went on.".startswith(seen)


@pytest.mark.parametrize(("written", "shown"), SEVERAL + PLACES + TAGS)
def test_placement_and_numbering(written: str, shown: str) -> None:
    assert streamed(written, PASSAGES).text == shown
    assert streamed(LEAD + written, PASSAGES).text == LEAD + shown


@pytest.mark.parametrize(("written", "shown", "invalid"), GONE)
def test_unknown_numbers_go_and_are_counted(written: str, shown: str, invalid: int) -> None:
    draft = streamed(written, PASSAGES)
    assert (draft.text, draft.invalid) == (shown, invalid)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_survives(text: str) -> None:
    assert streamed(text, PASSAGES).text.rstrip() == text.rstrip()
    assert not streamed(text, PASSAGES).marks


@pytest.mark.parametrize(
    "text",
    [text for text, *_ in SEVERAL + PLACES + TAGS + GONE]
    + ORDINARY
    + [f"Fact {form}. Next" for form in FORMS],
)
def test_every_cut_gives_the_same(text: str) -> None:
    for source in (text, LEAD + text):
        whole = streamed(source, PASSAGES)
        for cut in range(len(source) + 1):
            assert in_pieces((source[:cut], source[cut:]), PASSAGES) == whole
        assert streamed(source, PASSAGES, size=1) == whole


def test_without_passages_no_marker_is_left() -> None:
    draft = streamed("Fact [1]. Another (ID: 2) 【3】.", [])
    assert (draft.text, draft.marks, draft.invalid) == ("Fact. Another.", (), 3)


def test_marks_say_which_passages_a_number_cites() -> None:
    draft = streamed("One [6][2]. Two [5] and [7].", PASSAGES)
    assert draft.text == "One [1][2]. Two [1] and."
    assert [(mark.number, mark.passages) for mark in draft.marks] == [(1, (5,)), (2, (1,)), (1, (4, 6))]
    assert [draft.text[mark.start : mark.end] for mark in draft.marks] == [" [1]", "[2]", " [1]"]


def test_the_cap_of_a_sentence_is_counted() -> None:
    draft = streamed("A [1][2][3] b [4][5][8]. C [9]. D [1].", PASSAGES)
    assert draft.text == "A [1][2][3] b [4]. C [5]. D [1]."
    assert draft.dropped == 2


def test_only_markers() -> None:
    assert streamed("[1][2][3]", PASSAGES).text == "[1][2][3]"
    assert streamed("[99]", PASSAGES).text == ""


def test_a_flood_of_markers_leaves_four() -> None:
    draft = streamed("Fact " + "[1][2][3][4][5][99]" * 500 + ".", PASSAGES)
    assert draft.text == "Fact [1][2][3][4]."
    assert draft.invalid == 500


THOUGHTS = [
    ("<think>I look at [1].</think>It is so [2].", "It is so [1]."),
    ("<think>\nA\n</think>\n\nIt is so [2].", "It is so [1]."),
    ("<Thinking>A</Thinking> It is so [2].", "It is so [1]."),
    ("Let me look at [1].</think>\n\nIt is so [2].", "It is so [1]."),
    ("</think>\n\nIt is so [2].", "It is so [1]."),
    ("Okay, the user wants to know. " * 20 + "</think>It is so [2].", "It is so [1]."),
    ("好的，用户想知道。" * 30 + "</think>是这样 [2]。", "是这样 [1]。"),
    (f"{LEAD}<think>more</think> It is so [2].", f"{LEAD}It is so [1]."),
    ("<think>never closed [1]", ""),
]


@pytest.mark.parametrize(("written", "shown"), THOUGHTS)
def test_reasoning_is_never_shown(written: str, shown: str) -> None:
    whole = streamed(written, PASSAGES)
    assert whole.text == shown
    assert whole.reasoning_shown == 0
    for size in (1, 2, 3, 7):
        stream, seen = MarkerStream(PASSAGES), ""
        for at in range(0, len(written), size):
            seen += stream.feed(written[at : at + size])
            assert shown.startswith(seen)
        assert seen + stream.close() == shown
        assert stream.draft.reasoning.strip() == whole.reasoning.strip()


def test_reasoning_that_comes_out_too_late_is_reported_and_can_be_foreseen() -> None:
    written = f"{LEAD}And so on, at length.</think>It is so [2]."
    late = streamed(written, PASSAGES)
    assert late.text[late.reasoning_shown :].strip() == "It is so [1]."
    foreseen = in_pieces(written, PASSAGES, reasoning_first=True)
    assert (foreseen.text, foreseen.reasoning_shown) == ("It is so [1].", 0)
    assert foreseen.reasoning.startswith(LEAD)


def test_a_model_wrongly_thought_to_reason_first_still_answers() -> None:
    assert in_pieces("It is so [2].", PASSAGES, reasoning_first=True).text == "It is so [1]."


def test_thinking_aloud_that_never_ends_is_an_answer() -> None:
    text = "The user asks for the manual, which says that it is so [2]."
    assert streamed(text, PASSAGES, size=3).text == text.replace("[2]", "[1]")


PIECES = [
    "[1]", "[2]", "[7]", "[99]", "[1, 2]", "[1-3]", "[1-9]", "(ID: 2)", "【1】", "##1$$", "#1#", "[^1]", "[1†s]", "~~[1]~~", "**[2]**",
    "ref 1", '<source id="2">', "</source>", "<source>", "<think>", "</think>", "<b>", "[", "]", "(", ")", "ID:", "#", "~~", "*", "**", "_",
    "`", "``", "```", "\n```\n", "~~~", "https://", "www.", "](", "[a](b)", ":", "//", " ", "  ", "\n", "\n\n", "\t", " " * 17, ".", ". ",
    "!", "?", "...", "." * 17, "。", "，", ",", ";", "a", "Foo", " bar ", "e.g", "r", "re", "ref", "1", "12", "é", "中", "「", "」", "”", '"',
    "- ", "1. ", "> ", "# ", "| a |", "x_y", "array", "=", "&", "<", "\u3000", "\u0661",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
OPENINGS = st.sampled_from(["", LEAD])


@given(OPENINGS, TEXTS, st.data())
@examples(400)
def test_any_cut_of_any_text_gives_the_same(opening: str, text: str, data: st.DataObject) -> None:
    source = opening + text
    whole = streamed(source, PASSAGES)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(source)))))
    pieces = [source[start:end] for start, end in zip([0, *cuts], [*cuts, len(source)], strict=True)]
    assert in_pieces(pieces, PASSAGES) == whole
    assert streamed(source, PASSAGES, size=1) == whole


@given(st.one_of(TEXTS, st.text(max_size=60)))
@examples(400)
def test_numbers_count_up_without_gaps_and_marks_lie_in_the_text(text: str) -> None:
    draft = streamed(LEAD + text, PASSAGES)
    highest = 0
    for mark in draft.marks:
        assert 1 <= mark.number <= highest + 1
        highest = max(highest, mark.number)
        assert draft.text[mark.start : mark.end].strip() == f"[{mark.number}]"
        assert len(set(mark.passages)) == len(mark.passages)
    assert not re.search(r"【\d|\(ID: ?\d|##\d+\$\$", _outside_code(draft))


def _outside_code(draft: DraftAnswer) -> str:
    """The text, or nothing if code, an address or a link may contain a marker."""
    return "" if re.search(r"[`<]|~~~|//|www|\]\(", draft.text) else draft.text


@given(st.text(alphabet="[]【】(（)ID:sourcef #$*_~.!…\n,;-ab", max_size=200))
@examples(300)
def test_little_is_held_back(text: str) -> None:
    stream, shown = MarkerStream(PASSAGES), 0
    for given_, piece in enumerate(LEAD + text, start=1):
        shown += len(stream.feed(piece))
        assert given_ - shown <= 64


@given(st.text(alphabet="abc de.,!?\n中。[]()1"))
def test_a_text_without_markers_is_shown_as_it_is(text: str) -> None:
    text = re.sub(r"[\[\]()1]", "", text)
    assert streamed(LEAD + text, PASSAGES).text.rstrip() == (LEAD + text).rstrip()


def seconds_for(characters: int) -> float:
    sentence = "The notice period is four weeks to the end of a month [1]. Holidays, says the handbook, are granted by the lead [2][3]. "
    text = (sentence * (characters // len(sentence) + 1))[:characters]
    stream = MarkerStream(PASSAGES)
    started = time.process_time()
    for at in range(0, len(text), 3):
        stream.feed(text[at : at + 3])
    stream.close()
    return time.process_time() - started


@pytest.mark.slow
def test_time_grows_with_the_text_not_with_its_square() -> None:
    assert seconds_for(1_000_000) < 30 * seconds_for(100_000)  # linear is 10, quadratic 100


@pytest.mark.parametrize("begun", ["B", "Above 6", "So it is", "The use of", "我们"])
def test_an_answer_is_shown_from_its_first_words(begun: str) -> None:
    assert MarkerStream(PASSAGES).feed(begun).strip() == begun


@pytest.mark.parametrize(
    "unit",
    ["[1]", "a[1]", ". ", "[", "`", "```\nx\n", "<", "[1,1,", "<think>", "e.g. [1] a ", "\n", "http://a.b[1]", "**b** ", "~~[1]", "中【1】。"],
)  # fmt: skip
@pytest.mark.parametrize("length", [30_000, pytest.param(60_000, marks=pytest.mark.soak)])
def test_time_is_linear(unit: str, length: int) -> None:
    def seconds(length: int) -> float:
        stream, text = MarkerStream(PASSAGES), unit * (length // len(unit))
        started = time.process_time()
        for at in range(0, len(text), 3):
            stream.feed(text[at : at + 3])
        stream.close()
        return time.process_time() - started

    seconds(1_000)
    assert seconds(length) < max(20 * seconds(length // 6), 0.2)
