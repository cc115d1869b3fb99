"""Random Markdown as language models write it, and as nobody would."""

from __future__ import annotations

from hypothesis import strategies as st

_WRITTEN = (
    "leave policy days **bold** *slanted* __strong__ ~~gone~~ `code` `` a`b `` [1] [2] [12] a_b_c x*y 日本語。 中文，你好 "
    "[text](https://ok.example/a) [text](https://evil.example/b) https://ok.example/a https://evil.example/c evil.com "
    "www.evil.com <https://ok.example/a> <b>x</b> <br> List<String> a|b ![pic](https://evil.example/p.png) [ref][1] "
    "\\* \\` ` ** [ ]( <!channel> <@U1> @everyone @here &lt; AT&T 3.5 e.g. README.md 👩‍👩‍👧‍👦 é́ | || __init__ ( ) ! # - > 1. "
    "a@b.com mailto:x@y.zz javascript:alert(1) _x_ http:// :// @ < & \\ ] [x](y z) [a [b](https://ok.example/a) c]"
)
WORDS = _WRITTEN.split()

words = st.sampled_from(WORDS)
sentence = st.lists(words, min_size=1, max_size=14).map(" ".join)
paragraph = st.lists(sentence, min_size=1, max_size=3).map("\n".join)
heading = st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 6), sentence)
bullets = st.lists(
    st.builds(
        lambda depth, mark, text: "  " * depth + mark + " " + text,
        st.integers(0, 2),
        st.sampled_from(["-", "*", "+", "- [ ]", "- [x]"]),
        sentence,
    ),
    min_size=1,
    max_size=6,
).map("\n".join)
numbers = st.lists(
    st.builds(
        lambda depth, mark, text: "   " * depth + mark + " " + text,
        st.integers(0, 2),
        st.sampled_from(["1.", "2.", "1)", "10."]),
        sentence,
    ),
    min_size=1,
    max_size=6,
).map("\n".join)
code = st.builds(
    lambda fence, language, lines, closed: (
        f"{fence}{language}\n" + "\n".join(lines) + (f"\n{fence}" if closed else "")
    ),
    st.sampled_from(["```", "~~~", "````"]),
    st.sampled_from(["", "py", "c++ title=x"]),
    st.lists(st.one_of(sentence, st.sampled_from(["", "    deep", "```", "x ``` y", "<!here>"])), max_size=6),
    st.sampled_from([True, True, True, False]),
)
cell = st.lists(words.filter(lambda word: "|" not in word), min_size=0, max_size=3).map(" ".join)


def _table(columns: int, rows: list[list[str]]) -> str:
    padded = [(row + [""] * columns)[:columns] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in padded]
    return "\n".join([lines[0], "|" + "---|" * columns, *lines[1:]])


table = st.builds(
    _table, st.integers(1, 5), st.lists(st.lists(cell, min_size=1, max_size=5), min_size=1, max_size=8)
)
rule = st.sampled_from(["---", "***", "___", "- - -"])
plain_block = st.one_of(paragraph, heading, bullets, numbers, code, table, rule)
quote = plain_block.map(lambda text: "\n".join("> " + line for line in text.split("\n")))
in_item = plain_block.map(lambda text: "- item\n" + "\n".join("  " + line for line in text.split("\n")))
block = st.one_of(plain_block, plain_block, plain_block, quote, in_item)
separator = st.sampled_from(["\n\n", "\n\n", "\n\n", "\n", "\n\n\n"])
markdown = st.lists(st.tuples(block, separator), min_size=1, max_size=6).map(
    lambda blocks: "".join(text + gap for text, gap in blocks)
)
noise = st.text(
    alphabet=st.sampled_from(list("ab1 \n`*_~[]()<>!|#->.:/\\@&;=+x\t日。é")), min_size=0, max_size=120
)
texts = st.one_of(markdown, markdown, noise)
