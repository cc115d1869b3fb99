"""The tables as files: CSV, XLSX, ODS, DOCX, HTML and Markdown. The same on every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, cast

import docx
import openpyxl

from tests.tables.computed.made_files import write_open_document

if TYPE_CHECKING:
    from pathlib import Path

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LONG_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DEPARTMENTS = (
    *("Sales North", "Sales North-East", "Sales South", "Marketing", "Marketing Events", "Research"),
    *("Research Labs", "IT Support", "IT Security", "Human Resources", "Legal", "Facilities"),
)
ITEMS = ("Travel", "Training", "Software", "Hardware", "Consulting")
REGIONS = {
    "EMEA": ("Germany", "France", "Spain"),
    "APAC": ("Japan", "India", "Australia"),
    "AMER": ("Canada", "Brazil", "Mexico"),
}
PRODUCTS = ("Basic", "Plus", "Premium")
CITIES = (
    *("Berlin Mitte", "Berlin Wedding", "Hamburg Altona", "Hamburg Harburg", "München Süd", "München Nord"),
    *("Köln Deutz", "Köln Ehrenfeld", "Frankfurt am Main", "Frankfurt (Oder)", "Leipzig", "Dresden"),
)
SITES = ("Lyon", "Lille", "Nantes", "Nice", "Rennes", "Rouen", "Toulon", "Toulouse", "Metz", "Brest")


def write_all(folder: Path) -> None:
    """Write every file of the set into `folder`."""
    for name, make in _MAKERS.items():
        make(folder / name)


def budget(year: int, department: str, item: str) -> list[str]:
    """Twelve months of one budget line."""
    source = random.Random(f"{year}{department}{item}")
    return [f"{source.randrange(500, 99_000):,}" for _ in MONTHS]


def _budgets(path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.remove(cast("Any", workbook.active))
    for year in (2024, 2025):
        sheet = cast("Any", workbook.create_sheet(f"Budget {year}"))
        sheet.append([f"Budget of all departments {year}, in EUR"])
        sheet.append([])
        sheet.append(["Department", "Item", *MONTHS])
        for department in DEPARTMENTS:
            for item in ITEMS:
                amounts = [int(amount.replace(",", "")) for amount in budget(year, department, item)]
                sheet.append([department, item, *amounts])
        for row in sheet.iter_rows(min_row=4, min_col=3):
            for cell in row:
                cell.number_format = "#,##0"
    workbook.save(path)


def sales(month: int, country: str, product: str) -> tuple[str, str]:
    """Units and revenue of one line."""
    source = random.Random(f"{month}{country}{product}")
    return str(source.randrange(10, 900)), f"{source.randrange(1000, 99_999)}.{source.randrange(100):02}"


def _sales(path: Path) -> None:
    lines = ["month,region,country,product,units,revenue"]
    for month in range(1, 13):
        for region, countries in REGIONS.items():
            for country in countries:
                lines += [
                    f"{LONG_MONTHS[month - 1]} 2025,{region},{country},{product},{','.join(sales(month, country, product))}"
                    for product in PRODUCTS
                ]
    path.write_text("\n".join(lines), encoding="utf-8")


def turnover(city: str, year: int) -> str:
    """German: 1.234,56."""
    source = random.Random(f"{city}{year}")
    return f"{source.randrange(1, 900)}.{source.randrange(1000):03},{source.randrange(100):02}"


def _turnover(path: Path) -> None:
    lines = ["Filiale;Leitung;Umsatz 2022;Umsatz 2023;Umsatz 2024;Mitarbeiter"]
    for number, city in enumerate(CITIES):
        amounts = ";".join(turnover(city, year) for year in (2022, 2023, 2024))
        lines.append(f"{city};Frau {chr(65 + number)}. Schmidt;{amounts};{number + 7}")
    path.write_bytes("\r\n".join(lines).encode("cp1252"))


def headcount(team: str, office: str, year: int, kind: str) -> int:
    """Planned or actual people of a team."""
    return random.Random(f"{team}{office}{year}{kind}").randrange(3, 400)


def _headcounts(path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = cast("Any", workbook.active)
    sheet.title = "Headcount"
    sheet.append(["Team", "Office", "2023", None, "2024", None, "2025", None])
    sheet.append([None, None, *("Plan", "Actual") * 3])
    for area in ("A1:A2", "B1:B2", "C1:D1", "E1:F1", "G1:H1"):
        sheet.merge_cells(area)
    offices = ("Oslo", "Bergen", "Malmö")
    for position, team in enumerate(DEPARTMENTS):
        top = 3 + position * len(offices)
        sheet.cell(top, 1, team)
        sheet.merge_cells(start_row=top, end_row=top + len(offices) - 1, start_column=1, end_column=1)
        for offset, office in enumerate(offices):
            sheet.cell(top + offset, 2, office)
            columns = ((year, kind) for year in (2023, 2024, 2025) for kind in ("Plan", "Actual"))
            for column, (year, kind) in enumerate(columns, 3):
                sheet.cell(top + offset, column, headcount(team, office, year, kind))
    workbook.save(path)


def rent(site: str, year: int) -> str:
    """French: 12 345,60 €."""
    source = random.Random(f"{site}{year}")
    return f"{source.randrange(10, 99)} {source.randrange(1000):03},{source.randrange(10)}0 €"


def _rents(path: Path) -> None:
    rows = [["Établissement", "Loyer 2023", "Loyer 2024", "Loyer 2025", "Surface (m²)"]]
    for number, site in enumerate(SITES):
        rows.append([site, *(rent(site, year) for year in (2023, 2024, 2025)), str(400 + number * 37)])
    write_open_document(path, "Loyers", rows)


def part(number: int) -> tuple[str, str, str, str]:
    """Code, name, price and stock of a part."""
    source = random.Random(number)
    code = f"BX-{1000 + number * 3}"
    name = f"{source.choice(('Hex', 'Flange', 'Anchor', 'Carriage'))} bolt M{source.choice((4, 5, 6, 8, 10))}x{10 + number}"
    return code, name, f"{source.randrange(1, 40)}.{source.randrange(100):02}", str(source.randrange(0, 5000))


def _parts(path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = cast("Any", workbook.active)
    sheet.title = "Parts"
    sheet.append(["Part no.", "Description", "Unit price", "In stock", "Shelf"])
    for number in range(240):
        code, name, price, stock = part(number)
        sheet.append([code, name, float(price), int(stock), f"{chr(65 + number % 7)}{number // 7}"])
        sheet.cell(sheet.max_row, 3).number_format = "0.00"
    workbook.save(path)


def _levels(path: Path) -> None:
    path.write_text(
        "# Support\n\nWe help customers of all plans. What follows holds since May.\n\n## Service levels\n\n"
        "| Plan | First response | Resolution | Hours |\n| --- | --- | --- | --- |\n"
        "| Basic | 24 hours | 5 days | 9–17 |\n| Plus | 8 hours | 3 days | 8–20 |\n"
        "| Premium | 30 minutes | 6 hours | around the clock |\n\nPlans can be changed every month.\n",
        encoding="utf-8",
    )


def _allowances(path: Path) -> None:
    document = docx.Document()
    document.add_heading("Travel policy", 1)
    document.add_paragraph("Whoever travels for us is paid an allowance by the day.")
    rows = (
        ("Country", "Full day", "Half day", "Hotel up to"),
        ("Austria", "40 €", "27 €", "117 €"),
        ("Belgium", "59 €", "40 €", "141 €"),
        ("Denmark", "75 €", "50 €", "183 €"),
        ("Italy", "42 €", "28 €", "150 €"),
    )
    table = document.add_table(rows=len(rows), cols=4)
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.save(str(path))


def _tariffs(path: Path) -> None:
    rows = (
        ("Zone 1", "4.20", "6.90", "11.50"),
        ("Zone 2", "5.80", "8.40", "14.10"),
        ("Zone 3", "9.30", "13.60", "22.00"),
    )
    body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
    path.write_text(
        "<html><body><main><h1>Parcel tariffs</h1><p>Prices in EUR, by weight and zone.</p><table>"
        f"<tr><th>Zone</th><th>up to 2 kg</th><th>up to 5 kg</th><th>up to 20 kg</th></tr>{body}</table></main></body></html>",
        encoding="utf-8",
    )


_MAKERS = {
    "department budgets.xlsx": _budgets,
    "sales 2025.csv": _sales,
    "umsatz filialen.csv": _turnover,
    "headcount plan.xlsx": _headcounts,
    "loyers.ods": _rents,
    "parts.xlsx": _parts,
    "support.md": _levels,
    "travel policy.docx": _allowances,
    "tariffs.html": _tariffs,
}
