from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.store.turn_figures import DayFigures, TokenCount, TurnFigures, percentile, totalled
from bot.web.charts import Series, lines, stacked
from bot.web.sheets import day
from bot.web.visit import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bot.settings.web import WebSettings
    from bot.web.visit import Visit

TITLE: Final = "Overview"
PATH: Final = ""
POSITION: Final = 0

_PERIODS: Final = {"30": "30 days", "7": "7 days", "91": "13 weeks"}
_WEEKS: Final = "91"
_OUTCOMES: Final = {
    "answered": "Answered",
    "unanswered": "Not found",
    "talk": "Talk and help",
    "stopped": "Stopped",
    "failed": "Failed",
}
_MILLION: Final = 1_000_000


async def show(visit: Visit) -> Shown:
    period = visit.choice("days", *_PERIODS)
    who, settings = visit.visitor, visit.parts.application.settings.web
    days = await TurnFigures(visit.parts.chat).days(
        int(period),
        span=7 if period == _WEEKS else 1,
        platform=who.platform,
        workspace=who.workspace,
    )
    latency = totalled([each.latency for each in days])
    outcomes = {name: sum(each.outcomes.get(name, 0) for each in days) for name in _OUTCOMES}
    tokens = _tokens(days)
    answers = outcomes["answered"] + outcomes["unanswered"]
    values = {
        "period": period,
        "periods": {each: _PERIODS[each] for each in sorted(_PERIODS, key=int)},
        "questions": sum(outcomes.values()),
        "outcomes": outcomes,
        "answered_share": outcomes["answered"] / answers if answers else None,
        "up": sum(each.up for each in days),
        "down": sum(each.down for each in days),
        "p50": percentile(latency, 0.5),
        "p95": percentile(latency, 0.95),
        "tokens": sum(count.prompt + count.reply for count in tokens.values()),
        "cost": _cost(tokens, settings),
        "unpriced": sorted(model for model in tokens if model not in settings.prices),
        "models": sorted(tokens.items(), key=lambda each: -(each[1].prompt + each[1].reply)),
        "currency": settings.currency,
        "charts": _charts(days, "week" if period == _WEEKS else "day", settings),
    }
    return Shown(template="overview.html", values=values)


def _charts(days: Sequence[DayFigures], span: str, settings: WebSettings) -> list[object]:
    labels = [day(each.day) for each in days]
    series = [
        Series(name=name, kind=kind, values=[each.outcomes.get(kind, 0) for each in days])
        for kind, name in _OUTCOMES.items()
    ]
    shares = {"Half within": ("median", 0.5), "95 % within": ("most", 0.95)}
    latency = [
        Series(name=name, kind=kind, values=[percentile(each.latency, share) for each in days])
        for name, (kind, share) in shares.items()
    ]
    ratings = [
        Series(name="Helpful", kind="up", values=[each.up for each in days]),
        Series(name="Not helpful", kind="down", values=[each.down for each in days]),
    ]
    spent = [
        Series(name="Prompt", kind="prompt", values=[_sum(each.tokens).prompt for each in days]),
        Series(name="Reply", kind="reply", values=[_sum(each.tokens).reply for each in days]),
    ]
    charts = [
        (stacked(f"Questions a {span}", labels, series), ""),
        (lines("Seconds to the whole answer", labels, latency), "s"),
        (stacked(f"Ratings a {span}", labels, ratings), ""),
        (stacked(f"Tokens a {span}", labels, spent), ""),
    ]
    if settings.prices:
        costs = [_cost(each.tokens, settings) for each in days]
        charts.append(
            (
                stacked(f"Cost a {span}", labels, [Series(name="Cost", kind="cost", values=costs)]),
                settings.currency,
            )
        )
    return list(charts)


def _tokens(days: Sequence[DayFigures]) -> dict[str, TokenCount]:
    found: dict[str, TokenCount] = {}
    for each in days:
        for model, count in each.tokens.items():
            found[model] = found.get(model, TokenCount()) + count
    return found


def _sum(tokens: Mapping[str, TokenCount]) -> TokenCount:
    return sum(tokens.values(), TokenCount())


def _cost(tokens: Mapping[str, TokenCount], settings: WebSettings) -> float:
    priced = [(settings.prices[model], count) for model, count in tokens.items() if model in settings.prices]
    return sum(read * count.prompt + written * count.reply for (read, written), count in priced) / _MILLION
