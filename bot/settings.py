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


class FallbackSlice(Slice):
    """A language model that is asked when those before it do not answer; without an address of its own it is on the same server."""

    kind: str = "openai"


class ModelSlice(Slice):
    kind: str = ""
    """Empty: `openai` when a name, a key or a server is given, else `extractive`."""
    fallbacks: dict[str, FallbackSlice] = Field(default_factory=dict[str, FallbackSlice])
    """The models asked next, in the order of their labels: `FOOTNOTE_MODEL__FALLBACKS__1__NAME=…`, `…__1__BASE_URL`, `…__1__API_KEY`."""


class RerankerSlice(Slice):
    kind: str = ""
    """Empty: none."""


class SplitterSlice(Slice):
    kind: str = "structure"


class ParsingSettings(_Section):
    """Limits on reading one file."""

    workers: int = Field(default=2, ge=1, le=64)
    seconds: float = Field(default=60, gt=0)
    ocr_seconds: float = Field(default=1_800, gt=0)
    """How long recognising the text of one file's scanned pages and pictures may take, beside `seconds`."""
    ocr_languages: Names = ()
    """What scans and pictures are written in, as Tesseract names it (eng,deu,fra); empty: what is installed, if it is not too much."""
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
    first_text_seconds: float = Field(default=60, gt=0)
    """How long it may take until an answer begins, all language models together: each may take an equal share of what is left."""


class SummarySettings(_Section):
    """Limits on one summary of documents."""

    enabled: bool = True
    """Whether "summarise this file" reads all of it; without, it is a question as any other."""
    documents: int = Field(default=20, ge=1, le=1000)
    passages: int = Field(default=20_000, ge=1)
    parts: int = Field(default=200, ge=1)
    """How often the language model is asked at most, for what does not fit its window; of more, each section's beginning is read."""
    at_once: int = Field(default=4, ge=1, le=64)
    """Parts of a long document that the language model is asked about at the same time."""
    seconds: float = Field(default=90, gt=0)
    """How long the language model may take for one of them."""


class BreakerSettings(_Section):
    """When a server that fails (model, embedder, index, reranker) is left alone for a while; whoever asks is then told so at once."""

    failures: int = Field(default=5, ge=1, le=1000)
    """In a row: fewer may be one bad minute of a server that restarts."""
    within_seconds: float = Field(default=60, gt=0)
    """How long such a row may take; failures further apart are not an outage."""
    rest_seconds: float = Field(default=10, gt=0)
    """How long it is left alone before one call tries it: no longer than people wait before they ask again."""
    slow_seconds: float = Field(default=5, gt=0)
    """Giving up on a call that has taken so long counts as its failure."""


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
    resume_seconds: float = Field(default=3600, ge=0)
    """How old an answer that a restart interrupted may be to be gone on with; an older one ends with a sentence."""
    waiting: int = Field(default=5, ge=1, le=100)
    """How many questions may wait for their turn in one conversation."""
    queue: int = Field(default=200, ge=1, le=10_000)
    """How many questions may wait in all; with 32 answers of twenty seconds at a time, the last one waits two minutes."""
    last_word_seconds: float = Field(default=300, gt=0)
    """How long the end of an answer is tried to be written while the platform does not take it."""
    files_per_place: int = Field(default=100, ge=1, le=10_000)
    """How many files may be on their way into one place's knowledge base at once, those that wait included."""
    files_per_person: int = Field(default=50, ge=1, le=10_000)
    """How many of one person's: what five full messages bring."""
    upload_seconds: float = Field(default=120, gt=0)
    """How long one file may take to come from the platform."""
    bots: Names = ()
    """Ids of other bots that are answered."""
    bot_turns: int = Field(default=3, ge=1, le=20)
    """How many answers other bots get in one thread."""
    grace_seconds: float = Field(default=20, ge=0)
    """How long answers that are being written may go on when the program is told to end; service managers kill after 30 s or more."""


class RetentionSettings(_Section):
    """How long what people said is kept."""

    days: int = Field(default=90, ge=0)
    """For how many days questions, answers, opinions of them and traces are kept; 0 keeps them for ever. Documents stay."""


class MetricsSettings(_Section):
    """Where `footnote run` shows its counters and how it does; nowhere when no port is given, and a free one is taken for 0."""

    port: int | None = Field(default=None, ge=0, le=65535)
    host: str = "127.0.0.1"
    stuck_seconds: float = Field(default=30, gt=0)
    """When the event loop has stood still for so long, `/healthz` says that the program is to be started again."""
    deaf_seconds: float = Field(default=30, gt=0)
    """A platform without a connection for so long is told in the log, and counted. `/readyz` says so at once."""


class TracingSettings(_Section):
    """Where `footnote run` sends traces; nowhere when no endpoint is given."""

    endpoint: str = ""
    """A collector's address for OTLP over HTTP, such as http://localhost:4318; needs `footnote-bot[otel]`."""


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
    summaries: SummarySettings = SummarySettings()
    breakers: BreakerSettings = BreakerSettings()
    metrics: MetricsSettings = MetricsSettings()
    tracing: TracingSettings = TracingSettings()
    access: AccessSettings = AccessSettings()
    chat: ChatSettings = ChatSettings()
    retention: RetentionSettings = RetentionSettings()
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
