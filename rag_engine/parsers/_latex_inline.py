"""LaTeX within a paragraph: the words without macros, accents as letters, formulas as they were typed."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEEPEST: Final = 20
TOKEN: Final = re.compile(
    r"\\(?P<word>[A-Za-z@]+)\*?|\\(?P<sign>.)|(?P<math>\$\$.{0,5000}?\$\$|\$(?:[^$\\]|\\.){1,2000}\$)"
    r"|(?P<brace>[{}])|(?P<quote>``|''|---?|~|,,)",
    re.DOTALL,
)
_COMBINING: Final = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "c": "\u0327",
    "v": "\u030c",
    "u": "\u0306",
    "H": "\u030b",
    "k": "\u0328",
    "r": "\u030a",
    "d": "\u0323",
    "b": "\u0331",
}
_LETTER_ACCENTS: Final = frozenset("cvuHkrdb")
_SYMBOLS: Final = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "aa": "å",
    "AA": "Å",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
    "dh": "ð",
    "th": "þ",
    "S": "§",
    "P": "¶",
    "pounds": "£",
    "euro": "€",
    "texteuro": "€",
    "EUR": "€",
    "copyright": "©",
    "textregistered": "®",
    "texttrademark": "™",
    "ldots": "…",
    "dots": "…",
    "textellipsis": "…",
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textbar": "|",
    "textless": "<",
    "textgreater": ">",
    "textunderscore": "_",
    "textendash": "–",
    "textemdash": "—",
    "textdegree": "°",
    "degree": "°",
    "textmu": "µ",
    "textbullet": "•",
    "textquoteright": "’",
    "textquoteleft": "‘",
    "textquotedblleft": "“",
    "textquotedblright": "”",
    "glqq": "„",
    "grqq": "“",
    "flqq": "«",
    "frqq": "»",
    "guillemotleft": "«",
    "guillemotright": "»",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "BibTeX": "BibTeX",
    "today": "",
    "quad": " ",
    "qquad": " ",
    "newline": "\n",
    "linebreak": "\n",
    "par": "\n\n",
    "and": ", ",
    "slash": "/",
    "textpm": "±",
    "texttimes": "×",
    "checkmark": "✓",
    "rightarrow": "→",
    "Rightarrow": "⇒",
    "times": "×",
}
_SIGNS: Final = {
    "\\": "\n",
    ",": " ",
    ";": " ",
    ":": " ",
    "!": "",
    " ": " ",
    "\n": " ",
    "/": "",
    "-": "",
    "@": "",
    "(": "$",
    ")": "$",
    "[": "$",
    "]": "$",
}
_QUOTES: Final = {"``": "“", "''": "”", "--": "–", "---": "—", "~": " ", ",,": "„"}
# How many arguments are no words.
UNSEEN: Final = {
    **dict.fromkeys(("label", "index", "vspace", "hspace", "input", "include", "subfile", "bibliography"), 1),
    **dict.fromkeys(
        ("bibliographystyle", "usepackage", "documentclass", "pagestyle", "thispagestyle", "color"), 1
    ),
    **dict.fromkeys(
        ("includegraphics", "pagenumbering", "graphicspath", "hypersetup", "geometry", "usetikzlibrary"), 1
    ),
    **dict.fromkeys(
        ("phantomsection", "input@path", "addbibresource", "nocite", "hyphenation", "tikzset", "cline"), 1
    ),
    **dict.fromkeys(
        ("cmidrule", "rowcolor", "cellcolor", "columncolor", "theoremstyle", "usetheme", "stepcounter"), 1
    ),
    **dict.fromkeys(
        ("RequirePackage", "lstset", "sisetup", "captionsetup", "vskip", "hskip", "phantom", "vphantom"), 1
    ),
    **dict.fromkeys(
        ("setlength", "addtolength", "setcounter", "addtocounter", "newtheorem", "fontsize", "rule"), 2
    ),
    **dict.fromkeys(
        ("newcommand", "renewcommand", "providecommand", "DeclareMathOperator", "definecolor"), 2
    ),
    **dict.fromkeys(("addcontentsline", "newenvironment", "renewenvironment"), 3),
}
# How many arguments come before the words.
_BEFORE_WORDS: Final = {
    **dict.fromkeys(
        ("href", "textcolor", "parbox", "raisebox", "colorbox", "resizebox", "scalebox", "foreignlanguage"), 1
    ),
    **dict.fromkeys(("multicolumn", "multirow", "hyperref@"), 2),
}
_LABELS: Final = frozenset({"ref", "cref", "Cref", "autoref", "eqref", "pageref", "nameref", "vref"})


def plain(source: str, macros: Mapping[str, str] | None = None, depth: int = 0) -> str:
    """The words of a paragraph; `macros` are the document's own that stand for plain words."""
    if depth > _DEEPEST:
        return re.sub(r"\\[A-Za-z]+\*?|[{}]", " ", source)
    pieces: list[str] = []
    at = 0
    while (token := TOKEN.search(source, at)) is not None:
        pieces.append(source[at : token.start()])
        at = token.end()
        match token.lastgroup:
            case "word":
                words, at = _command(source, at, token["word"], macros or {}, depth)
                pieces.append(words)
            case "sign":
                words, at = _sign(source, at, token["sign"])
                pieces.append(words)
            case "math":
                pieces.append(token["math"])
            case "quote":
                pieces.append(_QUOTES.get(token["quote"], token["quote"]))
            case _:
                continue
    pieces.append(source[at:])
    return "".join(pieces)


def group(source: str, at: int) -> tuple[str, int]:
    """The argument in braces at this place, and where it ends; nothing where there is none."""
    start = _blanks(source, at)
    if start >= len(source) or source[start] != "{":
        return "", at
    depth = 0
    position = start
    while position < len(source):
        character = source[position]
        if character == "\\":
            position += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return source[start + 1 : position], position + 1
        position += 1
    return source[start + 1 :], len(source)


def optional(source: str, at: int) -> tuple[str, int]:
    """The argument in square brackets at this place, and where it ends; nothing where there is none."""
    start = _blanks(source, at)
    if source[start : start + 1] != "[":
        return "", at
    end = source.find("]", start, start + 2_000)
    inner = source.count("[", start + 1, end) if end > 0 else 0
    while inner and end > 0:
        end = source.find("]", end + 1, start + 4_000)
        inner -= 1
    return (source[start + 1 : end], end + 1) if end > 0 else ("", at)


def arguments(source: str, at: int, count: int) -> tuple[list[str], int]:
    """So many arguments in braces, with optional ones between them left out."""
    found: list[str] = []
    for _ in range(count):
        while True:
            _, after = optional(source, at)
            if after == at:
                break
            at = after
        argument, at = group(source, at)
        found.append(argument)
    return found, at


def _command(source: str, at: int, name: str, macros: Mapping[str, str], depth: int) -> tuple[str, int]:
    """What stands for a macro, and where it ends; of one that is not known its arguments are words."""
    if name in macros:
        return macros[name], _end_of_name(source, at)
    if name in _SYMBOLS:
        return _SYMBOLS[name], _end_of_name(source, at)
    if name in _LETTER_ACCENTS:
        return _accented(source, at, name)
    if name in UNSEEN:
        _, at = arguments(source, at, UNSEEN[name])
        return "", at
    if name in {"def", "let", "newif"}:
        return "", _end_of_definition(source, at)
    if name in _LABELS:
        (label,), at = arguments(source, at, 1)
        return label, at
    if "cite" in name.lower():
        (key,), at = arguments(source, at, 1)
        return f"[{key}]" if key else "", at
    if name == "verb":
        end = source.find(source[at], at + 1) if at < len(source) else -1
        return (source[at + 1 : end], end + 1) if end > 0 else ("", at)
    if name in _BEFORE_WORDS:
        _, at = arguments(source, at, _BEFORE_WORDS[name])
    at = _after_options(source, at)
    words, after = group(source, at)
    if after == at:
        # A blank after a macro's name only ends the name.
        return "", at
    words = plain(words, macros, depth + 1)
    return (f" ({words})" if name in {"footnote", "thanks", "footnotetext", "marginpar"} else words), after


def _after_options(source: str, at: int) -> int:
    _, after = optional(source, at) if source[at : at + 1] == "[" else ("", at)
    return after


def _end_of_name(source: str, at: int) -> int:
    if source.startswith("{}", at):
        return at + 2
    return at + 1 if source[at : at + 1] == " " else at


def _end_of_definition(source: str, at: int) -> int:
    line = source.find("\n", at)
    brace = source.find("{", at)
    if brace < 0 or (0 <= line < brace):
        return line if line >= 0 else len(source)
    return group(source, brace)[1]


def _sign(source: str, at: int, sign: str) -> tuple[str, int]:
    if sign in _COMBINING and not sign.isalpha():
        return _accented(source, at, sign)
    if sign == "\\":
        _, at = optional(source, at)
    return _SIGNS.get(sign, sign), at


def _accented(source: str, at: int, accent: str) -> tuple[str, int]:
    """A letter with its accent."""
    base, after = group(source, at)
    if after == at:
        start = _blanks(source, at) if accent.isalpha() else at
        if source.startswith(("\\i", "\\j"), start):
            base, after = source[start + 1], start + 2
        else:
            base, after = source[start : start + 1], start + 1
    base = base.removeprefix("\\") or " "
    return unicodedata.normalize("NFC", base[:1] + _COMBINING[accent] + base[1:]), after


def _blanks(source: str, at: int) -> int:
    while at < len(source) and source[at] in " \t\n":
        at += 1
    return at
