# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import datetime, timedelta

from tests.tables.computed.made_files import made
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

Q = ComputedQuestion


def tickets() -> list[Row]:
    """Number, opened, queue, priority, requester, agent, minutes spent, reopened, rating (empty: none), state."""
    source = random.Random(1601)
    rows: list[Row] = []
    for n in range(48):
        opened = datetime(2025, 2, 3, 8, 5) + timedelta(
            hours=29 * n + source.randrange(9), minutes=source.randrange(50)
        )
        state = source.choice(("Closed", "Closed", "Closed", "Open", "Waiting"))
        rows.append(
            (
                f"#{7310 + n}",
                opened,
                source.choice(("Accounts", "Printers", "Network", "Software")),
                source.choice(("Low", "Normal", "Normal", "High")),
                source.choice(("Warehouse", "Finance", "Sales", "HR", "Directors")),
                source.choice(("Kofi", "Marlene", "Stu", "Yasmin")),
                source.randrange(5, 240),
                source.choice((0, 0, 0, 1, 2)),
                source.choice((1, 2, 3, 4, 5, 5)) if state == "Closed" and n % 4 else "",
                state,
            )
        )
    return rows


def league() -> list[Row]:
    """Team, played, won, drawn, lost, for, against, points, ground."""
    results = (
        ("Harbour Rovers", 13, 3, 2, 41, 17, "Quay Lane"),
        ("Old Mill", 11, 4, 3, 36, 21, "Mill Field"),
        ("St Aidan's", 10, 5, 3, 33, 19, "Abbey Park"),
        ("Denby Veterans", 9, 4, 5, 38, 29, "Mill Field"),
        ("Westgate", 8, 3, 7, 27, 26, "Jubilee Ground"),
        ("Foxhill United", 6, 6, 6, 24, 25, "Abbey Park"),
        ("Crown Green", 5, 5, 8, 22, 31, "Jubilee Ground"),
        ("Railway Arms", 4, 3, 11, 19, 37, "Sidings"),
        ("Bellbrook", 3, 5, 10, 16, 34, "Sidings"),
        ("Thornley", 1, 2, 15, 12, 29, "Quay Lane"),
    )
    return [(t, w + d + x, w, d, x, f, a, 3 * w + d, g) for t, w, d, x, f, a, g in results]


def dishes() -> list[Row]:
    """Dish, section, price a head, least number of guests, vegan, notice in days."""
    return [
        ("Mini bagels", "Cold buffet", 4.2, 10, "no", 2),
        ("Falafel wraps", "Cold buffet", 5.6, 8, "yes", 2),
        ("Cheese platter", "Cold buffet", 7.9, 6, "no", 3),
        ("Roast vegetable tart", "Hot buffet", 8.4, 15, "no", 4),
        ("Chicken tagine", "Hot buffet", 11.75, 20, "no", 5),
        ("Chickpea curry", "Hot buffet", 9.3, 20, "yes", 5),
        ("Fruit skewers", "Sweet", 3.1, 12, "yes", 1),
        ("Lemon tartlets", "Sweet", 3.85, 12, "no", 3),
        ("Brownie bites", "Sweet", 2.95, 10, "no", 1),
        ("Coffee and tea", "Drinks", 2.4, 5, "yes", 1),
        ("Elderflower punch", "Drinks", 3.3, 15, "yes", 2),
    ]


MAKERS = {
    "ticket export.csv": made(
        ("Ticket", "Opened", "Queue", "Priority", "Department", "Agent", "Minutes spent", "Times reopened", "Rating", "Status"),
        [(r[0], f"{r[1]:%Y-%m-%d %H:%M}", *r[2:]) for r in tickets()],
    ),
    "walking football league.md": made(("Team", "P", "W", "D", "L", "Goals for", "Goals against", "Pts", "Home ground"), league()),
    "catering prices.html": made(
        ("Dish", "Section", "Price per head", "Minimum guests", "Vegan", "Notice (days)"),
        [(*r[:2], f"£{r[2]:.2f}", *r[3:]) for r in dishes()],
    ),
}  # fmt: skip


def questions() -> list[Q]:
    return [*_about_tickets(), *_about_league(), *_about_dishes()]


def _about_tickets() -> list[Q]:
    rows, t = tickets(), "<ticket export.csv>"
    agents = ("Kofi", "Marlene", "Stu", "Yasmin")
    minutes = {a: sum(r[6] for r in rows if r[5] == a) for a in agents}
    rated = [r for r in rows if r[8] != ""]
    queues = {q: sum(r[2] == q for r in rows) for q in ("Accounts", "Printers", "Network", "Software")}
    longest = sorted(rows, key=lambda r: r[6], reverse=True)[:2]
    closed = sum(r[9] == "Closed" for r in rows)
    return [
        Q(text="how many tickets are still open or waiting", kind="filter", gold=(sum(r[9] in ("Open", "Waiting") for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Status] IN ('Open', 'Waiting')"),
        Q(text="average rating we got on tickets", kind="average", gold=(mean(r[8] for r in rated),), sql=f"SELECT AVG([Rating]) FROM {t}"),
        Q(text="Minutes spent on tickets, split by agent", kind="group", gold=tuple(minutes.values()), sql=f"SELECT [Agent], SUM([Minutes spent]) FROM {t} GROUP BY [Agent]"),
        Q(text="which queue gets the fewest tickets?", kind="extreme", gold=(min(queues, key=lambda q: queues[q]),), sql=f"SELECT [Queue], COUNT(*) FROM {t} GROUP BY [Queue] ORDER BY 2 LIMIT 1"),
        Q(text="give me the 2 tickets that ate the most time, longest first", kind="top", gold=tuple(r[0] for r in longest), sql=f"SELECT [Ticket], [Minutes spent] FROM {t} ORDER BY [Minutes spent] DESC LIMIT 2"),
        Q(text="tickets opened in the second half of February 2025 (15th to 28th)", kind="count", gold=(sum(r[1].month == 2 and r[1].day >= 15 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Opened] >= '2025-02-15' AND [Opened] < '2025-03-01'"),
        Q(text="high priority tickets from HR, how many did we get?", kind="filter", gold=(sum(r[3] == "High" and r[4] == "HR" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Priority] = 'High' AND [Department] = 'HR'"),
        Q(text="Which tickets in the Network queue were reopened twice?", kind="filter", gold=tuple(r[0] for r in rows if r[7] == 2 and r[2] == "Network"), sql=f"SELECT [Ticket] FROM {t} WHERE [Times reopened] = 2 AND [Queue] = 'Network'"),
        Q(text="share of tickets that are closed, in percent", kind="count", gold=(100 * closed / len(rows),), sql=f"SELECT 100.0 * SUM([Status] = 'Closed') / COUNT(*) FROM {t}"),
        Q(text="who was the agent on ticket #7325", kind="lookup", gold=(rows[15][5],), sql=f"SELECT [Agent] FROM {t} WHERE [Ticket] = '#7325'"),
        Q(text="Which department raised #7342?", kind="lookup", gold=(rows[32][4],), sql=f"SELECT [Department] FROM {t} WHERE [Ticket] = '#7342'"),
        Q(text="minutes spent #7318", kind="lookup", gold=(rows[8][6],), sql=f"SELECT [Minutes spent] FROM {t} WHERE [Ticket] = '#7318'"),
        Q(text="what's the serial number of the printer in #7330", kind="none", gold=()),
        Q(text="how many tickets did Leonard handle?", kind="none", gold=()),
    ]  # fmt: skip


def _about_league() -> list[Q]:
    rows, t = league(), "<walking football league.md>"
    return [
        Q(text="who leads the walking football league on points", kind="extreme", gold=("Harbour Rovers",), sql=f"SELECT [Team], [Pts] FROM {t} ORDER BY [Pts] DESC LIMIT 1"),
        Q(text="goals scored by all teams over the season", kind="sum", gold=(sum(r[5] for r in rows),), sql=f"SELECT SUM([Goals for]) FROM {t}"),
        Q(text="Teams that let in more goals than they scored, please list them.", kind="filter", gold=tuple(r[0] for r in rows if r[6] > r[5]), sql=f"SELECT [Team] FROM {t} WHERE [Goals against] > [Goals for]"),
        Q(text="what is Old Mill's goal difference?", kind="sum", gold=(15,), sql=f"SELECT [Goals for] - [Goals against] FROM {t} WHERE [Team] = 'Old Mill'"),
        Q(text="best defence = fewest goals against. which team is it", kind="extreme", gold=(min(rows, key=lambda r: r[6])[0],), sql=f"SELECT [Team], [Goals against] FROM {t} ORDER BY [Goals against] LIMIT 1"),
        Q(text="where do Foxhill United play at home", kind="lookup", gold=("Abbey Park",), sql=f"SELECT [Home ground] FROM {t} WHERE [Team] = 'Foxhill United'"),
        Q(text="How many goals did Denby Veterans score?", kind="lookup", gold=(38,), sql=f"SELECT [Goals for] FROM {t} WHERE [Team] = 'Denby Veterans'"),
        Q(text="points Westgate", kind="lookup", gold=(27,), sql=f"SELECT [Pts] FROM {t} WHERE [Team] = 'Westgate'"),
        Q(text="who scored most goals for Bellbrook", kind="none", gold=()),
    ]  # fmt: skip


def _about_dishes() -> list[Q]:
    rows, t = dishes(), "<catering prices.html>"
    return [
        Q(text="all the vegan things on the catering list", kind="filter", gold=tuple(r[0] for r in rows if r[4] == "yes"), sql=f"SELECT [Dish] FROM {t} WHERE [Vegan] = 1"),
        Q(text="What does a hot buffet dish cost per head on average?", kind="average", gold=(mean(r[2] for r in rows if r[1] == "Hot buffet"),), sql=f"SELECT AVG([Price per head]) FROM {t} WHERE [Section] = 'Hot buffet'"),
        Q(text="cheapest sweet", kind="extreme", gold=("Brownie bites",), sql=f"SELECT [Dish], [Price per head] FROM {t} WHERE [Section] = 'Sweet' ORDER BY [Price per head] LIMIT 1"),
        Q(text="how many days ahead do we have to order the chicken tagine", kind="lookup", gold=(5,), sql=f"SELECT [Notice] FROM {t} WHERE [Dish] = 'Chicken tagine'"),
        Q(text="minimum number of guests for a cheese platter", kind="lookup", gold=(6,), sql=f"SELECT [Minimum guests] FROM {t} WHERE [Dish] = 'Cheese platter'"),
        Q(text="Calories in the lemon tartlets?", kind="none", gold=()),
    ]  # fmt: skip
