from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


def _values(table: str) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in table.split())


_DEEPEST: Final = 20
_TOKEN: Final = re.compile(
    r"\\(?P<word>[A-Za-z@]+)\*?|\\(?P<sign>.)|(?P<math>\$\$.{0,5000}?\$\$|\$(?:[^$\\]|\\.){1,2000}\$)"
    r"|(?P<brace>[{}])|(?P<quote>``|''|---?|~|,,)",
    re.DOTALL,
)
_LETTER_ACCENTS: Final = dict(
    zip("cvuHkrdb", "\u0327\u030c\u0306\u030b\u0328\u030a\u0323\u0331", strict=True)
)
_SIGN_ACCENTS: Final = dict(zip("'`^\"~=.", "\u0301\u0300\u0302\u0308\u0303\u0304\u0307", strict=True))
_COMBINING: Final = _LETTER_ACCENTS | _SIGN_ACCENTS
_SYMBOLS: Final = {
    **_values(
        "ss=ß ae=æ AE=Æ oe=œ OE=Œ o=ø O=Ø aa=å AA=Å l=ł L=Ł i=i j=j dh=ð th=þ S=§ P=¶ pounds=£ euro=€ texteuro=€ EUR=€ "
        "copyright=© textregistered=® texttrademark=™ ldots=… dots=… textellipsis=… textbackslash=\\ textasciitilde=~ "
        "textasciicircum=^ textbar=| textless=< textgreater=> textunderscore=_ textendash=– textemdash=— textdegree=° "
        "degree=° textmu=µ textbullet=• textquoteright=’ textquoteleft=‘ textquotedblleft=“ textquotedblright=” glqq=„ "
        "grqq=“ flqq=« frqq=» guillemotleft=« guillemotright=» LaTeX=LaTeX TeX=TeX BibTeX=BibTeX slash=/ textpm=± "
        "texttimes=× checkmark=✓ rightarrow=→ Rightarrow=⇒ times=×"
    ),
    "today": "",
    "quad": " ",
    "qquad": " ",
    "newline": "\n",
    "linebreak": "\n",
    "par": "\n\n",
    "and": ", ",
}
_SIGNS: Final = {
    "\\": "\n",
    **dict.fromkeys(",;: \n", " "),
    **dict.fromkeys("!/-@", ""),
    **dict.fromkeys("()[]", "$"),
}
_QUOTES: Final = {"``": "“", "''": "”", "--": "–", "---": "—", "~": " ", ",,": "„"}
_HIDDEN_ARGUMENTS: Final = {
    name: count
    for count, names in enumerate(
        (
            "label index vspace hspace input include subfile bibliography bibliographystyle usepackage documentclass pagestyle "
            "thispagestyle color includegraphics pagenumbering graphicspath hypersetup geometry usetikzlibrary phantomsection "
            "input@path addbibresource nocite hyphenation tikzset cline cmidrule rowcolor cellcolor columncolor theoremstyle "
            "usetheme stepcounter RequirePackage lstset sisetup captionsetup vskip hskip phantom vphantom",
            "setlength addtolength setcounter addtocounter newtheorem fontsize rule newcommand renewcommand providecommand "
            "DeclareMathOperator definecolor",
            "addcontentsline newenvironment renewenvironment",
        ),
        start=1,
    )
    for name in names.split()
}
_ARGUMENTS_BEFORE_TEXT: Final = {
    **dict.fromkeys(("href", "textcolor", "parbox", "raisebox", "colorbox", "resizebox", "scalebox"), 1),
    "foreignlanguage": 1,
    **dict.fromkeys(("multicolumn", "multirow", "hyperref@"), 2),
}
_LABELS: Final = frozenset({"ref", "cref", "Cref", "autoref", "eqref", "pageref", "nameref", "vref"})


def plain(source: str, macros: Mapping[str, str] | None = None, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return re.sub(r"\\[A-Za-z]+\*?|[{}]", " ", source)
    pieces: list[str] = []
    at = 0
    while (token := _TOKEN.search(source, at)) is not None:
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
    if name in macros:
        return macros[name], _end_of_name(source, at)
    if name in _SYMBOLS:
        return _SYMBOLS[name], _end_of_name(source, at)
    if name in _LETTER_ACCENTS:
        return _accented(source, at, name)
    if name in _HIDDEN_ARGUMENTS:
        _, at = arguments(source, at, _HIDDEN_ARGUMENTS[name])
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
    if name in _ARGUMENTS_BEFORE_TEXT:
        _, at = arguments(source, at, _ARGUMENTS_BEFORE_TEXT[name])
    at = _after_options(source, at)
    words, after = group(source, at)
    if after == at:
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
