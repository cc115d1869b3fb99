from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rag_engine.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = Path(".env")
_QUOTED: Final = frozenset(" #'\"\\$`")


def write(settings: Mapping[str, str], file: Path = FILE, *, without: str = "") -> None:
    """Keeps all other lines (`without…` as comments); in one step, mode 0600. Raises `UserError`."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        if without:
            lines = [f"# {line}" if _name(line).upper().startswith(without) else line for line in lines]
        kept = [line for line in lines if _name(line) not in settings]
        added = [f"{name}={_value(value)}" for name, value in settings.items() if value]
        _replace(file, "".join(f"{line}\n" for line in (*kept, *added)))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"The file {file} cannot be changed: {error}.") from error


def _replace(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=".env-", dir=file.resolve().parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:  # mkstemp makes it 0600
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file.resolve())
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _name(line: str) -> str:
    return line.strip().removeprefix("export ").partition("=")[0].strip()


def _value(value: str) -> str:
    if "\n" in value or "'" in value:
        raise UserError("A setting of .env can have neither line breaks nor apostrophes.")
    return f"'{value}'" if _QUOTED & set(value) else value
