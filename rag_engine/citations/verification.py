from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from rag_engine.citations.semantic_support import cosines_of, familiarity, meaning_scores, ranked_windows
from rag_engine.citations.stated_facts import unheld
from rag_engine.citations.stated_numbers import known_figures, spelled_number
from rag_engine.citations.wording_similarity import Weights, WordingSimilarity, joined
from rag_engine.text.language import detect, possible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rag_engine.citations.statements import Statement
    from rag_engine.ports import Embedder
    from rag_engine.types import Hit

_HELD: Final = 0.33
_HELD_WITH_MEANING: Final = 0.4
_MEANING_SHARE: Final = 0.4
_FEWEST_WORDS: Final = 3
_FEWEST_OWN: Final = 2
_MOST_EMBEDDED: Final = 32
_MOST_WINDOWS: Final = 64

State = Literal["held", "doubtful", "unheld", "unchecked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportVerdict:
    """`doubtful`: the passages say it but for `words`. `unchecked`: in another language, or too short."""

    state: State
    passages: tuple[int, ...]
    """To cite, also in place of those cited."""
    words: tuple[str, ...] = ()
    says_nothing: bool = False
    """Too short to compare, and in words that no passage has: "Yes.", "Managers get more."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    text: str
    language: str
    wording: WordingSimilarity
    windows: tuple[str, ...]
    window_wordings: tuple[WordingSimilarity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    listed: list[_Source]
    weights: Weights
    asked: frozenset[str]
    language: str

    def score(self, wanted: WordingSimilarity, passages: Sequence[int]) -> float:
        sources = [self.listed[passage] for passage in passages]
        if not sources:
            return 0.0
        whole = self.weights.overlap(wanted, joined(source.wording for source in sources))
        window = max(
            (self.weights.overlap(wanted, near) for source in sources for near in source.window_wordings),
            default=0.0,
        )
        return 0.5 * whole + 0.5 * window

    def words(self, statement: Statement, passages: Sequence[int]) -> tuple[str, ...]:
        texts = [self.listed[passage].text for passage in passages]
        return unheld(
            statement.words,
            texts,
            language=self.language,
            names=self.shares_language(passages),
            beside=[source.text for source in self.listed],
        )

    def hold(self, statement: Statement) -> bool:
        full = _full_words(WordingSimilarity.of(statement.words, language=self.language))
        return bool(full) and full <= frozenset[str]().union(*(one.wording.tokens for one in self.listed))

    def shares_language(self, passages: Sequence[int]) -> bool:
        languages = {self.listed[passage].language for passage in passages}
        return not self.language or "" in languages or self.language in languages


async def verify(
    text: str, statements: Sequence[Statement], passages: Sequence[Hit], *, question: str, embedder: Embedder
) -> list[SupportVerdict]:
    """At most one embedding call, none if the wording decides."""
    sources = await asyncio.to_thread(_sources, text, passages, question)
    knows = familiarity(text, passages, embedder)
    verdicts = await asyncio.to_thread(_by_wording, statements, sources)
    open_ones = [at for at, verdict in enumerate(verdicts) if verdict is None][:_MOST_EMBEDDED]
    if open_ones:
        asked = [statements[at].words.strip() for at in open_ones]
        cosines = await cosines_of(asked, [source.windows for source in sources.listed], embedder)
        if cosines is not None:
            meaning = meaning_scores(cosines, [len(source.windows) for source in sources.listed])
            for row, at in enumerate(open_ones):
                verdicts[at] = _by_meaning(
                    statements[at], sources, meaning[row].tolist(), _MEANING_SHARE * knows
                )
    return [
        verdict or _unheld(statement, sources)
        for verdict, statement in zip(verdicts, statements, strict=True)
    ]


def _sources(text: str, passages: Sequence[Hit], question: str) -> _Sources:
    most = max(1, _MOST_WINDOWS // len(passages))
    language = _language(text, passages)
    said = WordingSimilarity.of(text, language=language)
    listed = [_source(hit, said, most) for hit in passages]
    return _Sources(
        listed=listed,
        weights=Weights([source.wording for source in listed]),
        asked=WordingSimilarity.of(question, language=language).tokens,
        language=language,
    )


def _language(text: str, passages: Sequence[Hit]) -> str:
    """Of few words, that of the passages."""
    likely = detect(text)
    known = Counter(hit.chunk.language for hit in passages if hit.chunk.language)
    usual = "" if likely or not known else known.most_common(1)[0][0]
    return next((name for name in (likely, *possible(text)) if name in known), likely or usual)


def _source(hit: Hit, said: WordingSimilarity, most: int) -> _Source:
    chunk = hit.chunk
    language = chunk.language or detect(chunk.text)
    header = "\n".join((chunk.title, *chunk.headings))
    wordings = dict(ranked_windows(chunk, said.tokens, language))
    near = list(wordings)[:most]
    return _Source(
        text=f"{header}\n{chunk.text}",
        language=language,
        wording=joined(
            (WordingSimilarity.of(header, language=language), *wordings.values(), _figures(chunk.text))
        ),
        windows=tuple(near),
        window_wordings=tuple(joined((wordings[window], _figures(window))) for window in near),
    )


def _figures(text: str) -> WordingSimilarity:
    return WordingSimilarity(tokens=known_figures([text]), pairs=frozenset())


def _by_wording(statements: Sequence[Statement], sources: _Sources) -> list[SupportVerdict | None]:
    return [_decided(statement, sources) for statement in statements]


def _decided(statement: Statement, sources: _Sources) -> SupportVerdict | None:
    cited = statement.passages
    everywhere = tuple(range(len(sources.listed)))
    if not statement.states:
        return SupportVerdict(state="unchecked", passages=cited)
    wanted = _own_words(statement, sources)
    within = cited or everywhere
    if wanted is not None:
        if sources.score(wanted, within) >= _HELD:
            return _with_words(statement, sources, lambda passage: sources.score(wanted, (passage,)) >= _HELD)
        if cited:
            best = max(everywhere, key=lambda passage: (sources.score(wanted, (passage,)), -passage))
            if sources.score(wanted, (best,)) >= _HELD and not sources.words(statement, (best,)):
                return SupportVerdict(state="held", passages=(best,))
        if sources.shares_language(within):
            return None
    words = sources.words(statement, within)
    return SupportVerdict(
        state="doubtful" if words else "unchecked",
        passages=cited,
        words=words,
        says_nothing=sources.shares_language(within) and not sources.hold(statement),
    )


def _with_words(statement: Statement, sources: _Sources, holds: Callable[[int], bool]) -> SupportVerdict:
    cited, everywhere = statement.passages, tuple(range(len(sources.listed)))
    words = sources.words(statement, cited or everywhere)
    if words and cited:
        for passage in filter(holds, everywhere):
            if not sources.words(statement, (passage,)):
                return SupportVerdict(state="held", passages=(passage,))
            if not sources.words(statement, (*cited, passage)):
                return SupportVerdict(state="held", passages=(*cited, passage))
    return SupportVerdict(state="doubtful" if words else "held", passages=cited, words=words)


def _by_meaning(
    statement: Statement, sources: _Sources, meaning: Sequence[float], share: float
) -> SupportVerdict | None:
    wanted = _own_words(statement, sources)
    if wanted is None:
        return None

    def score(passage: int) -> float:
        return (1 - share) * sources.score(wanted, (passage,)) + share * meaning[passage]

    cited = statement.passages
    everywhere = range(len(sources.listed))
    if any(score(passage) >= _HELD_WITH_MEANING for passage in cited or everywhere):
        return _with_words(statement, sources, lambda passage: score(passage) >= _HELD_WITH_MEANING)
    best = max(everywhere, key=lambda passage: (score(passage), -passage))
    if cited and score(best) >= _HELD_WITH_MEANING and not sources.words(statement, (best,)):
        return SupportVerdict(state="held", passages=(best,))
    return None


def _unheld(statement: Statement, sources: _Sources) -> SupportVerdict:
    within = statement.passages or tuple(range(len(sources.listed)))
    return SupportVerdict(state="unheld", passages=(), words=sources.words(statement, within))


def _own_words(statement: Statement, sources: _Sources) -> WordingSimilarity | None:
    wording = WordingSimilarity.of(statement.words, language=sources.language)
    full = _full_words(wording)
    if len(full) < _FEWEST_WORDS:
        return None
    own = full - sources.asked
    if len(own) < _FEWEST_OWN:
        own = full
    pairs = frozenset(pair for pair in wording.pairs if own.intersection(pair))
    return WordingSimilarity(tokens=own, pairs=pairs)


def _full_words(wording: WordingSimilarity) -> frozenset[str]:
    return frozenset(spelled_number(token) or token for token in wording.tokens - wording.empty)
