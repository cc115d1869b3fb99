"""Check that the file list stays readable: `python -m scripts.check_structure` prints each violation, and exits with 1 if there is one.

Checked in the product's packages:
- one public class, one name (the `Settings` of each part excepted),
- no gerund as the name of a module or folder,
- at most `WORDS` words in docstrings and comments,
- no possessive quantifier of a group in a regular expression,
- one migration of a database, one number,
- at most 400 lines a module, 40 lines a function, and 16 public modules side by side.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("rag_engine", "bot", "adapters")
WORDS: Final = 37_500
"""In docstrings (of attributes, too) and comments. It only goes down."""
MODULE_LINES: Final = 400
FUNCTION_LINES: Final = 40
MODULES_IN_FOLDER: Final = 16
REPEATED_CLASSES: Final = {"Arguments", "Settings"}
"""Each part that is loaded by name has its own."""
NOUNS: Final = {
    "encoding",
    "hashing",
    "incoming",
    "numbering",
    "parsing",
    "ranking",
    "rendering",
    "spelling",
    "streaming",
}
"""Words in -ing that name a thing or a field."""

_POSSESSIVE_GROUP: Final = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")
_DIRECTIVE: Final = re.compile(r"#\s*(?:noqa|type:|pyright|ruff|fmt:|pragma|!)")


def violations(root: Path = PROJECT) -> list[str]:
    """Every violation below `root`, a line each, sorted by kind."""
    modules = {path: path.read_text(encoding="utf-8") for path in _modules(root)}
    trees = {path: ast.parse(text) for path, text in modules.items()}
    return [
        *_repeated_classes(root, trees),
        *_gerunds(root, modules),
        *_crowded_folders(root, modules),
        *_words(modules, trees),
        *_long_modules(root, modules),
        *_long_functions(root, trees),
        *_possessive_groups(root, trees),
        *_repeated_migrations(root),
    ]


def _modules(root: Path) -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((root / package).rglob("*.py"))


def _repeated_classes(root: Path, trees: dict[Path, ast.Module]) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(root)}:{node.lineno}")
    for name, found in sorted(places.items()):
        if len(found) > 1 and name not in REPEATED_CLASSES:
            yield f"class {name} is defined {len(found)} times: {', '.join(found)}"


def _gerunds(root: Path, modules: Sequence[Path] | dict[Path, str]) -> Iterator[str]:
    names = {path.parent if path.name == "__init__.py" else path for path in modules}
    for path in sorted(names):
        word = path.stem.rpartition("_")[2]
        if word.endswith("ing") and word not in NOUNS:
            yield f"{path.relative_to(root)}: {word!r} is a gerund; name the thing in the module"


def _crowded_folders(root: Path, modules: dict[Path, str]) -> Iterator[str]:
    counts = Counter(
        path.parent.relative_to(root).as_posix() for path in modules if path.name != "__init__.py"
    )
    for folder, count in sorted(counts.items()):
        if count > MODULES_IN_FOLDER:
            yield f"{folder} has {count} public modules side by side, the limit is {MODULES_IN_FOLDER}"


def _words(modules: dict[Path, str], trees: dict[Path, ast.Module]) -> Iterator[str]:
    count = sum(docstring_words(trees[path]) + comment_words(text) for path, text in modules.items())
    if count > WORDS:
        yield f"docstrings and comments have {count} words, the limit is {WORDS}"


def docstring_words(tree: ast.Module) -> int:
    """Any string that is a statement of its own."""
    return sum(
        len(node.value.value.split())
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def comment_words(text: str) -> int:
    return sum(
        len(token.string.lstrip("#: ").split())
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string)
    )


def _long_modules(root: Path, modules: dict[Path, str]) -> Iterator[str]:
    for path, text in modules.items():
        if (lines := text.count("\n")) > MODULE_LINES:
            yield f"{path.relative_to(root)} has {lines} lines, the limit is {MODULE_LINES}"


def _long_functions(root: Path, trees: dict[Path, ast.Module]) -> Iterator[str]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    yield f"{path.relative_to(root)}:{node.lineno}: {node.name} has {lines} lines, the limit is {FUNCTION_LINES}"


def _possessive_groups(root: Path, trees: dict[Path, ast.Module]) -> Iterator[str]:
    """Before Python 3.11.5 they match wrong places (cpython issue 106052)."""
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and _POSSESSIVE_GROUP.search(str(node.value)):
                yield f"{path.relative_to(root)}:{node.lineno}: a possessive group; write (?>(?:…)*) for (?:…)*+"


def _repeated_migrations(root: Path) -> Iterator[str]:
    """The second one would never run."""
    scripts = (path for package in PACKAGES for path in sorted((root / package).rglob("[0-9]*_*.sql")))
    named: dict[tuple[Path, str], str] = {}
    for path in scripts:
        first = named.setdefault((path.parent, path.name.partition("_")[0]), path.name)
        if first != path.name:
            yield f"{path.relative_to(root)} has the number of {first}"


def main() -> int:
    found = violations()
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
