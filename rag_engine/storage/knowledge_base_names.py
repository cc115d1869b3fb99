from __future__ import annotations

import hashlib
import unicodedata

from rag_engine.errors import UserError
from rag_engine.types import KnowledgeBaseId

LONGEST = 80
_TWINS = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυι",
    "ABEKMHOPCTYXSIJaeopcyxijsdhqwABEZHIKMNOPTYXavopui",
)
"""Letters of Cyrillic and Greek that look Latin."""


def tidy(name: str) -> str:
    """NFC, trimmed, single spaces. Raises `UserError` if invalid."""
    tidied = " ".join(unicodedata.normalize("NFC", name).split())
    if not tidied:
        raise UserError("A knowledge base needs a name.")
    if len(tidied) > LONGEST:
        raise UserError(
            f"The name of a knowledge base may have {LONGEST} characters, this one has {len(tidied)}: shorten it."
        )
    if any(unicodedata.category(character).startswith("C") for character in tidied):
        raise UserError(f"The name {tidied!a} has characters that cannot be shown: leave them out.")
    if tidied.startswith("-"):
        raise UserError(
            f"The name {tidied!r} starts with a dash, which commands take for an option: leave it out."
        )
    return tidied


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def appearance(name: str) -> str:
    """Equal for names that look alike."""
    return folded(unicodedata.normalize("NFKC", name).translate(_TWINS))


def knowledge_base_id(name: str, attempt: int = 0) -> KnowledgeBaseId:
    """The same id on every machine, so that imports match exports."""
    key = folded(name) if attempt == 0 else f"{folded(name)}\n{attempt}"
    return KnowledgeBaseId(hashlib.sha256(key.encode("utf-8")).hexdigest()[:16])
