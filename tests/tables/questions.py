"""Questions about single cells: the file, the words that name the row, the value, and its place."""

from __future__ import annotations

from dataclasses import dataclass

from tests.tables import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`row`: words that the right row holds, all of them; `anchor`: the place of exactly this row, where rows have one."""

    text: str
    file: str
    row: tuple[str, ...]
    value: str
    anchor: str


def questions() -> list[Question]:
    """All questions, the same on every run."""
    return [
        *_budgets(),
        *_sales(),
        *_turnover(),
        *_headcounts(),
        *_rents(),
        *_parts(),
        *_documents(),
    ]


def _budgets() -> list[Question]:
    asked = (
        ("What was the budget of Sales North for travel in March 2025?", 2025, "Sales North", "Travel", 2),
        ("How much did Marketing plan for training in November 2024?", 2024, "Marketing", "Training", 10),
        ("Budget of Marketing Events for software in July 2025?", 2025, "Marketing Events", "Software", 6),
        ("What is IT Security's consulting budget for December 2025?", 2025, "IT Security", "Consulting", 11),
        ("IT Support hardware budget January 2024", 2024, "IT Support", "Hardware", 0),
        ("How much may Legal spend on consulting in September 2024?", 2024, "Legal", "Consulting", 8),
        ("Budget for research labs hardware in May 2025", 2025, "Research Labs", "Hardware", 4),
        (
            "What was planned for travel of Sales North-East in October 2024?",
            2024,
            "Sales North-East",
            "Travel",
            9,
        ),
    )
    return [
        Question(
            text=text,
            file="department budgets.xlsx",
            row=(f"{department} | {item} |",),
            value=files.budget(year, department, item)[month],
            anchor=f"Budget {year}!A{row}:N{row}",
        )
        for text, year, department, item, month in asked
        for row in [4 + files.DEPARTMENTS.index(department) * len(files.ITEMS) + files.ITEMS.index(item)]
    ]


def _sales() -> list[Question]:
    asked = (
        ("How many units of Premium did we sell in Japan in March 2025?", 3, "Japan", "Premium", 0),
        ("What was the revenue with Plus in Brazil in August 2025?", 8, "Brazil", "Plus", 1),
        ("Revenue of Basic in Germany, December 2025", 12, "Germany", "Basic", 1),
        ("units sold of Plus in India in June 2025", 6, "India", "Plus", 0),
        ("What revenue did Premium make in Mexico in January 2025?", 1, "Mexico", "Premium", 1),
        ("How many Basic units were sold in Australia in October 2025?", 10, "Australia", "Basic", 0),
        ("Which revenue did Spain reach with Premium in April 2025?", 4, "Spain", "Premium", 1),
    )
    countries = [country for names in files.REGIONS.values() for country in names]
    return [
        Question(
            text=text,
            file="sales 2025.csv",
            row=(f"{files.LONG_MONTHS[month - 1]} 2025 |", f"| {country} | {product} |"),
            value=files.sales(month, country, product)[column],
            anchor=f"row {2 + (month - 1) * 27 + countries.index(country) * 3 + files.PRODUCTS.index(product)}",
        )
        for text, month, country, product, column in asked
    ]


def _turnover() -> list[Question]:
    asked = (
        ("Wie hoch war der Umsatz 2023 in Köln Deutz?", "Köln Deutz", 2023),
        ("Welchen Umsatz machte die Filiale Berlin Wedding 2022?", "Berlin Wedding", 2022),
        ("Umsatz 2024 Frankfurt am Main", "Frankfurt am Main", 2024),
        ("Wie viel Umsatz hatte München Nord im Jahr 2024?", "München Nord", 2024),
        ("Umsatz der Filiale Hamburg Harburg 2023", "Hamburg Harburg", 2023),
        ("Wie hoch war 2022 der Umsatz in Leipzig?", "Leipzig", 2022),
    )
    return [
        Question(
            text=text,
            file="umsatz filialen.csv",
            row=(f"{city} |",),
            value=files.turnover(city, year),
            anchor=f"row {2 + files.CITIES.index(city)}",
        )
        for text, city, year in asked
    ]


def _headcounts() -> list[Question]:
    asked = (
        (
            "How many people were planned for IT Support in Bergen in 2024?",
            "IT Support",
            "Bergen",
            2024,
            "Plan",
        ),
        ("Actual headcount of Marketing in Oslo in 2023", "Marketing", "Oslo", 2023, "Actual"),
        (
            "What is the planned headcount of Research Labs in Malmö for 2025?",
            "Research Labs",
            "Malmö",
            2025,
            "Plan",
        ),
        ("How many people actually worked for Legal in Malmö in 2024?", "Legal", "Malmö", 2024, "Actual"),
        ("Headcount plan 2023 of Sales South in Oslo", "Sales South", "Oslo", 2023, "Plan"),
        ("Actual 2025 headcount for Facilities in Bergen", "Facilities", "Bergen", 2025, "Actual"),
    )
    offices = ("Oslo", "Bergen", "Malmö")
    found: list[Question] = []
    for text, team, office, year, kind in asked:
        row = 3 + files.DEPARTMENTS.index(team) * 3 + offices.index(office)
        value = str(files.headcount(team, office, year, kind))
        key = (f"{team} | {office} |",)
        anchor = f"Headcount!A{row}:H{row}"
        found.append(Question(text=text, file="headcount plan.xlsx", row=key, value=value, anchor=anchor))
    return found


def _rents() -> list[Question]:
    asked = (
        ("Quel était le loyer de Toulon en 2024 ?", "Toulon", 2024),
        ("Combien coûte le loyer de Toulouse en 2025 ?", "Toulouse", 2025),
        ("Loyer 2023 de l'établissement de Rennes", "Rennes", 2023),
        ("Quel loyer pour Brest en 2025 ?", "Brest", 2025),
        ("What was the rent (loyer) of Nice in 2023?", "Nice", 2023),
    )
    return [
        Question(
            text=text,
            file="loyers.ods",
            row=(f"{site} |",),
            value=files.rent(site, year),
            anchor=f"Loyers!A{row}:E{row}",
        )
        for text, site, year in asked
        for row in [2 + files.SITES.index(site)]
    ]


def _parts() -> list[Question]:
    asked = (
        ("What does part BX-1123 cost?", 41, 2),
        ("How many of BX-1360 are in stock?", 120, 3),
        ("unit price of BX-1717", 239, 2),
        ("How many pieces of part no. BX-1009 do we have in stock?", 3, 3),
        ("Price of the BX-1498 bolt?", 166, 2),
        ("stock of BX-1600", 200, 3),
    )
    return [
        Question(
            text=text,
            file="parts.xlsx",
            row=(f"{files.part(number)[0]} |",),
            value=files.part(number)[column],
            anchor=f"Parts!A{number + 2}:E{number + 2}",
        )
        for text, number, column in asked
    ]


def _documents() -> list[Question]:
    asked = (
        (
            "How fast is the first response on the Plus plan?",
            "support.md",
            "Plus |",
            "8 hours",
            "§ Service levels",
        ),
        (
            "Within what time are problems of Premium customers resolved?",
            "support.md",
            "Premium |",
            "6 hours",
            "§ Service levels",
        ),
        (
            "What is the allowance for half a day in Denmark?",
            "travel policy.docx",
            "Denmark |",
            "50 €",
            "§ Travel policy",
        ),
        (
            "How expensive may a hotel in Italy be?",
            "travel policy.docx",
            "Italy |",
            "150 €",
            "§ Travel policy",
        ),
        (
            "What does a parcel of up to 5 kg to zone 2 cost?",
            "tariffs.html",
            "Zone 2 |",
            "8.40",
            "§ Parcel tariffs",
        ),
        ("Price of a 20 kg parcel in zone 3", "tariffs.html", "Zone 3 |", "22.00", "§ Parcel tariffs"),
    )
    return [
        Question(text=text, file=file, row=(row,), value=value, anchor=anchor)
        for text, file, row, value, anchor in asked
    ]
