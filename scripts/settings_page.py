"""Writes docs/settings.md from the code: name, default and meaning of every setting, by section.

The meaning is the docstring under a field, so the page needs no import of the parts and none of their libraries.
`python -m scripts.settings_page` writes the page; with `--check` it fails if the page is out of date.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scripts.generated_file import ROOT, write_or_compare

if TYPE_CHECKING:
    from pathlib import Path

BY_NAME = {"tools": {"http": "HttpToolSettings", "mcp": "McpServerSettings"}}
PAGE = ROOT / "docs" / "settings.md"
SETTINGS = ROOT / "bot" / "settings" / "__init__.py"
PREFIX = "FOOTNOTE_"
FAMILIES = {
    "embedder": "embedders",
    "index": "indexes",
    "splitter": "splitters",
    "model": "models",
    "reranker": "rerankers",
    "web_search": "web_search",
    "speech": "speakers",
    "transcription": "transcribers",
}
INTRODUCTION = """# Settings

Set them in the environment or in a file `.env` in the working directory. A list is written with commas. Times are in seconds.
`python -m scripts.settings_page` makes this page from the code; a test compares it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingField:
    """One field of a class of settings."""

    name: str
    type: str
    default: str
    """As Python source; empty if the setting is required."""
    alias: str
    """An environment variable without the prefix, if it has one."""
    meaning: str


def main() -> int:
    return write_or_compare(PAGE, page(), script="settings_page")


def page() -> str:
    """The page as Markdown."""
    tree = {name: one for path in sorted(SETTINGS.parent.glob("*.py")) for name, one in classes(path).items()}
    plain: list[SettingField] = []
    sections: list[str] = []
    for field in fields(tree["Settings"]):
        section = tree.get(field.type)
        if field.name == "platforms":
            sections += [platform(path) for path in parts(ROOT / "adapters") if variables(path)]
        elif field.name == "steps":
            sections.append("## Steps\n\nThe steps from a question to a prompt.\n")
            sections += [
                part(path, f"STEPS__{path.stem.upper()}", f"Step `{path.stem}`")
                for path in parts(ROOT / "rag_engine" / "steps")
            ]
        elif field.name == "tasks":
            sections.append(tasks(tree["TaskSettings"]))
        elif section is None:
            plain.append(field)
        else:
            sections.append(group(field, section))
            sections += [
                by_name(tree[one], field.name, kind) for kind, one in BY_NAME.get(field.name, {}).items()
            ]
    general = f"## General\n\n{table(plain, PREFIX)}"
    return "\n".join([INTRODUCTION, general, *(text for text in sections if text)])


def tasks(section: ast.ClassDef) -> str:
    """The settings that each task of the language model may have."""
    return f"## Tasks\n\n{summary(section)}{table(fields(section), f'{PREFIX}TASKS__<TASK>__')}"


def by_name(section: ast.ClassDef, group_name: str, kind: str) -> str:
    """The settings of each thing that has a name of its own."""
    prefix = f"{PREFIX}{group_name.upper()}__{kind.upper()}__<NAME>__"
    own = [one for one in fields(section) if not one.name.startswith("model_")]
    return f"### `{prefix}…`\n\n{summary(section)}{table(own, prefix)}"


def group(field: SettingField, section: ast.ClassDef) -> str:
    """A section of the tree, followed by the parts that it chooses from."""
    variable = field.name.upper()
    own = [one for one in fields(section) if not one.name.startswith("model_")]
    title = field.name.replace("_", " ").capitalize()
    text = f"## {title}\n\n{summary(section)}{table(own, f'{PREFIX}{variable}__')}"
    family = FAMILIES.get(field.name)
    if family is None:
        return text
    found = [
        part(path, variable, f"`{PREFIX}{variable}__KIND={path.stem}`")
        for path in parts(ROOT / "rag_engine" / family)
    ]
    return "\n".join([text, *(one for one in found if one)])


def part(path: Path, variable: str, title: str) -> str:
    """The settings of one part; empty if it has none."""
    section = settings_class(path)
    rows = fields(section) if section is not None else []
    if section is None or not rows:
        return ""
    return f"### {title}\n\n{summary(section)}{table(rows, f'{PREFIX}{variable}__')}"


def platform(path: Path) -> str:
    """The settings of a chat platform, with the environment variables of their own."""
    section = settings_class(path)
    if section is None:
        raise ValueError(f"{path} has no class Settings")
    prefix = f"{PREFIX}{path.stem.upper()}__"
    known = variables(path)
    rows = [
        SettingField(
            name=one.name,
            type=one.type,
            default=one.default,
            alias=known.get(one.name, one.alias),
            meaning=one.meaning,
        )
        for one in fields(section)
    ]
    return f"## {path.stem.capitalize()}\n\n{summary(section)}{table(rows, prefix)}"


def parts(family: Path) -> list[Path]:
    """The modules and packages of a family, by name."""
    return sorted(
        path
        for path in family.iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").exists())
    )


def settings_class(part: Path) -> ast.ClassDef | None:
    """The class `Settings` of a part: in its module, or in a module of its package."""
    files = [part] if part.is_file() else [part / "__init__.py", *sorted(part.glob("*.py"))]
    return next((found["Settings"] for file in files if "Settings" in (found := classes(file))), None)


def variables(adapter: Path) -> dict[str, str]:
    """The environment variables that an adapter declares."""
    file = adapter / "__init__.py" if adapter.is_dir() else adapter
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "VARIABLES":
            return ast.literal_eval(node.value)
    return {}


def classes(file: Path) -> dict[str, ast.ClassDef]:
    """The classes at the top of a module."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def fields(section: ast.ClassDef) -> list[SettingField]:
    """The fields of a class of settings, each with the docstring under it."""
    found: list[SettingField] = []
    for node, following in zip(section.body, [*section.body[1:], ast.Pass()], strict=True):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        default, alias = _default(node.value)
        found.append(
            SettingField(
                name=node.target.id,
                type=ast.unparse(node.annotation),
                default=default,
                alias=alias,
                meaning=_docstring(following),
            )
        )
    return found


def _default(value: ast.expr | None) -> tuple[str, str]:
    if not isinstance(value, ast.Call) or ast.unparse(value.func) != "Field":
        return ("" if value is None else ast.unparse(value)), ""
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    alias = given.get("validation_alias")
    default = given.get("default", value.args[0] if value.args else None)
    shown = "" if default is None else ast.unparse(default)
    if "default_factory" in given:
        shown = "None"
    return shown, ast.literal_eval(alias) if isinstance(alias, ast.Constant) else ""


def _docstring(node: ast.stmt) -> str:
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return " ".join(node.value.value.split())
    return ""


def summary(section: ast.ClassDef) -> str:
    """The docstring of a class as a paragraph; empty without one."""
    text = ast.get_docstring(section)
    return f"{text}\n\n" if text else ""


def table(rows: list[SettingField], prefix: str) -> str:
    """The fields as a table."""
    lines = ["| Setting | Default | Meaning |", "| --- | --- | --- |"]
    for row in rows:
        name = row.alias or f"{prefix}{row.name.upper()}"
        lines.append(f"| `{name}` | {_shown(row.default)} | {row.meaning.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def _shown(default: str) -> str:
    """A default as one writes it in the environment; `none` for what is empty or worked out when the bot starts."""
    if not default:
        return "required"
    try:
        value: object = ast.literal_eval(default)
    except ValueError:
        return "none"
    if value is None or value in ("", ()):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    sys.exit(main())
