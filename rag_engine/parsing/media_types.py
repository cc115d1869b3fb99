from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

from rag_engine.errors import CorruptFile, EmptyDocument, EncryptedFile, UnsupportedFile
from rag_engine.parsers._archives.zip_bombs import ZIP_ERRORS
from rag_engine.parsers._shared.encoding import encoding_of
from rag_engine.parsers._shared.ole import root_streams
from rag_engine.parsers._shared.sections import NO_TEXT
from rag_engine.parsing.formats import formats

READABLE: Final = (
    "PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, e-mail, CSV, Markdown, HTML, JSON, pictures, source code, "
    "plain text and archives of these"
)
"""The formats, for people."""

_MATROSKA: Final = b"\x1aE\xdf\xa3"
# First bytes, suffix, name for people.
_UNREADABLE: Final = (
    (b"\x00\x00\x01\x00", "ico", "a picture"),
    (b"8BPS", "psd", "a picture"),
    (_MATROSKA, "mkv", "a video"),
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
# Two letters prove nothing: text may begin with them.
_WEAK: Final = frozenset({"bmp", "exe", "mp3"})
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PROGRAMS: Final = frozenset({"jar", "war", "ear", "apk", "aab", "ipa", "xpi", "crx", "vsix", "whl", "nupkg"})
_IWORK: Final = frozenset({"Document.iwa", "index.apxl", "index.xml.gz", "buildVersionHistory.plist"})
IWORK_HINT: Final = "In Pages, Numbers or Keynote choose File > Export To > Word, Excel, PowerPoint or PDF, and add that file."
_OFFICE_FOLDERS: Final = {"word": "docx", "ppt": "pptx", "xl": "xlsx"}
# Text under these suffixes is a mistake or an error page.
_PROMISES_BINARY: Final = frozenset(
    [
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
    ]
)
_HTML = re.compile(
    r"\s*+(?:<\?xml[^>]*>\s*+)?(?>(?><!--.*?-->\s*+)*)<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
# Web pages saved by Word as .doc are messages too.
_MAIL = re.compile(
    r"\s*(?:MIME-Version:|(?:Received|Return-Path|Delivered-To|Message-ID|X-[\w-]+):.*\n(?:.*\n)*?(?:From|Subject):)",
    re.I,
)
_HEAD: Final = 4_096
_PDF_HEADER: Final = 1_024


_HINTS: Final = {
    "an archive": "Unpack it and add the files, or pack them as .zip.",
    "a picture": "Save it as .jpg or .png and add it again.",
}


def parser_name(path: Path, name: str) -> str:
    """The module of `rag_engine.parsers` for `path`; people see `name`. Raises `EmptyDocument`, `EncryptedFile`,
    `CorruptFile` or `UnsupportedFile`.
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
    parser = formats().parser(kind)
    if parser not in formats().parsers:
        raise _unsupported(name, f"a .{kind} file" if kind else "of an unknown kind")
    return parser


def is_readable(name: str) -> bool:
    return bool(parser_of_name(name))


def parser_of_name(name: str) -> str:
    parser = formats().parser(suffix_of(name))
    return parser if parser in formats().parsers else ""


def suffix_of(name: str) -> str:
    """In lower case, without dot; names such as Makefile are their own suffix."""
    plain = PurePosixPath(name.replace("\\", "/").rstrip(". ")).name.lower()
    suffix = PurePosixPath(plain).suffix.removeprefix(".").strip()
    return suffix or (plain if formats().parser(plain) == "code" and len(plain) > 2 else "")


def shown(name: str) -> str:
    """One line, visible, short, without backticks, which begin code."""
    visible = "".join(character for character in name if character.isprintable()).replace("`", "'")
    return visible if len(visible) <= 80 else f"{visible[:50]}…{visible[-20:]}"


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
    magic = _magic_suffix(head, name, suffix, is_text=encoding is not None)
    if magic is not None:
        return magic
    if encoding is None:
        return _binary_suffix(name, suffix)
    return _text_suffix(head.decode(encoding, errors="ignore"), name, suffix)


def _zip_suffix(path: Path, name: str, suffix: str) -> str:
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
    known = formats()
    if known.parser(suffix) in known.parsers - known.binary - known.text:
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
    for stream, parser in formats().streams.items():
        if stream in streams:
            return parser
    raise _unsupported(name, "an old Office file", "Save it in a new format and add it again.")


def _magic_suffix(head: bytes, name: str, suffix: str, *, is_text: bool) -> str | None:
    entries = (*((*entry, "") for entry in formats().magic), *_UNREADABLE)
    found = next((entry for entry in entries if head.startswith(entry[0])), None)
    if head[4:8] == b"ftyp":
        picture = head[8:12] in {b"heic", b"heix", b"mif1", b"avif"}
        sound = suffix == "m4a" or head[8:11] == b"M4A"
        found = (b"", "heic", "a picture") if picture else (b"", "m4a" if sound else "mp4", "a video")
    if head.startswith(_MATROSKA) and suffix == "webm":
        found = (b"", "webm", "a sound file")
    if head.startswith(b"RIFF"):
        found = (
            (b"", "webp", "a picture")
            if head[8:12] == b"WEBP"
            else (b"", "wav" if head[8:12] == b"WAVE" else "avi", "a video")
        )
    if head[257:262] == b"ustar":
        found = (b"", "tar", "an archive")
    if found is None or (found[1] in _WEAK and is_text):
        return None
    _, kind, title = found
    if formats().parser(kind) in formats().parsers:
        return kind
    raise _unsupported(name, title, _HINTS.get(title, ""))


def _binary_suffix(name: str, suffix: str) -> str:
    known = formats()
    parser = known.parser(suffix)
    if parser in known.binary and suffix not in {"csv", "tsv", "tab"}:
        raise CorruptFile(
            f"{shown(name)} is no {suffix.upper()} file inside, or is damaged; save or download it again."
        )
    if parser in known.parsers - known.text:
        return suffix
    raise _unsupported(name, "of an unknown kind, not text")


def _text_suffix(beginning: str, name: str, suffix: str) -> str:
    known = formats()
    if suffix not in _PROMISES_BINARY and known.parser(suffix) in known.parsers:
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
    beginning = beginning.lstrip("\ufeff")
    return next((parser for pattern, parser in known.beginnings if pattern.match(beginning)), "text")


def _unsupported(name: str, kind: str, hint: str = "") -> UnsupportedFile:
    verdict = f"{shown(name)} is {kind}, which cannot be read."
    return UnsupportedFile(f"{verdict} {hint or f'Add {READABLE} instead.'}")
