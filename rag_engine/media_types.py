"""What a file really is: its content first, then its name; and which parser reads it."""

from __future__ import annotations

import functools
import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

from rag_engine import plugins
from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile, UnsupportedFile
from rag_engine.parsers._archives import ZIP_ERRORS
from rag_engine.parsers._encoding import encoding_of
from rag_engine.parsers._ole import root_streams
from rag_engine.parsers._sections import NO_TEXT

FAMILY: Final = "rag_engine.parsers"

READABLE: Final = (
    "PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, e-mail, CSV, Markdown, HTML, JSON, pictures, source code, "
    "plain text and archives of these"
)
"""The formats, for a person."""

_CODE: Final = (
    "py pyi pyx js mjs cjs jsx ts tsx vue svelte java kt kts scala groovy gradle c h cc cpp cxx hpp "
    "hh cs fs vb go rs swift m mm rb php pl pm lua r jl hs ml mli erl ex exs clj cljs lisp el scm "
    "dart zig nim d pas f90 sql sh bash zsh fish ps1 bat cmd css scss sass less tf hcl proto graphql "
    "cmake mk asm s dockerfile makefile jenkinsfile vim tcl awk sed sol v sv vhd cu "
)

# The parser of a suffix is the module of that name; these suffixes share one.
ALIASES: Final = {
    **dict.fromkeys(("docm", "dotx", "dotm"), "docx"),
    **dict.fromkeys(("pptm", "potx", "ppsx", "ppsm", "potm"), "pptx"),
    **dict.fromkeys(("xlsx", "xlsm", "xltx", "xltm", "xlsb", "csv", "tsv", "tab"), "sheet"),
    **dict.fromkeys(("xlt", "xlw"), "xls"),
    **dict.fromkeys(("ots", "fods"), "ods"),
    **dict.fromkeys(("md", "mdown", "mkd", "mdx", "qmd", "rmd"), "markdown"),
    **dict.fromkeys(("htm", "xhtml", "xht", "shtml"), "html"),
    **dict.fromkeys(("jsonl", "ndjson", "geojson", "jsonld", "webmanifest", "har", "json5", "jsonc"), "json"),
    "ipynb": "notebook",
    "rest": "rst",
    "adoc": "asciidoc",
    **dict.fromkeys(("tex", "ltx"), "latex"),
    **dict.fromkeys(("srt", "vtt", "ass", "ssa", "sbv", "lrc"), "subtitles"),
    **dict.fromkeys(("yml", "eyaml"), "yaml"),
    **dict.fromkeys(
        ("ini", "cfg", "conf", "properties", "env", "editorconfig", "service", "desktop"), "toml"
    ),
    **dict.fromkeys(
        ("rss", "atom", "nxml", "dita", "ditamap", "docbook", "dbk", "tei", "svg", "xsd", "xsl"), "xml"
    ),
    **dict.fromkeys(
        ("xslt", "wsdl", "plist", "kml", "gpx", "xliff", "xlf", "tmx", "opml", "resx", "ttml"), "xml"
    ),
    **dict.fromkeys(("zip", "tar", "gz", "tgz", "bz2", "tbz", "tbz2", "xz", "txz"), "archive"),
    **dict.fromkeys(("ott", "fodt", "odm"), "odt"),
    **dict.fromkeys(("otp", "fodp"), "odp"),
    **dict.fromkeys(("dot", "wiz"), "doc"),
    **dict.fromkeys(("emlx", "mht", "mhtml"), "eml"),
    **dict.fromkeys(("ical", "ifb", "icalendar"), "ics"),
    "vcard": "vcf",
    **dict.fromkeys(("pages", "numbers", "key"), "iwork"),
    **dict.fromkeys(
        ("png", "jpg", "jpeg", "jpe", "jfif", "gif", "bmp", "dib", "tif", "tiff", "webp"), "picture"
    ),
    **dict.fromkeys(("txt", "log", "asc", "nfo", "text", "out", "bib", "po", "pot"), "text"),
    **dict.fromkeys(("diff", "patch"), "code"),
    **dict.fromkeys(_CODE.split(), "code"),
}

# (first bytes, true suffix, what a person calls it); checked in order.
_MAGIC: Final = (
    (b"{\\rtf", "rtf", "an RTF document"),
    (b"\x89PNG\r\n", "png", "a picture"),
    (b"\xff\xd8\xff", "jpg", "a picture"),
    (b"GIF87a", "gif", "a picture"),
    (b"GIF89a", "gif", "a picture"),
    (b"II*\x00", "tiff", "a picture"),
    (b"MM\x00*", "tiff", "a picture"),
    (b"BM", "bmp", "a picture"),
    (b"\x00\x00\x01\x00", "ico", "a picture"),
    (b"8BPS", "psd", "a picture"),
    (b"ID3", "mp3", "a sound file"),
    (b"\xff\xfb", "mp3", "a sound file"),
    (b"\xff\xf3", "mp3", "a sound file"),
    (b"fLaC", "flac", "a sound file"),
    (b"OggS", "ogg", "a sound file"),
    (b"\x1aE\xdf\xa3", "mkv", "a video"),
    (b"\x1f\x8b", "gz", "a compressed file"),
    (b"BZh", "bz2", "a compressed file"),
    (b"\xfd7zXZ\x00", "xz", "a compressed file"),
    (b"(\xb5/\xfd", "zst", "a compressed file"),
    (b"7z\xbc\xaf'\x1c", "7z", "an archive"),
    (b"Rar!\x1a\x07", "rar", "an archive"),
    (b"x\x9f\x3e\x22", "tnef", "an attachment that Outlook packed (winmail.dat)"),
    (b"SQLite format 3\x00", "sqlite", "a database"),
    (b"PAR1", "parquet", "a data file"),
    (b"\x7fELF", "elf", "a program"),
    (b"MZ", "exe", "a program"),
    (b"\xca\xfe\xba\xbe", "class", "a program"),
    (b"\xcf\xfa\xed\xfe", "macho", "a program"),
    (b"\x00asm", "wasm", "a program"),
    (b"wOFF", "woff", "a font"),
    (b"wOF2", "woff2", "a font"),
    (b"%!PS", "ps", "a PostScript file"),
)
# Two letters are no proof: text may begin with them.
_WEAK: Final = frozenset({"bmp", "exe", "mp3"})
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A stream at the root of an OLE file -> true suffix, what a person calls it, the format to save it as.
_OLE_STREAMS: Final = (
    ("WordDocument", "doc", "an old Word file", "docx"),
    ("PowerPoint Document", "ppt", "an old PowerPoint file", "pptx"),
    ("Workbook", "xls", "an old Excel file", "xlsx"),
    ("Book", "xls", "an old Excel file", "xlsx"),
    ("__properties_version1.0", "msg", "an Outlook message", "txt"),
)
_PROGRAMS: Final = frozenset({"jar", "war", "ear", "apk", "aab", "ipa", "xpi", "crx", "vsix", "whl", "nupkg"})
_IWORK: Final = frozenset({"Document.iwa", "index.apxl", "index.xml.gz", "buildVersionHistory.plist"})
IWORK_HINT: Final = "In Pages, Numbers or Keynote choose File > Export To > Word, Excel, PowerPoint or PDF, and add that file."
_OFFICE_FOLDERS: Final = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
# Suffixes that promise something other than text: text in such a file is a mistake or an error page.
_PROMISES_BINARY: Final = frozenset(
    {
        "pdf",
        "docx",
        "docm",
        "dotx",
        "pptx",
        "pptm",
        "ppsx",
        "xlsx",
        "xlsm",
        "xlsb",
        "doc",
        "ppt",
        "xls",
        "odt",
        "ods",
    }
    | {
        "odp",
        "epub",
        "zip",
        "png",
        "jpg",
        "jpeg",
        "gif",
        "bmp",
        "tif",
        "tiff",
        "webp",
        "mp3",
        "mp4",
        "gz",
        "pages",
    }
)
_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
# Web pages saved by Word as .doc are messages too.
_MAIL = re.compile(
    r"\s*(?:MIME-Version:|(?:Received|Return-Path|Delivered-To|Message-ID|X-[\w-]+):.*\n(?:.*\n)*?(?:From|Subject):)",
    re.I,
)
# What a text without a known suffix begins with.
_TEXT_KINDS: Final = (
    ("code", re.compile("#!")),
    ("xml", re.compile(r"\s*<\?xml\s")),
    ("json", re.compile(r"\s*[\[{]\s*[\"\[{]")),
    ("subtitles", re.compile(r"WEBVTT|1\s+\d\d:\d\d:\d\d,\d{3} -->")),
    ("latex", re.compile(r"(?:\s|%.*\n)*\\documentclass")),
)
_OWN_BINARY: Final = frozenset({"pdf", "docx", "pptx", "sheet", "picture"})
_OWN_TEXT: Final = frozenset(
    {"sheet", "markdown", "html", "json", "text", "code", "notebook", "rst", "asciidoc", "latex", "subtitles"}
    | {"yaml", "toml", "xml"}
)
_HEAD: Final = 4_096
_PDF_HEADER: Final = 1_024
"""Readers accept a PDF whose header comes within this many bytes."""


_HINTS: Final = {
    "an archive": "Unpack it and add the files, or pack them as .zip.",
    "a picture": "Save it as .jpg or .png and add it again.",
}


def parser_name(path: Path, name: str) -> str:
    """The module of `rag_engine.parsers` that reads the file at `path`, which a person knows as `name`.

    Raises `EmptyDocument`, `EncryptedFile`, `CorruptFile`, or `UnsupportedFile`, which names what can be read.
    """
    try:
        if path.stat().st_size == 0:
            raise EmptyDocument(NO_TEXT)
        kind = _true_suffix(path, name)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise CorruptFile(
            f"{shown(name)} cannot be opened ({reason}); check the file and its permissions."
        ) from error
    parser = ALIASES.get(kind, kind)
    if parser not in _parsers():
        raise _unsupported(name, f"a .{kind} file" if kind else "of an unknown kind")
    return parser


def is_readable(name: str) -> bool:
    """Whether a file of this name promises something we read: for the walk through a folder, before any byte is seen."""
    return bool(parser_of_name(name))


def parser_of_name(name: str) -> str:
    """The parser that a file of this name promises to be for; empty for what we do not read."""
    suffix = suffix_of(name)
    parser = ALIASES.get(suffix, suffix)
    return parser if parser in _parsers() else ""


def suffix_of(name: str) -> str:
    """The lower-case suffix without its dot; names such as Makefile are their own suffix."""
    plain = PurePosixPath(name.replace("\\", "/").rstrip(". ")).name.lower()
    suffix = PurePosixPath(plain).suffix.removeprefix(".").strip()
    return suffix or (plain if ALIASES.get(plain) == "code" and len(plain) > 2 else "")


def shown(name: str) -> str:
    """`name` as it may stand in a sentence: one line, nothing invisible, not too long."""
    visible = "".join(character for character in name if character.isprintable())
    return visible if len(visible) <= 80 else f"{visible[:50]}…{visible[-20:]}"


@functools.cache
def _parsers() -> frozenset[str]:
    return frozenset(plugins.available(FAMILY))


def _true_suffix(path: Path, name: str) -> str:
    suffix = suffix_of(name)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    encoding = encoding_of(path)
    header = head[:_PDF_HEADER].find(b"%PDF-")
    if header == 0 or (header > 0 and (suffix == "pdf" or encoding is None)):
        return "pdf"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_suffix(path, name, suffix)
    if head.startswith(_OLE):
        return _ole_suffix(path, name)
    magic = _magic_suffix(head, name, is_text=encoding is not None)
    if magic is not None:
        return magic
    if encoding is None:
        return _binary_suffix(name, suffix)
    return _text_suffix(head.decode(encoding, errors="ignore"), name, suffix)


def _zip_suffix(path: Path, name: str, suffix: str) -> str:
    """Office files are ZIP archives told by their folders, others by the member `mimetype`."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            media_type = b""
            if "mimetype" in members:
                with archive.open("mimetype") as file:
                    media_type = file.read(200)
    except (
        *ZIP_ERRORS,
        *(RuntimeError, ValueError, KeyError),
    ) as error:
        raise CorruptFile(f"{shown(name)} is damaged or was cut off; save or download it again.") from error
    if b"epub" in media_type or {"META-INF/container.xml", "META-INF/encryption.xml"} & set(members):
        return "epub"
    if _IWORK & {PurePosixPath(member).name for member in members}:
        return _iwork_suffix(members, name)
    if b"opendocument." in media_type:
        kinds = {b"text": "odt", b"spreadsheet": "ods", b"presentation": "odp"}
        return kinds.get(media_type.split(b"opendocument.", 1)[1].split(b"-")[0].strip(), "odf")
    if "xl/workbook.bin" in members:
        return "xlsb"
    if "[Content_Types].xml" in members:
        folders = {re.split(r"[/\\]", member.lstrip("/"), maxsplit=1)[0].lower() for member in members}
        for folder, kind in _OFFICE_FOLDERS.items():
            if folder in folders:
                return kind
    if ALIASES.get(suffix, suffix) in _parsers() - _OWN_BINARY - _OWN_TEXT:
        return suffix
    if suffix in _PROGRAMS:
        raise _unsupported(name, "a program")
    return "zip"


def _iwork_suffix(members: list[str], name: str) -> str:
    if any(member.lower().endswith("preview.pdf") for member in members):
        return "iwork"
    raise _unsupported(name, "an Apple iWork file", IWORK_HINT)


def _ole_suffix(path: Path, name: str) -> str:
    streams = root_streams(path)
    if "EncryptedPackage" in streams:
        raise EncryptedFile
    for stream, kind, title, better in _OLE_STREAMS:
        if stream in streams:
            if ALIASES.get(kind, kind) in _parsers():
                return kind
            raise _unsupported(name, title, f"Save it as .{better} and add it again.")
    raise _unsupported(name, "an old Office file", "Save it in a new format and add it again.")


def _magic_suffix(head: bytes, name: str, *, is_text: bool) -> str | None:
    found = next((entry for entry in _MAGIC if head.startswith(entry[0])), None)
    if head[4:8] == b"ftyp":
        picture = head[8:12] in {b"heic", b"heix", b"mif1", b"avif"}
        found = (b"", "heic", "a picture") if picture else (b"", "mp4", "a video")
    if head.startswith(b"RIFF"):
        found = (b"", "webp", "a picture") if head[8:12] == b"WEBP" else (b"", "wav", "a sound or video file")
    if head[257:262] == b"ustar":
        found = (b"", "tar", "an archive")
    if found is None or (found[1] in _WEAK and is_text):
        return None
    _, kind, title = found
    if ALIASES.get(kind, kind) in _parsers():
        return kind
    raise _unsupported(name, title, _HINTS.get(title, ""))


def _binary_suffix(name: str, suffix: str) -> str:
    parser = ALIASES.get(suffix, suffix)
    if parser in _OWN_BINARY and suffix not in {"csv", "tsv", "tab"}:
        raise CorruptFile(
            f"{shown(name)} is no {suffix.upper()} file inside, or is damaged; save or download it again."
        )
    if parser in _parsers() - _OWN_TEXT:
        return suffix
    raise _unsupported(name, "of an unknown kind, not text")


def _text_suffix(beginning: str, name: str, suffix: str) -> str:
    parser = ALIASES.get(suffix, suffix)
    if suffix not in _PROMISES_BINARY and parser in _parsers():
        return suffix
    if _HTML.match(beginning.lstrip("\ufeff")):
        return "html"
    if suffix == "xls" and "\t" in beginning:
        return "tsv"
    if _MAIL.match(beginning):
        return "eml"
    if suffix in _PROMISES_BINARY:
        raise CorruptFile(
            f"{shown(name)} is plain text, not a .{suffix} file; if the text is what you want, rename it to .txt."
        )
    return next((kind for kind, pattern in _TEXT_KINDS if pattern.match(beginning.lstrip("\ufeff"))), "text")


def _unsupported(name: str, kind: str, hint: str = "") -> UnsupportedFile:
    verdict = f"{shown(name)} is {kind}, which cannot be read."
    return UnsupportedFile(f"{verdict} {hint or f'Add {READABLE} instead.'}")
