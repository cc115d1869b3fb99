from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag_engine import plugins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PREFIX = "FOOTNOTE_"


class Environment(BaseSettings):
    """Read from the environment and `.env`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
    )


class PlatformSlice(BaseModel):
    """With those from the adapter's own environment variables."""

    model_config = ConfigDict(frozen=True, extra="allow")

    def rest(self) -> dict[str, object]:
        """The values that the adapter validates."""
        return dict(self.model_extra or {})

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        for name in self.rest():
            yield name, "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformDeclaration:
    """Known before the adapter is imported."""

    name: str
    variables: Mapping[str, str]
    """Environment variables by setting."""

    @property
    def required(self) -> str:
        """The first that it declares enables the platform."""
        return next(iter(self.variables))


def platforms() -> tuple[PlatformDeclaration, ...]:
    """Modules of `adapters` with `VARIABLES`, read once."""
    return _platforms(_adapters_path())


def platform_slices() -> dict[str, PlatformSlice]:
    """Settings in a group override environment variables."""
    path = _adapters_path()
    found = _settings_class(path)()
    slices: dict[str, PlatformSlice] = {}
    for platform in _platforms(path):
        given = {setting: getattr(found, variable) for setting, variable in platform.variables.items()}
        own = cast("PlatformSlice", getattr(found, platform.name)).rest()
        slices[platform.name] = PlatformSlice(**{name: value for name, value in given.items() if value} | own)
    return slices


def _adapters_path() -> tuple[str, ...]:
    return tuple(importlib.import_module("adapters").__path__)


@functools.lru_cache(maxsize=1)
def _platforms(path: tuple[str, ...]) -> tuple[PlatformDeclaration, ...]:
    found = {
        name: plugins.declarations("adapters", name, "VARIABLES") for name in plugins.modules("adapters")
    }
    return tuple(
        PlatformDeclaration(name=name, variables=cast("Mapping[str, str]", declared["VARIABLES"]))
        for name, declared in found.items()
        if declared
    )


@functools.lru_cache(maxsize=1)
def _settings_class(path: tuple[str, ...]) -> type[Environment]:
    fields: dict[str, Any] = {}
    for platform in _platforms(path):
        fields[platform.name] = (PlatformSlice, PlatformSlice())
        for variable in platform.variables.values():
            fields[variable] = (str | None, Field(default=None, validation_alias=variable, repr=False))
    return create_model("PlatformSettings", __base__=Environment, **fields)
