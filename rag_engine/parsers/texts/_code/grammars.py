"""Definitions by tree-sitter, which also parses broken code."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LANGUAGES: Final = {
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx"), "javascript"),
    "ts": "typescript",
    "mts": "typescript",
    "cts": "typescript",
    "tsx": "tsx",
    "java": "java",
    "go": "go",
    "rs": "rust",
    "rb": "ruby",
    "cs": "c_sharp",
    "php": "php",
    "c": "c",
    "h": "c",
    **dict.fromkeys(("cc", "cpp", "cxx", "hpp", "hh", "hxx", "cu", "ino"), "cpp"),
}

_MODULES: Final = {
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
_KINDS: Final = {
    **dict.fromkeys(("class_definition", "class_declaration", "class_specifier", "class"), "class"),
    **dict.fromkeys(("abstract_class_declaration",), "class"),
    **dict.fromkeys(("struct_specifier", "struct_item", "struct_declaration"), "struct"),
    **dict.fromkeys(("interface_declaration", "annotation_type_declaration"), "interface"),
    **dict.fromkeys(("enum_declaration", "enum_item", "enum_specifier"), "enum"),
    **dict.fromkeys(("trait_item", "trait_declaration"), "trait"),
    **dict.fromkeys(("namespace_definition", "namespace_declaration", "internal_module"), "namespace"),
    **dict.fromkeys(("record_declaration", "record_struct_declaration"), "record"),
    **dict.fromkeys(("type_alias_declaration", "type_declaration", "type_item"), "type"),
    **dict.fromkeys(
        ("function_definition", "function_declaration", "generator_function_declaration"), "function"
    ),
    **dict.fromkeys(("variable_declarator", "local_function_statement"), "function"),
    **dict.fromkeys(("method_definition", "method_declaration"), "method"),
    **dict.fromkeys(("method", "singleton_method"), "def"),
    "constructor_declaration": "constructor",
    "function_item": "fn",
    "impl_item": "impl",
    "mod_item": "mod",
    "module": "module",
    "macro_definition": "macro",
    "union_specifier": "union",
}
_OWN_WORDS: Final = {
    ("python", "function"): "def",
    ("go", "function"): "func",
    ("go", "method"): "func",
}
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function", "class"})
_WRAPPERS: Final = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "lexical_declaration"}
    | {"ambient_declaration"}
)
_DEEPEST: Final = 60
_GUESSES: Final = (
    (
        "python",
        re.compile(
            r"^#!.*\bpython|^(?:from\s+[\w.]+\s+import\s|import\s+[\w.]+\s*$|(?:async )?def\s+\w+\(.*:\s*$|class\s+\w+.*:\s*$)",
            re.MULTILINE,
        ),
    ),
    ("php", re.compile(r"\A\s*<\?php")),
    ("go", re.compile(r"^package\s+\w+\s*$", re.MULTILINE)),
    (
        "java",
        re.compile(
            r"^(?:import\s+java[\w.]*;|package\s+[\w.]+;|public\s+(?:final\s+|abstract\s+)*(?:class|interface|enum)\s)",
            re.MULTILINE,
        ),
    ),
    (
        "rust",
        re.compile(
            r"^(?:use\s+(?:std|crate|super)::|(?:pub(?:\([^)]*\))?\s+)?fn\s+\w+.*[{;(]\s*$|impl(?:<.*>)?\s+\w+)",
            re.MULTILINE,
        ),
    ),
    ("c_sharp", re.compile(r"^(?:using\s+System[\w.]*;|namespace\s+[\w.]+\s*[{;]?\s*$)", re.MULTILINE)),
    ("cpp", re.compile(r"^#include\s*[<\"]", re.MULTILINE)),
    (
        "ruby",
        re.compile(
            r"^#!.*\bruby|^require\s+['\"]|^\s*def\s+\w+[?!]?(?:\(.*\))?\s*$(?s:.*)^\s*end\s*$", re.MULTILINE
        ),
    ),
    (
        "javascript",
        re.compile(
            r"^#!.*\bnode|^(?:import\s.*\sfrom\s+['\"]|(?:export\s+)?(?:async\s+)?function\s+\w+\(|(?:const|let|var)\s+\w+\s*=|module\.exports)",
            re.MULTILINE,
        ),
    ),
)
_CPLUSPLUS: Final = re.compile(
    r"^[ \t]*(?:class\s+\w+\s*[:{]|namespace\s+\w+|template\s*<|public:|using\s+namespace)", re.MULTILINE
)


class _Node(Protocol):
    type: str
    start_point: tuple[int, int]
    end_point: tuple[int, int]
    text: bytes | None
    named_children: list[_Node]
    parent: _Node | None

    def child_by_field_name(self, name: str) -> _Node | None: ...


@dataclass(frozen=True, slots=True)
class Definition:
    """First and last line (from 1) and label."""

    first: int
    last: int
    label: str


def language_of(suffix: str, beginning: str) -> str:
    language = LANGUAGES.get(suffix, "")
    if language == "c" and suffix == "h" and _CPLUSPLUS.search(beginning):
        return "cpp"
    if suffix:
        return language
    return next((guess for guess, pattern in _GUESSES if pattern.search(beginning)), "")


def definitions(source: str, language: str) -> Iterator[Definition]:
    name, function = _MODULES.get(
        language, (f"tree_sitter_{language}", "language_php" if language == "php" else "language")
    )
    tree_sitter: Any = importlib.import_module("tree_sitter")
    grammar = tree_sitter.Language(getattr(importlib.import_module(name), function)())
    tree = tree_sitter.Parser(grammar).parse(source.encode("utf-8", errors="replace"))
    waiting = [(cast("_Node", tree.root_node), 0)]
    while waiting:
        node, depth = waiting.pop()
        label = _label(node, language)
        if label:
            yield Definition(_first(node), node.end_point[0] + 1, label)
        if depth < _DEEPEST:
            waiting += [(child, depth + 1) for child in reversed(node.named_children)]


def _first(node: _Node) -> int:
    while (parent := node.parent) is not None and parent.type in _WRAPPERS:
        node = parent
    return node.start_point[0] + 1


def _label(node: _Node, language: str) -> str:
    kind = _KINDS.get(node.type)
    if kind is None:
        return ""
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        if value is None or value.type not in _FUNCTIONS:
            return ""
    if node.type.endswith("_specifier") and node.child_by_field_name("body") is None:
        return ""
    if kind == "module" and language != "ruby":
        return ""
    name = _name(node)
    return f"{_OWN_WORDS.get((language, kind), kind)} {name}" if name else ""


def _name(node: _Node) -> str:
    if node.type == "impl_item":
        trait, of = node.child_by_field_name("trait"), node.child_by_field_name("type")
        return " for ".join(_text(part) for part in (trait, of) if part is not None)
    if node.type == "type_declaration":
        specification = next((child for child in node.named_children if child.type == "type_spec"), None)
        return _name(specification) if specification is not None else ""
    name = node.child_by_field_name("name")
    if name is not None:
        return _text(name)
    inner = node.child_by_field_name("declarator")
    for _ in range(8):
        deeper = inner.child_by_field_name("declarator") if inner is not None else None
        if deeper is None:
            break
        inner = deeper
    return _text(inner).lstrip("*& ") if inner is not None else ""


def _text(node: _Node) -> str:
    return " ".join((node.text or b"").decode("utf-8", errors="replace").split())[:80]


def with_comments(lines: Sequence[str], first: int, after: int) -> int:
    while first - 1 > after and _ABOVE.match(lines[first - 2]):
        first -= 1
    return first


_ABOVE: Final = re.compile(
    r"\s*(?:#(?!include|define|if|ifdef|ifndef|endif|else|pragma|undef)|//|/\*|\*|--|@\w|\[\w|;;)"
)
