# ruff: noqa: S608 - SQL of our own
from __future__ import annotations

import random
from datetime import date, timedelta
from statistics import median
from typing import TYPE_CHECKING

from tests.tables.computed.made_files import write_csv, write_sheets
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
SHIPS = ("Aurora Bay", "Boreas", "Calypso Star", "Dunlin", "Elbe Trader", "Fram", "Gannet", "Hibernia", "Iris", "Juno Wave", "Kittiwake", "Lofoten", "Merlin", "Nordkap")  # fmt: skip
GENRES = ("Crime", "History", "Poetry", "Travel")
SITES = ("Arles", "Bergen", "Cadiz", "Dover", "Esbjerg")


def calls() -> list[Row]:
    """Vessel, flag, berth, arrived, left, cargo, dues, pilot (sometimes empty)."""
    source = random.Random(6601)
    return [
        (
            ship,
            ("Norway", "Malta", "Panama")[source.randrange(3)],
            f"B{1 + n % 4}",
            date(2025, 1, 6) + timedelta(days=19 * n),
            date(2025, 1, 8) + timedelta(days=19 * n),
            source.randrange(800, 61_000, 100),
            source.randrange(900, 14_500, 50),
            "" if n in (3, 9, 10) else source.choice(("Holt", "Ibsen", "Jarl")),
        )
        for n, ship in enumerate(SHIPS)
    ]


def books() -> list[Row]:
    """Title, author, genre, pages, price, published, copies, borrowed by (often empty)."""
    source = random.Random(6602)
    titles = ("Low Tide", "The Glass Stair", "Salt Roads", "Nine Lanterns", "Paper Harbours", "Quiet Engines", "The Last Orchard", "North of Here", "Winter Maps", "Small Kingdoms", "Amber Hours", "The Ferryman's Ledger")  # fmt: skip
    return [
        (
            title,
            ("M. Aubert", "S. Kane", "T. Ohara")[source.randrange(3)],
            GENRES[source.randrange(4)],
            source.randrange(90, 780),
            source.randrange(700, 3900) / 100,
            source.randrange(1978, 2025),
            source.randrange(1, 9),
            source.choice(("Nadia", "Otto", "Pia")) if n % 3 == 0 else "",
        )
        for n, title in enumerate(titles)
    ]


def energy() -> list[Row]:
    """Site, country, four quarters in MWh."""
    source = random.Random(6603)
    countries = ("France", "Norway", "Spain", "England", "Denmark")
    return [
        (site, countries[n], *(source.randrange(100, 2500) for _ in range(4))) for n, site in enumerate(SITES)
    ]


def _calls(path: Path) -> None:
    header = ("Vessel", "Flag", "Berth", "Arrival", "Departure", "Cargo (t)", "Port dues (EUR)", "Pilot")
    write_sheets(
        path, {"Calls 2025": [header, *calls()]}, {4: "dd.mm.yyyy", 5: "dd.mm.yyyy", 6: "#,##0", 7: "#,##0"}
    )


def _books(path: Path) -> None:
    write_csv(
        path, [("Title", "Author", "Genre", "Pages", "Price", "Published", "Copies", "Borrowed by"), *books()]
    )


def _energy(path: Path) -> None:
    write_csv(
        path,
        [("Site", "Country", "Q1 2025 (MWh)", "Q2 2025 (MWh)", "Q3 2025 (MWh)", "Q4 2025 (MWh)"), *energy()],
    )


MAKERS = {"harbour calls.xlsx": _calls, "library books.csv": _books, "site energy.csv": _energy}


def questions() -> list[Q]:
    """In English."""
    return [*_about_calls(), *_about_dues(), *_about_books(), *_about_energy()]


def _about_calls() -> list[Q]:
    rows, t = calls(), "<harbour calls.xlsx>"
    return [
        Q(text="How many vessels berthed at B2?", kind="count", gold=(sum(r[2] == "B2" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Berth] = 'B2'"),
        Q(text="How many vessels came without a pilot?", kind="count", gold=(3,), sql=f"SELECT COUNT(*) FROM {t} WHERE [Pilot] IS NULL"),
        Q(text="Which vessel arrived last?", kind="extreme", gold=("Nordkap",), sql=f"SELECT [Vessel], [Arrival] FROM {t} ORDER BY [Arrival] DESC LIMIT 1"),
        Q(text="How many ships arrived in the second quarter?", kind="dates", gold=(sum(4 <= r[3].month <= 6 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Arrival] BETWEEN '2025-04-01' AND '2025-06-30'"),
        Q(text="Which vessels sailing under the flag of Malta carried more than 20,000 t?", kind="group",
          gold=tuple(r[0] for r in rows if r[1] == "Malta" and r[5] > 20_000), sql=f"SELECT [Vessel] FROM {t} WHERE [Flag] = 'Malta' AND [Cargo] > 20000"),
        Q(text="What percentage of the cargo was carried by ships from Panama?", kind="average",
          gold=(100 * sum(r[5] for r in rows if r[1] == "Panama") / sum(r[5] for r in rows),),
          sql=f"SELECT 100.0 * SUM([Cargo]) FILTER (WHERE [Flag] = 'Panama') / SUM([Cargo]) FROM {t}"),
        Q(text="How many vessels do not fly the flag of Norway?", kind="count", gold=(sum(r[1] != "Norway" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Flag] <> 'Norway'"),
        Q(text="How many different flags called at the harbour?", kind="count", gold=(len({r[1] for r in rows}),), sql=f"SELECT COUNT(DISTINCT [Flag]) FROM {t}"),
        Q(text="Did any vessel carry over 40,000 t of cargo?", kind="filter", gold=(sum(r[5] > 40_000 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Cargo] > 40000"),
        Q(text="Who piloted the Calypso Star?", kind="lookup", gold=(rows[2][7],), sql=f"SELECT [Pilot] FROM {t} WHERE [Vessel] = 'Calypso Star'"),
        Q(text="When did the Gannet depart?", kind="lookup", gold=(rows[6][4].isoformat(),), sql=f"SELECT [Departure] FROM {t} WHERE [Vessel] = 'Gannet'"),
        Q(text="How many containers did the Boreas carry?", kind="none", gold=()),
        Q(text="How many vessels from Liberia called?", kind="none", gold=()),
    ]  # fmt: skip


def _about_dues() -> list[Q]:
    rows, t = calls(), "<harbour calls.xlsx>"
    berths, flags = ("B1", "B2", "B3", "B4"), sorted({r[1] for r in rows})
    return [
        Q(text="Which vessel paid the most port dues?", kind="extreme", gold=(max(rows, key=lambda r: r[6])[0],),
          sql=f"SELECT [Vessel], [Port dues] FROM {t} ORDER BY [Port dues] DESC LIMIT 1"),
        Q(text="Average port dues by flag", kind="group", gold=tuple(mean(r[6] for r in rows if r[1] == f) for f in flags), sql=f"SELECT [Flag], AVG([Port dues]) FROM {t} GROUP BY [Flag]"),
        Q(text="Which berth handled the most cargo in total?", kind="extreme", gold=(max(berths, key=lambda b: sum(r[5] for r in rows if r[2] == b)),),
          sql=f"SELECT [Berth], SUM([Cargo]) FROM {t} GROUP BY [Berth] ORDER BY 2 DESC LIMIT 1"),
        Q(text="How much did all vessels from Malta and Norway pay in dues?", kind="sum", gold=(sum(r[6] for r in rows if r[1] in ("Malta", "Norway")),),
          sql=f"SELECT SUM([Port dues]) FROM {t} WHERE [Flag] IN ('Malta', 'Norway')"),
        Q(text="Which ship had the third largest cargo?", kind="extreme", gold=(sorted(rows, key=lambda r: -r[5])[2][0],),
          sql=f"SELECT [Vessel], [Cargo] FROM {t} ORDER BY [Cargo] DESC LIMIT 1 OFFSET 2"),
        Q(text="Total dues paid from March to May 2025", kind="dates", gold=(sum(r[6] for r in rows if 3 <= r[3].month <= 5),),
          sql=f"SELECT SUM([Port dues]) FROM {t} WHERE [Arrival] BETWEEN '2025-03-01' AND '2025-05-31'"),
    ]  # fmt: skip


def _about_books() -> list[Q]:
    rows, t = books(), "<library books.csv>"
    authors = sorted({r[1] for r in rows})
    return [
        Q(text="What is the longest book?", kind="extreme", gold=(max(rows, key=lambda r: r[3])[0],), sql=f"SELECT [Title], [Pages] FROM {t} ORDER BY [Pages] DESC LIMIT 1"),
        Q(text="Which book is the cheapest?", kind="extreme", gold=(min(rows, key=lambda r: r[4])[0],), sql=f"SELECT [Title], [Price] FROM {t} ORDER BY [Price] LIMIT 1"),
        Q(text="How many books has Nadia borrowed?", kind="count", gold=(sum(r[7] == "Nadia" for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Borrowed by] = 'Nadia'"),
        Q(text="How many books were published after 2000?", kind="dates", gold=(sum(r[5] > 2000 for r in rows),), sql=f"SELECT COUNT(*) FROM {t} WHERE [Published] > 2000"),
        Q(text="Which author wrote the most books?", kind="extreme", gold=(max(authors, key=lambda a: sum(r[1] == a for r in rows)),),
          sql=f"SELECT [Author], COUNT(*) FROM {t} GROUP BY [Author] ORDER BY 2 DESC LIMIT 1"),
        Q(text="How many copies of history books are there?", kind="sum", gold=(sum(r[6] for r in rows if r[2] == "History"),), sql=f"SELECT SUM([Copies]) FROM {t} WHERE [Genre] = 'History'"),
        Q(text="What is the median number of pages?", kind="average", gold=(median(r[3] for r in rows),), sql=f"SELECT AVG([Pages]) FROM (SELECT [Pages] FROM {t} ORDER BY [Pages] LIMIT 2 OFFSET 5)"),
        Q(text="Which books are not borrowed?", kind="group", gold=tuple(r[0] for r in rows if r[7] == ""), sql=f"SELECT [Title] FROM {t} WHERE [Borrowed by] IS NULL"),
        Q(text="Who wrote Winter Maps?", kind="lookup", gold=(rows[8][1],), sql=f"SELECT [Author] FROM {t} WHERE [Title] = 'Winter Maps'"),
        Q(text="How many pages does Quiet Engines have?", kind="lookup", gold=(rows[5][3],), sql=f"SELECT [Pages] FROM {t} WHERE [Title] = 'Quiet Engines'"),
        Q(text="Which publisher printed Salt Roads?", kind="none", gold=()),
    ]  # fmt: skip


def _about_energy() -> list[Q]:
    rows, t = energy(), "<site energy.csv>"
    by = {r[0]: r for r in rows}
    return [
        Q(text="How much energy did Bergen use in Q3 2025?", kind="lookup", gold=(by["Bergen"][4],), sql=f"SELECT [Q3 2025] FROM {t} WHERE [Site] = 'Bergen'"),
        Q(text="How much energy did all sites use in the first quarter?", kind="sum", gold=(sum(r[2] for r in rows),), sql=f"SELECT SUM([Q1 2025]) FROM {t}"),
        Q(text="Which site used the least energy in Q4?", kind="extreme", gold=(min(rows, key=lambda r: r[5])[0],), sql=f"SELECT [Site], [Q4 2025] FROM {t} ORDER BY [Q4 2025] LIMIT 1"),
        Q(text="How much did Cadiz use over the whole year?", kind="sum", gold=(sum(by["Cadiz"][2:]),),
          sql=f"SELECT [Q1 2025] + [Q2 2025] + [Q3 2025] + [Q4 2025] FROM {t} WHERE [Site] = 'Cadiz'"),
        Q(text="Difference between Dover and Arles in Q2", kind="sum", gold=(by["Dover"][3] - by["Arles"][3],),
          sql=f"SELECT ((SELECT [Q2 2025] FROM {t} WHERE [Site] = 'Dover') - (SELECT [Q2 2025] FROM {t} WHERE [Site] = 'Arles'))"),
    ]  # fmt: skip
