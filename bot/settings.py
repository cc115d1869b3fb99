"""Every setting in one frozen tree, read once from the environment and `.env`.

The tree knows the names of the parts and hands each its slice; the part validates its own slice, so that a new part brings
its own settings without a change here.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError

from rag_engine.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PREFIX = "FOOTNOTE_"


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "footnote"


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
"""Several names: in the environment, with commas between them."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Slice(BaseModel):
    """The name of a part, and the settings only that part knows."""

    model_config = ConfigDict(frozen=True, extra="allow")
    kind: str

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Names only: a part's own settings may hold keys, which no log or traceback must show."""
        yield "kind", self.kind
        for name in self.rest():
            yield name, "…"

    def rest(self) -> dict[str, object]:
        """What the part itself validates."""
        return dict(self.model_extra or {})


class EmbedderSlice(Slice):
    kind: str = "local"


class PlatformSlice(_Section):
    """Settings that only the adapter of one platform knows."""

    model_config = ConfigDict(frozen=True, extra="allow")

    def __repr_args__(self) -> Iterable[tuple[str | None, object]]:
        """Names only, as in `Slice`."""
        for name in self.model_extra or {}:
            yield name, "…"


class IndexSlice(Slice):
    kind: str = "embedded"


class ModelSlice(Slice):
    kind: str = ""
    """Empty: `openai` when a name, a key or a server is given, else `extractive`."""


class RerankerSlice(Slice):
    kind: str = ""
    """Empty: none."""


class SplitterSlice(Slice):
    kind: str = "structure"


class ParsingSettings(_Section):
    """Limits on reading one file."""

    workers: int = Field(default=2, ge=1, le=64)
    seconds: float = Field(default=60, gt=0)
    memory_mb: int = Field(default=1024, ge=128)
    file_mb: float = Field(default=200, gt=0)


class IngestionSettings(_Section):
    """How files are taken in."""

    patience_seconds: float = Field(default=300, ge=0)
    """How long a file waits for an index or an embedder that does not answer; longer than a node takes to start again."""
    originals_mb: float = Field(default=2048, ge=0)
    """How many megabytes of PDFs are kept as they came, so that cited pages can be shown; 0 keeps none."""


class AnsweringSettings(_Section):
    """Limits on one question and what it sees."""

    question_characters: int = Field(default=20_000, ge=100)
    history_turns: int = Field(default=20, ge=0)
    passages: int = Field(default=8, ge=1, le=50)


class AccessSettings(_Section):
    """Who may do what, and which knowledge bases are seen without being bound."""

    roles: Names = ()
    """Names of roles (Discord) and user groups (Slack) whose members may administer, beside the administrators."""
    add: Literal["admins", "everyone"] = "admins"
    """Who may add files to a channel's own knowledge base; to a thread's, everyone who can write in it."""
    workspaces: Names = ()
    """Ids of the workspaces and servers that are served; empty: every one the bot is installed in."""
    everywhere: Names = ()
    """Names of knowledge bases, made by `footnote add`, that every place sees without their being bound."""


class ChatSettings(_Section):
    """How the bot behaves in chat."""

    answers: int = Field(default=32, ge=1, le=1000)
    """How many questions are answered at the same time."""
    waiting: int = Field(default=5, ge=1, le=100)
    """How many questions may wait for their turn in one conversation."""
    upload_seconds: float = Field(default=120, gt=0)
    """How long one file may take to come from the platform."""
    bots: Names = ()
    """Ids of other bots that are answered."""
    bot_turns: int = Field(default=3, ge=1, le=20)
    """How many answers other bots get in one thread."""


class MetricsSettings(_Section):
    """Where `footnote run` shows its counters; nowhere when no port is given, and a free one is taken for 0."""

    port: int | None = Field(default=None, ge=0, le=65535)
    host: str = "127.0.0.1"


class Settings(BaseSettings):
    """The whole tree. `FOOTNOTE_INDEX__KIND` is `index.kind`, and so on."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_nested_delimiter="__",
        env_file=".env",
        env_ignore_empty=True,
        frozen=True,
        extra="ignore",
    )

    data_dir: Path = Field(default_factory=_default_data_dir)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    embedder: EmbedderSlice = EmbedderSlice()
    index: IndexSlice = IndexSlice()
    splitter: SplitterSlice = SplitterSlice()
    model: ModelSlice = ModelSlice()
    reranker: RerankerSlice = RerankerSlice()
    parsing: ParsingSettings = ParsingSettings()
    ingestion: IngestionSettings = IngestionSettings()
    answering: AnsweringSettings = AnsweringSettings()
    metrics: MetricsSettings = MetricsSettings()
    access: AccessSettings = AccessSettings()
    chat: ChatSettings = ChatSettings()
    slack: PlatformSlice = PlatformSlice()
    discord: PlatformSlice = PlatformSlice()
    steps: dict[str, dict[str, object]] = Field(default_factory=dict[str, dict[str, object]])
    """Settings of a pipeline step by its name: `FOOTNOTE_STEPS__RETRIEVE__CANDIDATES=50`."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")

    # It may hold a name and a password, which no log must show.
    elasticsearch_url: str | None = Field(default=None, validation_alias="ELASTICSEARCH_URL", repr=False)
    elasticsearch_api_key: SecretStr | None = Field(default=None, validation_alias="ELASTICSEARCH_API_KEY")

    slack_bot_token: SecretStr | None = Field(default=None, validation_alias="SLACK_BOT_TOKEN")
    slack_app_token: SecretStr | None = Field(default=None, validation_alias="SLACK_APP_TOKEN")
    slack_signing_secret: SecretStr | None = Field(default=None, validation_alias="SLACK_SIGNING_SECRET")
    slack_api_base_url: str | None = Field(default=None, validation_alias="SLACK_API_BASE_URL")
    discord_token: SecretStr | None = Field(default=None, validation_alias="DISCORD_TOKEN")
    discord_api_base: str | None = Field(default=None, validation_alias="DISCORD_API_BASE")
    discord_gateway_url: str | None = Field(default=None, validation_alias="DISCORD_GATEWAY_URL")

    @field_validator("data_dir")
    @classmethod
    def _expanded(cls, data_dir: Path) -> Path:
        return data_dir.expanduser()

    def model_kind(self) -> str:
        """The language model to load: what is set, or what the other settings imply."""
        if self.model.kind:
            return self.model.kind
        wanted = bool(self.model.rest().get("name")) or self.openai_api_key or self.openai_base_url
        return "openai" if wanted else "extractive"


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process. Raises `BadSettings` that names the variable and what it may be."""
    environment = os.environ if environment is None else environment
    try:
        _refuse_unknown(environment)
        return Settings()
    except ValidationError as error:
        raise BadSettings(sentence(error, prefix=_PREFIX)) from error
    except SettingsError as error:
        group = re.search(r'field "(\w+)"', str(error))
        name = f"{_PREFIX}{group[1].upper()}" if group else "A setting"
        raise BadSettings(f"{name} is a group of settings: set one of them, such as {name}__KIND.") from error
    except UnicodeDecodeError as error:
        raise BadSettings("The file .env is not text in UTF-8: save it as that.") from error
    except OSError as error:
        raise BadSettings(f"The file .env cannot be read: {error.strerror}.") from error


def sentence(error: ValidationError, *, prefix: str) -> str:
    """What is wrong with the first bad value, as one sentence that names its environment variable."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(part) for part in first["loc"]]
    name = path[0] if path and path[0].isupper() else prefix + "__".join(path).upper()
    if first["type"] == "extra_forbidden":
        return f"{name} is no setting of Footnote."
    if first["type"] == "model_type":
        return f"{name} is a group of settings: set one of them, such as {name}__KIND."
    if first["type"] == "missing":
        return f"{name} must be set."
    return f"{name}: {first['msg'][0].lower()}{first['msg'][1:]}."


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    known = {name.upper() for name, field in Settings.model_fields.items() if field.validation_alias is None}
    for variable in _ours(environment):
        first = variable.removeprefix(_PREFIX).partition("__")[0]
        if first not in known:
            near = ", ".join(sorted(_PREFIX + name for name in known))
            raise BadSettings(f"{variable} is no setting of Footnote; the settings begin with {near}.")


def _ours(environment: Mapping[str, str]) -> Iterable[str]:
    names = [name.upper() for name in environment if name.upper().startswith(_PREFIX)]
    file = Path(".env")
    if file.is_file():
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        keys = [
            line.removeprefix("export ").partition("=")[0].strip().upper() for line in lines if "=" in line
        ]
        names += [key for key in keys if key.startswith(_PREFIX)]
    return names
