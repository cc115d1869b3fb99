"""YAML, TOML and INI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_engine.parsers.data import toml, yaml
from tests.unit.parsers.parsed import parsed, places

if TYPE_CHECKING:
    from pathlib import Path

_LONG = "x" * 500


def test_small_yaml_is_one_section_as_written(tmp_path: Path) -> None:
    content = "# About\nweb:\n  timeout: 30  # seconds\n\n  tags: [a, b]\n"
    (section,) = parsed(tmp_path, yaml.parse, content)
    assert (section.text, section.anchor, section.kind) == (content.strip(), "lines 1–5", "code")


def test_key_path_is_the_heading(tmp_path: Path) -> None:
    services = "".join(
        f"  # the {name} tier\n  {name}:\n    image: {_LONG}\n    timeout: {seconds}\n"
        for name, seconds in (("web", 30), ("db", 5))
    )
    rules = f"rules:\n- name: first\n  if: {_LONG}\n  then: {_LONG}\n- name: second\n  if: {_LONG}\n"
    sections = parsed(tmp_path, yaml.parse, f"services:\n{services}{rules}")
    by_anchor = {section.anchor: section for section in sections}
    web, db = by_anchor["lines 1–5"], by_anchor["lines 6–9"]
    assert web.headings == db.headings == ("services",)
    assert "# the db tier" in db.text
    assert "timeout: 5" in db.text
    assert any(section.headings == ("rules", "first") for section in sections)


def test_several_documents_tags_and_aliases_stay_as_they_are(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    content = (
        f"{bomb}tag: !!python/object/apply:os.system [exit]\n---\nkind: Pod\n---\nkind: Job\nkind: Again\n"
    )
    (section,) = parsed(tmp_path, yaml.parse, content)
    assert section.text == content.strip()


def test_text_after_a_yaml_error(tmp_path: Path) -> None:
    content = "name: chart\n{{- if .Values.on }}\n  key: value\n{{ end }}\nlast: line\n"
    text = "\n".join(section.text for section in parsed(tmp_path, yaml.parse, content))
    assert all(line.strip() in text for line in content.splitlines())
    assert text.count("name: chart") == 1


def test_deeply_nested_yaml_is_bounded(tmp_path: Path) -> None:
    content = "".join("  " * depth + f"k{depth}:\n" for depth in range(500)) + "  " * 500 + "end: here\n"
    assert "end: here" in parsed(tmp_path, yaml.parse, content)[-1].text


def test_toml_tables(tmp_path: Path) -> None:
    content = 'title = "x"\n\n[server.web]\ntimeout = 30\ntext = """\n[no.table]\n"""\n\n# the base\n[["my.db"]]\nport = 5432\n'
    assert places(parsed(tmp_path, toml.parse, content)) == [
        ("line 1", (), 'title = "x"'),
        ("lines 3–7", ("server", "web"), '[server.web]\ntimeout = 30\ntext = """\n[no.table]\n"""'),
        ("lines 9–11", ("my.db",), '# the base\n[["my.db"]]\nport = 5432'),
    ]


def test_ini_and_settings_without_tables(tmp_path: Path) -> None:
    assert places(parsed(tmp_path, toml.parse, '[remote "origin"]\n\turl = x\n')) == [
        ("lines 1–2", ("remote", "origin"), '[remote "origin"]\n\turl = x')
    ]
    assert places(parsed(tmp_path, toml.parse, "A=1\nB=2\n")) == [("lines 1–2", (), "A=1\nB=2")]
