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
DOCTORS = ("Dr. Abel", "Dr. Novak", "Dr. Osei", "Dr. Petri")
BRANCHES = ("Harbour", "Old Town", "Station")
CATEGORIES = ("Rent", "Electricity", "Catering", "Cleaning", "Postage")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun")


def visits() -> list[Row]:
    """Patient, doctor, department, day, minutes, fee, insurer (sometimes empty), outcome."""
    source = random.Random(5501)
    return [
        (
            f"P-{300 + n}",
            DOCTORS[source.randrange(4)],
            ("Cardiology", "Dermatology", "Surgery")[n % 3],
            date(2024, 11, 3) + timedelta(days=9 * n),
            source.randrange(10, 95, 5),
            source.randrange(40, 690, 5),
            "" if n % 6 == 4 else source.choice(("Aldona", "Mutua", "Helvia")),
            source.choice(("recovered", "referred", "open")),
        )
        for n in range(34)
    ]


def loans() -> list[Row]:
    """Borrower, branch, amount in thousands, rate, granted, matures, status."""
    source = random.Random(5502)
    names = ("Akron Foods", "Bluewave", "Cantor Mills", "Delphi Print", "Eastgate", "Ferris & Co", "Granite Works", "Hollis", "Ionic Labs", "Jasper Inn", "Kestrel Air", "Lumen")  # fmt: skip
    return [
        (
            name,
            BRANCHES[n % 3],
            source.randrange(50, 2400, 10),
            source.randrange(25, 95) / 10,
            date(2020, 2, 14) + timedelta(days=131 * n),
            date(2026, 2, 14) + timedelta(days=97 * n),
            ("active", "paid", "active", "defaulted")[n % 4],
        )
        for n, name in enumerate(names)
    ]


def costs() -> list[Row]:
    """Category and six months."""
    source = random.Random(5503)
    return [(name, *(source.randrange(200, 9000) for _ in MONTHS)) for name in CATEGORIES]


def _visits(path: Path) -> None:
    header = (
        "Patient",
        "Doctor",
        "Department",
        "Visit date",
        "Duration (min)",
        "Fee (EUR)",
        "Insurer",
        "Outcome",
    )
    write_csv(path, [header, *visits()])


def _loans(path: Path) -> None:
    header = ("Borrower", "Branch", "Amount (k USD)", "Interest rate (%)", "Granted", "Matures", "Status")
    write_sheets(
        path, {"Loans": [header, *loans()]}, {3: "#,##0", 4: "0.0", 5: "dd/mm/yyyy", 6: "dd/mm/yyyy"}
    )


def _costs(path: Path) -> None:
    write_sheets(
        path, {"Office costs": [("Category", *MONTHS), *costs()]}, dict.fromkeys(range(2, 8), "#,##0")
    )


MAKERS = {"clinic visits.csv": _visits, "loan portfolio.xlsx": _loans, "office costs.xlsx": _costs}


def questions() -> list[Q]:
    """In English."""
    return [*_about_visits(), *_about_doctors(), *_about_loans(), *_about_costs()]


def _about_visits() -> list[Q]:
    rows, t = visits(), "<clinic visits.csv>"
    return [
        Q(text="How many patients did Dr. Novak see?", kind="count", gold=(sum(r[1] == "Dr. Novak" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Doctor] = 'Dr. Novak'"),
        Q(text="How many different doctors are there in the clinic visits?", kind="count", gold=(len({r[1] for r in rows}),),
          sql=f"SELECT COUNT(DISTINCT [Doctor]) FROM {t}"),
        Q(text="What is the median fee of the visits?", kind="average", gold=(median(r[5] for r in rows),),
          sql=f"SELECT AVG([Fee]) FROM (SELECT [Fee] FROM {t} ORDER BY [Fee] LIMIT 2 OFFSET 16)"),
        Q(text="How many visits were not covered by an insurer?", kind="count", gold=(sum(r[6] == "" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Insurer] IS NULL"),
        Q(text="What percentage of the clinic visits ended with the outcome referred?", kind="average",
          gold=(100 * sum(r[7] == "referred" for r in rows) / len(rows),),
          sql=f"SELECT 100.0 * SUM([Outcome] = 'referred') / COUNT(*) FROM {t}"),
        Q(text="Was any visit longer than 80 minutes?", kind="filter", gold=(sum(r[4] > 80 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Duration] > 80"),
        Q(text="Total fees in the first quarter of 2025", kind="dates", gold=(sum(r[5] for r in rows if r[3].year == 2025 and r[3].month < 4),),
          sql=f"SELECT SUM([Fee]) FROM {t} WHERE [Visit date] BETWEEN '2025-01-01' AND '2025-03-31'"),
        Q(text="How many visits have there been since June 2025?", kind="dates", gold=(sum(r[3] >= date(2025, 6, 1) for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Visit date] >= '2025-06-01'"),
        Q(text="Which patient paid the second highest fee?", kind="extreme", gold=(sorted(rows, key=lambda r: -r[5])[1][0],),
          sql=f"SELECT [Patient], [Fee] FROM {t} ORDER BY [Fee] DESC LIMIT 1 OFFSET 1"),
        Q(text="How many surgery or cardiology visits were there?", kind="count", gold=(sum(r[2] != "Dermatology" for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Department] IN ('Surgery', 'Cardiology')"),
        Q(text="How long did the visit of P-311 take?", kind="lookup", gold=(rows[11][4],), sql=f"SELECT [Duration] FROM {t} WHERE [Patient] = 'P-311'"),
        Q(text="What was the outcome for patient P-320?", kind="lookup", gold=(rows[20][7],), sql=f"SELECT [Outcome] FROM {t} WHERE [Patient] = 'P-320'"),
        Q(text="What is the blood pressure of P-305?", kind="none", gold=()),
        Q(text="How many visits did Dr. Weiss have?", kind="none", gold=()),
    ]  # fmt: skip


def _about_doctors() -> list[Q]:
    rows, t = visits(), "<clinic visits.csv>"
    doctors = sorted({r[1] for r in rows})
    return [
        Q(text="Which doctor had the most visits?", kind="extreme", gold=(max(doctors, key=lambda d: sum(r[1] == d for r in rows)),),
          sql=f"SELECT [Doctor], COUNT(*) FROM {t} GROUP BY [Doctor] ORDER BY COUNT(*) DESC LIMIT 1"),
        Q(text="Average duration of a visit for each doctor", kind="group", gold=tuple(mean(r[4] for r in rows if r[1] == d) for d in doctors),
          sql=f"SELECT [Doctor], AVG([Duration]) FROM {t} GROUP BY [Doctor]"),
        Q(text="What did Dr. Osei charge on average?", kind="average", gold=(mean(r[5] for r in rows if r[1] == "Dr. Osei"),),
          sql=f"SELECT AVG([Fee]) FROM {t} WHERE [Doctor] = 'Dr. Osei'"),
        Q(text="How many visits outside the surgery department lasted less than half an hour?", kind="filter",
          gold=(sum(r[2] != "Surgery" and r[4] < 30 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Department] <> 'Surgery' AND [Duration] < 30"),
    ]  # fmt: skip


def _about_loans() -> list[Q]:
    rows, t = loans(), "<loan portfolio.xlsx>"
    return [
        Q(text="Who borrowed the most?", kind="extreme", gold=(max(rows, key=lambda r: r[2])[0],),
          sql=f"SELECT [Borrower], [Amount] FROM {t} ORDER BY [Amount] DESC LIMIT 1"),
        Q(text="How many loans have an interest rate between 4 and 7 percent?", kind="filter", gold=(sum(4 <= r[3] <= 7 for r in rows),),
          sql=f"SELECT COUNT(*) FROM {t} WHERE [Interest rate] BETWEEN 4 AND 7"),
        Q(text="What is the total amount of all loans that are still active?", kind="sum", gold=(sum(r[2] for r in rows if r[6] == "active"),),
          sql=f"SELECT SUM([Amount]) FROM {t} WHERE [Status] = 'active'"),
        Q(text="Which loans matured before 2027?", kind="group", gold=tuple(r[0] for r in rows if r[5].year < 2027),
          sql=f"SELECT [Borrower] FROM {t} WHERE [Matures] < '2027-01-01'"),
        Q(text="Which loan was granted first?", kind="extreme", gold=(rows[0][0],), sql=f"SELECT [Borrower], [Granted] FROM {t} ORDER BY [Granted] LIMIT 1"),
        Q(text="Which borrowers have defaulted?", kind="group", gold=tuple(r[0] for r in rows if r[6] == "defaulted"),
          sql=f"SELECT [Borrower] FROM {t} WHERE [Status] = 'defaulted'"),
        Q(text="What is the difference between the loans of Bluewave and Hollis?", kind="sum", gold=(rows[1][2] - rows[7][2],),
          sql=f"SELECT ((SELECT [Amount] FROM {t} WHERE [Borrower] = 'Bluewave') - (SELECT [Amount] FROM {t} WHERE [Borrower] = 'Hollis'))"),
        Q(text="How many loans did each branch grant?", kind="group", gold=(4, 4, 4), sql=f"SELECT [Branch], COUNT(*) FROM {t} GROUP BY [Branch]"),
        Q(text="Which branch has the lowest average interest rate?", kind="extreme",
          gold=(min(BRANCHES, key=lambda b: mean(r[3] for r in rows if r[1] == b)),),
          sql=f"SELECT [Branch], AVG([Interest rate]) FROM {t} GROUP BY [Branch] ORDER BY 2 LIMIT 1"),
        Q(text="What interest does Kestrel Air pay?", kind="lookup", gold=(rows[10][3],), sql=f"SELECT [Interest rate] FROM {t} WHERE [Borrower] = 'Kestrel Air'"),
        Q(text="When does the loan of Cantor Mills mature?", kind="lookup", gold=(rows[2][5].isoformat(),), sql=f"SELECT [Matures] FROM {t} WHERE [Borrower] = 'Cantor Mills'"),
        Q(text="What collateral did Eastgate give?", kind="none", gold=()),
    ]  # fmt: skip


def _about_costs() -> list[Q]:
    rows, t = costs(), "<office costs.xlsx>"
    by = {r[0]: r[1:] for r in rows}
    return [
        Q(text="How much did we spend on catering in April?", kind="lookup", gold=(by["Catering"][3],), sql=f"SELECT [Apr] FROM {t} WHERE [Category] = 'Catering'"),
        Q(text="Total office costs in February", kind="sum", gold=(sum(r[2] for r in rows),), sql=f"SELECT SUM([Feb]) FROM {t}"),
        Q(text="What did cleaning cost from January to June altogether?", kind="sum", gold=(sum(by["Cleaning"]),),
          sql=f"SELECT [Jan] + [Feb] + [Mar] + [Apr] + [May] + [Jun] FROM {t} WHERE [Category] = 'Cleaning'"),
        Q(text="Which category was the most expensive in May?", kind="extreme", gold=(max(rows, key=lambda r: r[5])[0],),
          sql=f"SELECT [Category], [May] FROM {t} ORDER BY [May] DESC LIMIT 1"),
        Q(text="By how much did the rent change from January to March?", kind="sum", gold=(by["Rent"][2] - by["Rent"][0],),
          sql=f"SELECT [Mar] - [Jan] FROM {t} WHERE [Category] = 'Rent'"),
        Q(text="What share of the office costs in June was electricity?", kind="average", gold=(100 * by["Electricity"][5] / sum(r[6] for r in rows),),
          sql=f"SELECT 100.0 * (SELECT [Jun] FROM {t} WHERE [Category] = 'Electricity') / (SELECT SUM([Jun]) FROM {t})"),
        Q(text="How much was the office rent in September?", kind="none", gold=()),
    ]  # fmt: skip
