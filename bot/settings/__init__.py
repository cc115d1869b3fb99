"""Every setting in one frozen tree, read once from the environment and `.env`.

The tree knows the kind of each part and passes on its slice; the part validates the slice, so a new part brings its own
settings. The docstring under a field is its meaning in docs/settings.md.
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
from pydantic_settings import NoDecode, SettingsError

from bot.settings.expansion import ExpansionSettings, GraphSettings
from bot.settings.platforms import PREFIX, Environment, PlatformSlice, platform_slices, platforms
from bot.settings.research import ResearchSettings
from bot.settings.slices import (
    EmbedderSlice,
    IndexSlice,
    ModelSlice,
    RerankerSlice,
    SpeechSlice,
    SplitterSlice,
    TranscriptionSlice,
    WebSearchSlice,
)
from bot.settings.sources import SourcesSettings
from bot.settings.tools import ToolSettings
from bot.settings.web import WebSettings
from rag_engine.errors import BadSettings
from rag_engine.text.header_secret import HeaderSecret

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def _default_data_dir() -> Path:
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "footnote"


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]
"""Names, in the environment separated by commas."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSettings(_Section):
    """A language model of its own for one task: `answer`, `understand` (what a message means), `summary`, `sql` (over tables), `passage_summary` and `passage_questions` (see `expansion`), `graph` (entities of passages), `subqueries`, `extract` and `sufficiency` (of a research), `agent` (calls tools), `follow_ups` (buttons with further questions), `titles` (of new threads), `tags` (of conversations), `mindmap` or `gaps` (names of unanswered questions); without a model of their own the last five are off. What is unset is as in `FOOTNOTE_MODEL`."""

    model: str = ""
    """Name of the model: `FOOTNOTE_TASKS__UNDERSTAND__MODEL=gpt-4.1-nano`."""
    base_url: str = ""
    """URL of another server."""
    api_key: HeaderSecret = SecretStr("")
    """API key of that server."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature."""
    seconds: float | None = Field(default=None, gt=0)
    """Time limit from the request to the first text."""
    max_tokens: int | None = Field(default=None, ge=64)
    """Maximum tokens of a reply."""


class ParsingSettings(_Section):
    """Limits on reading one file."""

    workers: int = Field(default=2, ge=1, le=64)
    """Processes that read files at the same time."""
    seconds: float = Field(default=60, gt=0)
    """The longest processor time to read one file, without OCR."""
    ocr_seconds: float = Field(default=1_800, gt=0)
    """The longest processor time for OCR of the scanned pages and pictures of one file."""
    ocr_languages: Names = ()
    """Languages of scans and pictures, by their Tesseract names: `eng,deu,fra`. By default all that are installed, unless these are too many."""
    memory_mb: int = Field(default=192, ge=128)
    """Memory that one file may need to be read, in megabytes, without its OCR."""
    file_mb: float = Field(default=200, gt=0)
    """The largest file, in megabytes."""


class IngestionSettings(_Section):
    """Limits on adding files."""

    patience_seconds: float = Field(default=300, ge=0)
    """How long a file waits for an index or embedder that is down; longer than a node takes to restart."""
    document_characters: int = Field(default=20_000_000, ge=1_000)
    """The most text of one file or archive, in characters (the Bible has 4 million). A longer one is refused."""
    document_passages: int = Field(default=40_000, ge=10)
    """The most passages of one file or archive."""
    message_characters: int = Field(default=40_000_000, ge=1_000)
    """The most text of all files of one message together. Files beyond it are refused."""
    message_passages: int = Field(default=80_000, ge=10)
    """The most passages of all files of one message together."""
    originals_mb: float = Field(default=2048, ge=0)
    """Megabytes of original PDFs and files with pictures to keep for pictures of cited places; 0 keeps none."""


class AnsweringSettings(_Section):
    """Limits on one question."""

    question_characters: int = Field(default=20_000, ge=100)
    """The longest question, in characters."""
    history_turns: int = Field(default=20, ge=0)
    """Earlier turns of the conversation that a question sees."""
    passages: int | None = Field(default=None, ge=1, le=50)
    """The most passages of one answer. By default the 8 best, and for a language model what fits its window beside them."""
    first_text_seconds: float = Field(default=60, gt=0)
    """Time until an answer begins, for all language models together; each gets an equal share of the rest."""


class SummarySettings(_Section):
    """Limits on one summary of documents."""

    enabled: bool = True
    """Whether "summarise this file" reads the whole file; otherwise it is searched like any question."""
    documents: int = Field(default=20, ge=1, le=1000)
    """The most documents of one summary."""
    passages: int = Field(default=20_000, ge=1)
    """The most passages of one summary, from the beginning of each document."""
    parts: int = Field(default=200, ge=1)
    """The most calls of the language model for what does not fit its window; of longer documents only the beginning of each section is read."""
    at_once: int = Field(default=4, ge=1, le=64)
    """Parts of a document that the language model reads at the same time."""
    seconds: float = Field(default=90, gt=0)
    """The longest time of one such call."""


class BreakerSettings(_Section):
    """When to stop calling a failing server (model, embedder, index, reranker) for a while. Calls then fail at once."""

    failures: int = Field(default=5, ge=1, le=1000)
    """Failures in a row before a server is left alone."""
    within_seconds: float = Field(default=60, gt=0)
    """Failures spread over a longer time are not an outage."""
    rest_seconds: float = Field(default=10, gt=0)
    """How long the server is left alone before one trial call."""
    slow_seconds: float = Field(default=5, gt=0)
    """A call cancelled after this time counts as a failure."""


class AccessSettings(_Section):
    """Who may do what, and which knowledge bases every place may search."""

    roles: Names = ()
    """Names of roles (Discord) and user groups (Slack) whose members may administer, in addition to administrators."""
    add: Literal["admins", "everyone"] = "admins"
    """Who may add files to the knowledge base of a channel. Everyone who can write in a thread may add files to it."""
    workspaces: Names = ()
    """Ids of the workspaces and servers to serve; by default all that the bot is installed in. Knowledge bases made by `footnote add` are seen only in the Slack workspace of the token and in those listed here: list your Discord server."""
    everywhere: Names = ()
    """Names of knowledge bases made by `footnote add` that every place in these workspaces may search."""
    guests: bool = False
    """Whether guests may read, in channels, the knowledge bases made by `footnote add`. By default they are not searched where a guest reads along."""


class ChatSettings(_Section):
    """How the bot behaves in chat."""

    answers: int = Field(default=32, ge=1, le=1000)
    """Questions answered at the same time."""
    resume_seconds: float = Field(default=3600, ge=0)
    """The age up to which an answer interrupted by a restart is resumed; an older one ends with a sentence."""
    waiting: int = Field(default=5, ge=1, le=100)
    """Questions that may wait in one conversation."""
    questions_per_hour: int = Field(default=60, ge=0)
    """Questions of one person in an hour, edited ones included; administrators have no limit, and 0 sets none."""
    repeats_per_hour: int = Field(default=20, ge=0)
    """Answers that one person may have repeated in an hour (*Regenerate*); administrators have no limit, and 0 sets none."""
    sources_per_hour: int = Field(default=120, ge=0)
    """Presses of *Sources* and of its pages by one person in an hour; administrators have no limit, and 0 sets none."""
    queue: int = Field(default=200, ge=1, le=10_000)
    """Questions that may wait in total; with 32 answers of twenty seconds at a time, the last one waits two minutes."""
    last_word_seconds: float = Field(default=300, gt=0)
    """How long to retry the final edit while the platform rejects it."""
    files_per_place: int = Field(default=100, ge=1, le=10_000)
    """Files in progress for the knowledge base of one place, including waiting ones."""
    files_per_person: int = Field(default=50, ge=1, le=10_000)
    """Files in progress of one person: as many as five full messages bring."""
    upload_seconds: float = Field(default=120, gt=0)
    """The longest time to download one file from the platform."""
    bots: Names = ()
    """Ids of other bots to answer."""
    bot_turns: int = Field(default=3, ge=1, le=20)
    """Answers to other bots in one thread."""
    expert_reminder_hours: float = Field(default=24, gt=0)
    """Hours of running until experts are reminded of a question, once, and as many until it goes to the next."""
    review_days: float = Field(default=180, ge=0)
    """Days after which a verified answer counts as possibly outdated and its author is asked; 0 is never."""
    feedback_export: bool = False
    """Whether rated public questions may become an evaluation set (`footnote eval answers --from-feedback`)."""
    grace_seconds: float = Field(default=20, ge=0)
    """How long running answers may continue after the stop signal; service managers kill after 30 s or more."""


class RetentionSettings(_Section):
    """How long conversations are kept."""

    days: int = Field(default=90, ge=0)
    """Days to keep questions, answers, feedback and traces; 0 keeps them for ever. Documents stay."""


class MetricsSettings(_Section):
    """Where `footnote run` serves metrics and health."""

    port: int | None = Field(default=None, ge=0, le=65535)
    """Without one there is no server; 0 chooses a free port."""
    host: str = "127.0.0.1"
    """The address to listen on."""
    stuck_seconds: float = Field(default=30, gt=0)
    """`/healthz` fails after the event loop has been blocked for so long."""
    deaf_seconds: float = Field(default=30, gt=0)
    """A platform disconnected for so long is logged and counted. `/readyz` fails at once."""


class TracingSettings(_Section):
    """Where `footnote run` sends traces."""

    endpoint: str = ""
    """A collector for OTLP over HTTP, such as http://localhost:4318; needs `footnote-bot[otel]`. Without one nothing is sent."""


class Settings(Environment):
    """The whole tree. `FOOTNOTE_INDEX__KIND` is `index.kind`, and so on."""

    data_dir: Path = Field(default_factory=_default_data_dir)
    """Where everything is stored; by default `footnote` in `$XDG_DATA_HOME` or `~/.local/share`."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """`debug`, `info`, `warning` or `error`."""
    embedder: EmbedderSlice = EmbedderSlice()
    index: IndexSlice = IndexSlice()
    splitter: SplitterSlice = SplitterSlice()
    model: ModelSlice = ModelSlice()
    tasks: dict[str, TaskSettings] = Field(default_factory=dict[str, TaskSettings])
    """Settings of the language model by task: `FOOTNOTE_TASKS__UNDERSTAND__MODEL=…`."""
    reranker: RerankerSlice = RerankerSlice()
    web_search: WebSearchSlice = WebSearchSlice()
    speech: SpeechSlice = SpeechSlice()
    transcription: TranscriptionSlice = TranscriptionSlice()
    parsing: ParsingSettings = ParsingSettings()
    ingestion: IngestionSettings = IngestionSettings()
    sources: SourcesSettings = SourcesSettings()
    answering: AnsweringSettings = AnsweringSettings()
    summaries: SummarySettings = SummarySettings()
    research: ResearchSettings = ResearchSettings()
    tools: ToolSettings = ToolSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    graph: GraphSettings = GraphSettings()
    breakers: BreakerSettings = BreakerSettings()
    metrics: MetricsSettings = MetricsSettings()
    tracing: TracingSettings = TracingSettings()
    web: WebSettings = WebSettings()
    access: AccessSettings = AccessSettings()
    chat: ChatSettings = ChatSettings()
    retention: RetentionSettings = RetentionSettings()
    platforms: dict[str, PlatformSlice] = Field(default_factory=platform_slices)
    """Settings of each chat platform by its name: `FOOTNOTE_SLACK__STREAMS=false`."""
    steps: dict[str, dict[str, object]] = Field(default_factory=dict[str, dict[str, object]])
    """Settings of a pipeline step by its name: `FOOTNOTE_STEPS__RETRIEVE__CANDIDATES=50`."""
    openai_api_key: HeaderSecret | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    """For the language model and the embedder of kind `openai`."""
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    """The server of the language model and the embedder of kind `openai`."""

    elasticsearch_url: str | None = Field(default=None, validation_alias="ELASTICSEARCH_URL", repr=False)
    """For the index of kind `elasticsearch`."""
    elasticsearch_api_key: HeaderSecret | None = Field(default=None, validation_alias="ELASTICSEARCH_API_KEY")
    """For the index of kind `elasticsearch`."""

    @field_validator("data_dir")
    @classmethod
    def _expanded(cls, data_dir: Path) -> Path:
        return data_dir.expanduser()

    def model_kind(self) -> str:
        if self.model.kind:
            return self.model.kind
        has_model = bool(self.model.rest().get("name")) or self.openai_api_key or self.openai_base_url
        return "openai" if has_model else "extractive"


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Raises `BadSettings` that names the variable and what it may be."""
    environment = os.environ if environment is None else environment
    try:
        _refuse_unknown(environment)
        return Settings()
    except ValidationError as error:
        raise BadSettings(sentence(error, prefix=PREFIX)) from error
    except SettingsError as error:
        group = re.search(r'field "(\w+)"', str(error))
        name = f"{PREFIX}{group[1].upper()}" if group else "A setting"
        raise BadSettings(f"{name} is a group of settings: set one of them, such as {name}__KIND.") from error
    except UnicodeDecodeError as error:
        raise BadSettings("The file .env is not text in UTF-8: save it as that.") from error
    except OSError as error:
        raise BadSettings(f"The file .env cannot be read: {error.strerror}.") from error


def sentence(error: ValidationError, *, prefix: str, variables: Mapping[str, str] | None = None) -> str:
    """About the first invalid value, with the name of its environment variable."""
    first = error.errors(include_url=False, include_input=False)[0]
    path = [str(part) for part in first["loc"]]
    own = path[0] if path and path[0].isupper() else (variables or {}).get(".".join(path), "")
    name = own or prefix + "__".join(path).upper()
    if first["type"] == "extra_forbidden":
        return f"Unknown setting {name}."
    if first["type"] == "model_type":
        return f"{name} is a group of settings: set one of them, such as {name}__KIND."
    if first["type"] == "missing":
        return f"{name} must be set."
    reason = first["msg"].removeprefix("Value error, ")
    return f"{name}: {reason[0].lower()}{reason[1:]}."


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    fields = Settings.model_fields.items()
    known = {name.upper() for name, field in fields if field.validation_alias is None} - {"PLATFORMS"}
    known |= {declared.name.upper() for declared in platforms()}
    for variable in _ours(environment):
        first = variable.removeprefix(PREFIX).partition("__")[0]
        if first not in known:
            near = ", ".join(sorted(PREFIX + name for name in known))
            raise BadSettings(f"Unknown setting {variable}; settings begin with {near}.")


def _ours(environment: Mapping[str, str]) -> Iterable[str]:
    names = [name.upper() for name in environment if name.upper().startswith(PREFIX)]
    file = Path(".env")
    if file.is_file():
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        keys = [
            line.removeprefix("export ").partition("=")[0].strip().upper() for line in lines if "=" in line
        ]
        names += [key for key in keys if key.startswith(PREFIX)]
    return names
