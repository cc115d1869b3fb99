from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.parsers.texts import markdown
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path


def test_front_matter_title(tmp_path: Path) -> None:
    content = '---\ntitle: "The Handbook"\ntags: [a]\n---\n\n# One\n\nFirst.\n\n# Two\n\nSecond.\n'
    assert places(parsed(tmp_path, markdown.parse, content)) == [
        ("§ The Handbook", ("The Handbook",), 'title: "The Handbook"\ntags: [a]'),
        ("§ One", ("The Handbook", "One"), "One\n\nFirst."),
        ("§ Two", ("The Handbook", "Two"), "Two\n\nSecond."),
    ]
    content = '+++\ntitle = "x"\n+++\n# The only title\nText.\n'
    assert parsed(tmp_path, markdown.parse, content)[-1].headings == ("The only title",)


def test_footnotes_tasks_terms_and_links(tmp_path: Path) -> None:
    content = """See [[Wiki Page|the page]], [[Other]] and[^a].

- [x] done
- [ ] open

Berth
: Where a ship lies.

> [!warning]- Careful
> Do not.

[^a]: The note.
"""
    assert [section.text for section in parsed(tmp_path, markdown.parse, content)] == [
        "See the page, Other and[^a].",
        "- [x] done\n- [ ] open",
        "Berth",
        ": Where a ship lies.",
        "Warning: Careful\nDo not.",
        "[^a] The note.",
    ]


def test_quarto_and_mdx(tmp_path: Path) -> None:
    content = """import { Chart } from '../chart'

## Results {#sec-results .unnumbered}

::: {.callout-note}
Mind this.
:::

import taxes from abroad are a topic

```{r}
#| label: x
plot(1)
```

<Chart data={x}>

words in it

</Chart>
"""
    sections = parsed(tmp_path, markdown.parse, content)
    text = "\n".join(section.text for section in sections)
    assert "Chart }" not in text
    assert ":::" not in text
    assert all(words in text for words in ("Mind this.", "import taxes", "plot(1)", "words in it"))
    assert sections[0].anchor == "§ Results"


def test_code_keeps_markup(tmp_path: Path) -> None:
    content = "# A\n\n~~~md\n# no heading\n| a |\n[^1]: x\n~~~\n\n    # indented\n"
    heading, first, *_ = parsed(tmp_path, markdown.parse, content)
    assert (heading.text, first.kind) == ("A", "code")
    assert first.text == "# no heading\n| a |\n[^1]: x\n\n# indented"
