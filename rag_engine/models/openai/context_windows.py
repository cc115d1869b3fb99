"""In tokens (prompt and reply), by name prefix."""

from __future__ import annotations

from types import MappingProxyType

DEFAULT_WINDOW = 8192

# From the vendors; the longest matching prefix counts.
_WINDOWS = MappingProxyType(
    {
        "gpt-3.5-turbo": 16_385,
        "gpt-4": 8_192,
        "gpt-4-32k": 32_768,
        "gpt-4-turbo": 128_000,
        "gpt-4-1106": 128_000,
        "gpt-4-0125": 128_000,
        "gpt-4o": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-5": 400_000,
        "o1": 200_000,
        "o1-mini": 128_000,
        "o1-preview": 128_000,
        "o3": 200_000,
        "o4-mini": 200_000,
        "claude-3": 200_000,
        "claude-haiku-4": 200_000,
        "claude-opus-4": 200_000,
        "claude-sonnet-4": 200_000,
        "gemini-1.5": 1_048_576,
        "gemini-2": 1_048_576,
        "mistral-large": 128_000,
        "mistral-small": 32_000,
        "deepseek-chat": 64_000,
        "deepseek-reasoner": 64_000,
    }
)


def is_known(name: str) -> bool:
    return any(name.lower().rpartition("/")[2].startswith(beginning) for beginning in _WINDOWS)


def context_window(name: str) -> int:
    """Skips a vendor prefix ("openai/")."""
    plain = name.lower().rpartition("/")[2]
    known = [beginning for beginning in _WINDOWS if plain.startswith(beginning)]
    return _WINDOWS[max(known, key=len)] if known else DEFAULT_WINDOW
