# ruff: noqa: S608 - SQL of our own
"""The half that whoever writes the rules may look at."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from tests.tables.computed.question_set import (
    ComputedQuestion,
    QuestionSet,
    Row,
    german,
    mean,
    real_rows,
    real_sheet,
    write_csv,
    write_sheets,
)

if TYPE_CHECKING:
    from pathlib import Path

Q = ComputedQuestion
CUSTOMERS = (
    "Arden Foods",
    "Bolt & Sons",
    "Cedar Labs",
    "Delta Print",
    "Eagle Optics",
    "Fern Travel",
    "Granite Bank",
)
SEGMENTS = ("Retail", "Industry", "Industry", "Retail", "Health", "Retail", "Finance")
COUNTRIES = ("Norway", "Portugal", "Ireland", "Austria")
PRODUCTS = ("Desk Lamp", "Office Chair", "Monitor Arm", "Standing Desk")
STATUSES = ("shipped", "open", "cancelled")
DEPARTMENTS = ("Engineering", "Field Sales", "Legal", "Support")
ITEMS = ("Travel", "Software", "Training")


def orders() -> list[Row]:
    """Number, date, customer, country, product, quantity, unit price, total, status."""
    source = random.Random(1501)
    rows: list[Row] = []
    for number in range(180):
        quantity, price = source.randrange(1, 40), source.randrange(1900, 89900) / 100
        rows.append(
            (
                f"SO-{5000 + number}",
                date(2024, 1, 3) + timedelta(days=source.randrange(720)),
                source.choice(CUSTOMERS),
                source.choice(COUNTRIES),
                source.choice(PRODUCTS),
                quantity,
                price,
                round(quantity * price, 2),
                source.choice(STATUSES),
            )
        )
    return rows


def _orders(path: Path) -> None:
    header = (
        "Order",
        "Order Date",
        "Customer",
        "Country",
        "Product",
        "Quantity",
        "Unit Price",
        "Order Total",
        "Status",
    )
    lines = [(*row[:6], f"${row[6]:,.2f}", f"${row[7]:,.2f}", row[8]) for row in orders()]
    write_csv(path, [header, *lines])


def _customers(path: Path) -> None:
    cities = ("Oslo", "Lisbon", "Dublin", "Vienna", "Bergen", "Porto", "Cork")
    write_csv(path, [("Customer", "Segment", "City"), *zip(CUSTOMERS, SEGMENTS, cities, strict=True)])


def _order_questions() -> list[Q]:
    rows = orders()
    segment = dict(zip(CUSTOMERS, SEGMENTS, strict=True))
    t = "<orders.csv>"
    best = sorted(CUSTOMERS, key=lambda name: -sum(row[7] for row in rows if row[2] == name))[:3]
    largest = sorted(rows, key=lambda row: -row[7])[:5]
    spring = [row for row in rows if date(2025, 3, 1) <= row[1] <= date(2025, 5, 31)]
    return [
        Q(
            text="How many orders came from Norway?",
            kind="count",
            gold=(sum(r[3] == "Norway" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Country] = 'Norway'",
        ),
        Q(
            text="How many orders are cancelled?",
            kind="count",
            gold=(sum(r[8] == "cancelled" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Status] = 'cancelled'",
        ),
        Q(
            text="What is the total of all orders from Portugal?",
            kind="sum",
            gold=(round(sum(r[7] for r in rows if r[3] == "Portugal"), 2),),
            sql=f"SELECT ROUND(SUM([Order Total]), 2) FROM {t} WHERE [Country] = 'Portugal'",
        ),
        Q(
            text="Sum of quantity for Office Chair orders",
            kind="sum",
            gold=(sum(r[5] for r in rows if r[4] == "Office Chair"),),
            sql=f"SELECT SUM([Quantity]) FROM {t} WHERE [Product] = 'Office Chair'",
        ),
        Q(
            text="What is the average order total for Cedar Labs?",
            kind="average",
            gold=(mean(r[7] for r in rows if r[2] == "Cedar Labs"),),
            sql=f"SELECT AVG([Order Total]) FROM {t} WHERE [Customer] = 'Cedar Labs'",
        ),
        Q(
            text="How many orders did we get in 2025?",
            kind="dates",
            gold=(sum(r[1].year == 2025 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Order Date] BETWEEN '2025-01-01' AND '2025-12-31'",
        ),
        Q(
            text="Total order value between 1 March 2025 and 31 May 2025",
            kind="dates",
            gold=(round(sum(r[7] for r in spring), 2),),
            sql=f"SELECT ROUND(SUM([Order Total]), 2) FROM {t} WHERE [Order Date] BETWEEN '2025-03-01' AND '2025-05-31'",
        ),
        Q(
            text="Order total per country",
            kind="group",
            gold=tuple(round(sum(r[7] for r in rows if r[3] == c), 2) for c in COUNTRIES),
            sql=f"SELECT [Country], ROUND(SUM([Order Total]), 2) FROM {t} GROUP BY [Country]",
        ),
        Q(
            text="Number of orders by status",
            kind="group",
            gold=tuple(sum(r[8] == s for r in rows) for s in STATUSES),
            sql=f"SELECT [Status], COUNT(*) FROM {t} GROUP BY [Status]",
        ),
        Q(
            text="Which three customers have the highest total order value?",
            kind="top",
            gold=tuple(best),
            sql=f"SELECT [Customer], SUM([Order Total]) AS s FROM {t} GROUP BY [Customer] ORDER BY s DESC LIMIT 3",
        ),
        Q(
            text="Show the top 5 orders by order total",
            kind="top",
            gold=tuple(r[0] for r in largest),
            sql=f"SELECT [Order], [Order Total] FROM {t} ORDER BY [Order Total] DESC LIMIT 5",
        ),
        Q(
            text="How many open orders have a quantity above 30?",
            kind="filter",
            gold=(sum(r[8] == "open" and r[5] > 30 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Status] = 'open' AND [Quantity] > 30",
        ),
        Q(
            text="What is the status of order SO-5042?",
            kind="lookup",
            gold=(rows[42][8],),
            sql=f"SELECT [Status] FROM {t} WHERE [Order] = 'SO-5042'",
        ),
        Q(
            text="Which product was ordered in SO-5117?",
            kind="lookup",
            gold=(rows[117][4],),
            sql=f"SELECT [Product] FROM {t} WHERE [Order] = 'SO-5117'",
        ),
        Q(
            text="Join orders and customers: total order value of customers in the Retail segment",
            kind="join",
            gold=(round(sum(r[7] for r in rows if segment[r[2]] == "Retail"), 2),),
            sql=f"SELECT ROUND(SUM(o.[Order Total]), 2) FROM {t} AS o JOIN <customers.csv> AS c ON o.[Customer] = c.[Customer] WHERE c.[Segment] = 'Retail'",
        ),
        Q(
            text="How many orders per segment, using the customers file for the segment?",
            kind="join",
            gold=tuple(sum(segment[r[2]] == s for r in rows) for s in sorted(set(SEGMENTS))),
            sql=f"SELECT c.[Segment], COUNT(*) FROM {t} AS o JOIN <customers.csv> AS c ON o.[Customer] = c.[Customer] GROUP BY c.[Segment]",
        ),
        Q(text="How many orders came from Denmark?", kind="none", gold=()),
        Q(text="What was the total order value in 2019?", kind="none", gold=()),
        Q(text="What is the average discount per order?", kind="none", gold=()),
        Q(text="What is the total of all orders in yen?", kind="none", gold=()),
    ]


def budget() -> list[Row]:
    """Department, item, four quarters."""
    source = random.Random(1502)
    return [(d, i, *(source.randrange(20, 900) * 100 for _ in range(4))) for d in DEPARTMENTS for i in ITEMS]


def _budget(path: Path) -> None:
    lines: list[Row] = [
        ("Team budget 2025, in EUR",),
        (),
        ("Department", "Cost item", "Q1", "Q2", "Q3", "Q4"),
    ]
    for department in DEPARTMENTS:
        own = [row for row in budget() if row[0] == department]
        lines += [
            *own,
            (f"Subtotal {department}", None, *(sum(row[at] for row in own) for at in range(2, 6))),
        ]
    lines.append(("Grand total", None, *(sum(row[at] for row in budget()) for at in range(2, 6))))
    write_sheets(path, {"Team budget": lines}, dict.fromkeys(range(3, 7), "#,##0"))


def _budget_questions() -> list[Q]:
    rows, t = budget(), "<team budget.xlsx>"
    return [
        Q(
            text="What is the sum of Q2 in the team budget?",
            kind="sum",
            gold=(sum(r[3] for r in rows),),
            sql=f"SELECT SUM([Q2]) FROM {t}",
        ),
        Q(
            text="Team budget: sum of Q1 for Engineering",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[0] == "Engineering"),),
            sql=f"SELECT SUM([Q1]) FROM {t} WHERE [Department] = 'Engineering'",
        ),
        Q(
            text="How much is budgeted for Travel in Q3 across all departments?",
            kind="sum",
            gold=(sum(r[4] for r in rows if r[1] == "Travel"),),
            sql=f"SELECT SUM([Q3]) FROM {t} WHERE [Cost item] = 'Travel'",
        ),
        Q(
            text="Which department and cost item has the highest Q4 budget?",
            kind="extreme",
            gold=tuple(max(rows, key=lambda r: r[5])[:2]),
            sql=f"SELECT [Department], [Cost item], [Q4] FROM {t} ORDER BY [Q4] DESC LIMIT 1",
        ),
        Q(
            text="Average Q1 budget per cost item in the team budget",
            kind="group",
            gold=tuple(mean(r[2] for r in rows if r[1] == i) for i in ITEMS),
            sql=f"SELECT [Cost item], AVG([Q1]) FROM {t} GROUP BY [Cost item]",
        ),
        Q(
            text="What did Legal budget for Software in Q2?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[:2] == ("Legal", "Software")),),
            sql=f"SELECT [Q2] FROM {t} WHERE [Department] = 'Legal' AND [Cost item] = 'Software'",
        ),
        Q(text="What is the Q1 budget of the Marketing department?", kind="none", gold=()),
    ]


def stock(place: str) -> list[Row]:
    """SKU, item, on hand, reorder level, unit cost."""
    source = random.Random(f"1503{place}")
    kinds = ("Cable", "Switch", "Router", "Adapter", "Battery", "Sensor")
    return [
        (
            f"{place[:2].upper()}-{100 + n}",
            f"{source.choice(kinds)} type {chr(65 + n)}",
            source.randrange(0, 400),
            source.randrange(20, 120),
            source.randrange(150, 9900) / 100,
        )
        for n in range(18)
    ]


def _stock(path: Path) -> None:
    header = ("SKU", "Item", "On hand", "Reorder level", "Unit cost (GBP)")
    lines: list[Row] = []
    for place in ("Leeds", "Bristol"):
        lines += [(f"Warehouse {place}",), header, *stock(place), (), ()]
    write_sheets(path, {"Stock": lines}, {5: "0.00"})


def _stock_questions() -> list[Q]:
    leeds, bristol = stock("Leeds"), stock("Bristol")
    t, u = "<warehouse stock.xlsx#Leeds>", "<warehouse stock.xlsx#Bristol>"
    return [
        Q(
            text="How many pieces are on hand in warehouse Leeds in total?",
            kind="sum",
            gold=(sum(r[2] for r in leeds),),
            sql=f"SELECT SUM([On hand]) FROM {t}",
        ),
        Q(
            text="How many items in warehouse Bristol are below their reorder level?",
            kind="filter",
            gold=(sum(r[2] < r[3] for r in bristol),),
            sql=f"SELECT COUNT(*) FROM {u} WHERE [On hand] < [Reorder level]",
        ),
        Q(
            text="What is the highest unit cost in warehouse Bristol?",
            kind="extreme",
            gold=(max(r[4] for r in bristol),),
            sql=f"SELECT MAX([Unit cost]) FROM {u}",
        ),
        Q(
            text="Total number of items on hand in both warehouses, Leeds and Bristol",
            kind="sum",
            gold=(sum(r[2] for r in leeds + bristol),),
            sql=f"SELECT (SELECT SUM([On hand]) FROM {t}) + (SELECT SUM([On hand]) FROM {u})",
        ),
        Q(
            text="What is the unit cost of LE-104?",
            kind="lookup",
            gold=(leeds[4][4],),
            sql=f"SELECT [Unit cost] FROM {t} WHERE [SKU] = 'LE-104'",
        ),
        Q(text="How many pieces are on hand in warehouse Cardiff?", kind="none", gold=()),
    ]


def staff() -> list[Row]:
    """Name, team, start, salary, weekly hours, remote."""
    source = random.Random(1504)
    first = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jo")
    last = ("Moss", "Reyes", "Stone", "Tran")
    return [
        (
            f"{f} {s}",
            source.choice(("Platform", "Design", "Finance", "Care")),
            date(2015, 1, 1) + timedelta(days=source.randrange(3900)),
            source.randrange(380, 980) * 100 if source.random() > 0.1 else None,
            source.choice((20, 32, 40)),
            source.choice(("yes", "no")),
        )
        for f in first
        for s in last
    ]


def _staff(path: Path) -> None:
    header = ("Name", "Team", "Start date", "Salary", "Hours per week", "Remote")
    write_sheets(path, {"Staff": [header, *staff()]}, {3: "dd mmm yyyy", 4: '#,##0 "€"'})


def _staff_questions() -> list[Q]:
    rows, t = staff(), "<staff list.xlsx>"
    paid = [r for r in rows if r[3] is not None]
    return [
        Q(
            text="How many people work in the Platform team?",
            kind="count",
            gold=(sum(r[1] == "Platform" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Team] = 'Platform'",
        ),
        Q(
            text="How many staff started after 2020?",
            kind="dates",
            gold=(sum(r[2].year > 2020 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Start date] > '2020-12-31'",
        ),
        Q(
            text="Average salary in the Design team",
            kind="average",
            gold=(mean(r[3] for r in paid if r[1] == "Design"),),
            sql=f"SELECT AVG([Salary]) FROM {t} WHERE [Team] = 'Design'",
        ),
        Q(
            text="How many staff have no salary entered?",
            kind="filter",
            gold=(len(rows) - len(paid),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Salary] IS NULL",
        ),
        Q(
            text="Who has the highest salary?",
            kind="extreme",
            gold=(max(paid, key=lambda r: r[3])[0],),
            sql=f"SELECT [Name], [Salary] FROM {t} ORDER BY [Salary] DESC LIMIT 1",
        ),
        Q(
            text="How many people in each team?",
            kind="group",
            gold=tuple(sum(r[1] == s for r in rows) for s in ("Care", "Design", "Finance", "Platform")),
            sql=f"SELECT [Team], COUNT(*) FROM {t} GROUP BY [Team]",
        ),
        Q(
            text="How many hours per week does Hana Stone work?",
            kind="lookup",
            gold=(next(r[4] for r in rows if r[0] == "Hana Stone"),),
            sql=f"SELECT [Hours per week] FROM {t} WHERE [Name] = 'Hana Stone'",
        ),
        Q(
            text="When did Ivo Tran start?",
            kind="lookup",
            gold=(f"{next(r[2] for r in rows if r[0] == 'Ivo Tran'):%d %b %Y}",),
            sql=f"SELECT [Start date] FROM {t} WHERE [Name] = 'Ivo Tran'",
        ),
        Q(text="What is the average age of the staff?", kind="none", gold=()),
    ]


def expenses() -> list[Row]:
    """Date, cost centre, category, amount."""
    source = random.Random(1505)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(365)),
            source.choice(("Vertrieb", "Einkauf", "Verwaltung")),
            source.choice(("Reisen", "Bürobedarf", "Bewirtung", "Fortbildung")),
            source.randrange(900, 450_000) / 100,
        )
        for _ in range(120)
    ]


def _expenses(path: Path) -> None:
    lines = [
        (f"{day:%d.%m.%Y}", centre, kind, f"{german(amount)} €") for day, centre, kind, amount in expenses()
    ]
    write_csv(path, [("Datum", "Kostenstelle", "Kategorie", "Betrag"), *lines], delimiter=";")


def _expense_questions() -> list[Q]:
    rows, t = expenses(), "<ausgaben.csv>"
    return [
        Q(
            language="de",
            text="Wie hoch ist die Summe aller Beträge für Reisen?",
            kind="sum",
            gold=(round(sum(r[3] for r in rows if r[2] == "Reisen"), 2),),
            sql=f"SELECT ROUND(SUM([Betrag]), 2) FROM {t} WHERE [Kategorie] = 'Reisen'",
        ),
        Q(
            language="de",
            text="Wie viele Ausgaben hat die Kostenstelle Vertrieb?",
            kind="count",
            gold=(sum(r[1] == "Vertrieb" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Kostenstelle] = 'Vertrieb'",
        ),
        Q(
            language="de",
            text="Durchschnittlicher Betrag für Bewirtung",
            kind="average",
            gold=(mean(r[3] for r in rows if r[2] == "Bewirtung"),),
            sql=f"SELECT AVG([Betrag]) FROM {t} WHERE [Kategorie] = 'Bewirtung'",
        ),
        Q(
            language="de",
            text="Summe der Beträge im März 2025",
            kind="dates",
            gold=(round(sum(r[3] for r in rows if r[0].month == 3), 2),),
            sql=f"SELECT ROUND(SUM([Betrag]), 2) FROM {t} WHERE [Datum] LIKE '2025-03-%'",
        ),
        Q(
            language="de",
            text="Summe der Beträge je Kategorie",
            kind="group",
            gold=tuple(
                round(sum(r[3] for r in rows if r[2] == k), 2)
                for k in ("Bewirtung", "Bürobedarf", "Fortbildung", "Reisen")
            ),
            sql=f"SELECT [Kategorie], ROUND(SUM([Betrag]), 2) FROM {t} GROUP BY [Kategorie]",
        ),
        Q(
            language="de",
            text="Was ist der höchste Betrag in den Ausgaben?",
            kind="extreme",
            gold=(max(r[3] for r in rows),),
            sql=f"SELECT MAX([Betrag]) FROM {t}",
        ),
        Q(
            language="de",
            text="Wie hoch ist die Summe der Beträge der Kostenstelle Produktion?",
            kind="none",
            gold=(),
        ),
    ]


def turnover() -> list[Row]:
    """Branch, then four quarters of 2024 and of 2025."""
    source = random.Random(1506)
    return [
        (name, *(source.randrange(100, 999) for _ in range(8)))
        for name in ("Kiel", "Jena", "Ulm", "Trier", "Passau", "Celle")
    ]


def _turnover(path: Path) -> None:
    header = [
        ("Filiale", "2024", None, None, None, "2025", None, None, None),
        (None, *("Q1", "Q2", "Q3", "Q4") * 2),
    ]
    import openpyxl

    write_sheets(path, {"Umsatz (T€)": [*header, *turnover()]})
    workbook = openpyxl.load_workbook(path)
    for place in ("A1:A2", "B1:E1", "F1:I1"):
        workbook["Umsatz (T€)"].merge_cells(place)
    workbook.save(path)


def _turnover_questions() -> list[Q]:
    rows, t = turnover(), "<filialumsatz.xlsx>"
    return [
        Q(
            language="de",
            text="Wie hoch war der Umsatz der Filiale Ulm in Q3 2025?",
            kind="lookup",
            gold=(rows[2][7],),
            sql=f"SELECT [2025 Q3] FROM {t} WHERE [Filiale] = 'Ulm'",
        ),
        Q(
            language="de",
            text="Summe des Umsatzes aller Filialen in Q1 2024",
            kind="sum",
            gold=(sum(r[1] for r in rows),),
            sql=f"SELECT SUM([2024 Q1]) FROM {t}",
        ),
        Q(
            language="de",
            text="Welche Filiale hatte in Q4 2025 den höchsten Umsatz?",
            kind="extreme",
            gold=(max(rows, key=lambda r: r[8])[0],),
            sql=f"SELECT [Filiale], [2025 Q4] FROM {t} ORDER BY [2025 Q4] DESC LIMIT 1",
        ),
        Q(language="de", text="Umsatz der Filiale Ulm in Q3 2022?", kind="none", gold=()),
    ]


def chinese_sales() -> list[Row]:
    """Date, region, product, pieces, amount."""
    source = random.Random(1507)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(180)),
            source.choice(("华东", "华南", "华北")),
            source.choice(("茶叶", "咖啡", "果汁")),
            source.randrange(5, 200),
            source.randrange(1000, 90000) / 10,
        )
        for _ in range(60)
    ]


def _chinese_sales(path: Path) -> None:
    write_csv(path, [("日期", "地区", "产品", "数量", "金额(元)"), *chinese_sales()])


def _chinese_questions() -> list[Q]:
    rows, t = chinese_sales(), "<销售记录.csv>"
    return [
        Q(
            language="zh",
            text="华东地区的金额总和是多少?",
            kind="sum",
            gold=(round(sum(r[4] for r in rows if r[1] == "华东"), 2),),
            sql=f"SELECT ROUND(SUM([金额]), 2) FROM {t} WHERE [地区] = '华东'",
        ),
        Q(
            language="zh",
            text="产品为咖啡的销售记录有多少条?",
            kind="count",
            gold=(sum(r[2] == "咖啡" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [产品] = '咖啡'",
        ),
        Q(
            language="zh",
            text="茶叶的平均数量是多少?",
            kind="average",
            gold=(mean(r[3] for r in rows if r[2] == "茶叶"),),
            sql=f"SELECT AVG([数量]) FROM {t} WHERE [产品] = '茶叶'",
        ),
        Q(
            language="zh",
            text="每个地区的数量总和",
            kind="group",
            gold=tuple(sum(r[3] for r in rows if r[1] == g) for g in ("华东", "华北", "华南")),
            sql=f"SELECT [地区], SUM([数量]) FROM {t} GROUP BY [地区]",
        ),
        Q(language="zh", text="西北地区的金额总和是多少?", kind="none", gold=()),
    ]


def spanish_sales() -> list[Row]:
    """Date, shop, seller, units, amount."""
    source = random.Random(1508)
    return [
        (
            date(2025, 1, 1) + timedelta(days=source.randrange(365)),
            source.choice(("Sevilla", "Bilbao", "Murcia")),
            source.choice(("Lucía", "Íñigo", "Carmen", "Raúl")),
            source.randrange(1, 90),
            source.randrange(500, 99_000) / 100,
        )
        for _ in range(80)
    ]


def _spanish_sales(path: Path) -> None:
    header = ("Fecha", "Tienda", "Vendedor", "Unidades", "Importe (€)")
    write_sheets(path, {"Ventas": [header, *spanish_sales()]}, {1: "dd/mm/yyyy", 5: "#,##0.00"})


def _spanish_questions() -> list[Q]:
    rows, t = spanish_sales(), "<ventas.xlsx>"
    return [
        Q(
            language="es",
            text="¿Cuál es la suma del importe de la tienda Sevilla?",
            kind="sum",
            gold=(round(sum(r[4] for r in rows if r[1] == "Sevilla"), 2),),
            sql=f"SELECT ROUND(SUM([Importe]), 2) FROM {t} WHERE [Tienda] = 'Sevilla'",
        ),
        Q(
            language="es",
            text="¿Cuántas ventas hizo Íñigo?",
            kind="count",
            gold=(sum(r[2] == "Íñigo" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Vendedor] = 'Íñigo'",
        ),
        Q(
            language="es",
            text="Promedio de unidades por tienda",
            kind="group",
            gold=tuple(mean(r[3] for r in rows if r[1] == s) for s in ("Bilbao", "Murcia", "Sevilla")),
            sql=f"SELECT [Tienda], AVG([Unidades]) FROM {t} GROUP BY [Tienda]",
        ),
        Q(
            language="es",
            text="¿Qué vendedor tiene el mayor importe total?",
            kind="top",
            gold=(
                max(("Lucía", "Íñigo", "Carmen", "Raúl"), key=lambda n: sum(r[4] for r in rows if r[2] == n)),
            ),
            sql=f"SELECT [Vendedor], SUM([Importe]) AS s FROM {t} GROUP BY [Vendedor] ORDER BY s DESC LIMIT 1",
        ),
        Q(language="es", text="¿Cuál es la suma del importe de la tienda Granada?", kind="none", gold=()),
    ]


def energy() -> list[Row]:
    """Month, plant, electricity, gas (sometimes missing)."""
    source = random.Random(1509)
    return [
        (
            f"2025-{month:02}",
            plant,
            source.randrange(1000, 90000),
            source.randrange(100, 4000) if source.random() > 0.15 else None,
        )
        for month in range(1, 13)
        for plant in ("Mill Lane", "Dock Road", "High Street")
    ]


def _energy(path: Path) -> None:
    lines = [(m, p, f"{e:,}", "n/a" if g is None else g) for m, p, e, g in energy()]
    write_csv(path, [("Month", "Plant", "Electricity (kWh)", "Gas (m³)"), *lines])


def _energy_questions() -> list[Q]:
    rows, t = energy(), "<energy use.csv>"
    return [
        Q(
            text="What was the total electricity use of the Dock Road plant?",
            kind="sum",
            gold=(sum(r[2] for r in rows if r[1] == "Dock Road"),),
            sql=f"SELECT SUM([Electricity]) FROM {t} WHERE [Plant] = 'Dock Road'",
        ),
        Q(
            text="Average gas consumption of the Mill Lane plant",
            kind="average",
            gold=(mean(r[3] for r in rows if r[1] == "Mill Lane" and r[3] is not None),),
            sql=f"SELECT AVG([Gas]) FROM {t} WHERE [Plant] = 'Mill Lane'",
        ),
        Q(
            text="Lowest electricity value of the High Street plant",
            kind="extreme",
            gold=(min(r[2] for r in rows if r[1] == "High Street"),),
            sql=f"SELECT MIN([Electricity]) FROM {t} WHERE [Plant] = 'High Street'",
        ),
        Q(
            text="Total electricity by plant",
            kind="group",
            gold=tuple(
                sum(r[2] for r in rows if r[1] == p) for p in ("Dock Road", "High Street", "Mill Lane")
            ),
            sql=f"SELECT [Plant], SUM([Electricity]) FROM {t} GROUP BY [Plant]",
        ),
        Q(
            text="How much electricity did Dock Road use in May 2025?",
            kind="lookup",
            gold=(next(r[2] for r in rows if r[:2] == ("2025-05", "Dock Road")),),
            sql=f"SELECT [Electricity] FROM {t} WHERE [Plant] = 'Dock Road' AND [Month] LIKE '2025-05%'",
        ),
        Q(text="What was the total water use of the Dock Road plant?", kind="none", gold=()),
    ]


def invoices() -> list[Row]:
    """Invoice, date, supplier, amount, currency."""
    source = random.Random(1510)
    return [
        (
            f"INV-{n:03}",
            date(2025, 1, 5) + timedelta(days=n * 4),
            source.choice(("Nordwind", "Paperly", "Quantum Ltd")),
            source.randrange(5000, 900_000) / 100,
            source.choice(("USD", "EUR")),
        )
        for n in range(1, 61)
    ]


def _invoices(path: Path) -> None:
    lines = [(n, f"{day:%d/%m/%Y}", s, f"{a:,.2f}", c) for n, day, s, a, c in invoices()]
    write_csv(path, [("Invoice", "Invoice date", "Supplier", "Amount", "Currency"), *lines])


def _invoice_questions() -> list[Q]:
    rows, t = invoices(), "<invoices.csv>"
    return [
        Q(
            text="Sum of the invoice amounts in EUR",
            kind="sum",
            gold=(round(sum(r[3] for r in rows if r[4] == "EUR"), 2),),
            sql=f"SELECT ROUND(SUM([Amount]), 2) FROM {t} WHERE [Currency] = 'EUR'",
        ),
        Q(
            text="How many invoices did Paperly send?",
            kind="count",
            gold=(sum(r[2] == "Paperly" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Supplier] = 'Paperly'",
        ),
        Q(
            text="How many invoices have an amount over 5,000 USD?",
            kind="filter",
            gold=(sum(r[3] > 5000 and r[4] == "USD" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Amount] > 5000 AND [Currency] = 'USD'",
        ),
        Q(
            text="How many invoices are dated in June 2025?",
            kind="dates",
            gold=(sum(r[1].month == 6 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Invoice date] LIKE '2025-06-%'",
        ),
        Q(
            text="What is the amount of invoice INV-017?",
            kind="lookup",
            gold=(rows[16][3],),
            sql=f"SELECT [Amount] FROM {t} WHERE [Invoice] = 'INV-017'",
        ),
        Q(
            text="Which supplier sent invoice INV-033?",
            kind="lookup",
            gold=(rows[32][2],),
            sql=f"SELECT [Supplier] FROM {t} WHERE [Invoice] = 'INV-033'",
        ),
        Q(text="Sum of the invoice amounts in CHF", kind="none", gold=()),
    ]


def tickets() -> list[Row]:
    """Ticket, opened, priority, agent, minutes."""
    source = random.Random(1511)
    return [
        (
            f"T{n}",
            datetime(2025, 6, 1, 8) + timedelta(minutes=source.randrange(80_000)),
            source.choice(("low", "medium", "high", "urgent")),
            source.choice(("Kim", "Lou", "Max")),
            source.randrange(2, 600),
        )
        for n in range(900, 990)
    ]


def _tickets(path: Path) -> None:
    lines = [(n, f"{at:%Y-%m-%d %H:%M}", p, a, m) for n, at, p, a, m in tickets()]
    write_csv(path, [("Ticket", "Opened", "Priority", "Agent", "Minutes to solve"), *lines])


def _ticket_questions() -> list[Q]:
    rows, t = tickets(), "<support tickets.csv>"
    return [
        Q(
            text="How many urgent tickets are there?",
            kind="count",
            gold=(sum(r[2] == "urgent" for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Priority] = 'urgent'",
        ),
        Q(
            text="What is the average number of minutes to solve a high priority ticket?",
            kind="average",
            gold=(mean(r[4] for r in rows if r[2] == "high"),),
            sql=f"SELECT AVG([Minutes to solve]) FROM {t} WHERE [Priority] = 'high'",
        ),
        Q(
            text="How many tickets did each agent have?",
            kind="group",
            gold=tuple(sum(r[3] == a for r in rows) for a in ("Kim", "Lou", "Max")),
            sql=f"SELECT [Agent], COUNT(*) FROM {t} GROUP BY [Agent]",
        ),
        Q(
            text="How many tickets were opened in July 2025?",
            kind="dates",
            gold=(sum(r[1].month == 7 for r in rows),),
            sql=f"SELECT COUNT(*) FROM {t} WHERE [Opened] LIKE '2025-07-%'",
        ),
        Q(
            text="Which agent has ticket T944?",
            kind="lookup",
            gold=(next(r[3] for r in rows if r[0] == "T944"),),
            sql=f"SELECT [Agent] FROM {t} WHERE [Ticket] = 'T944'",
        ),
        Q(text="How many tickets did agent Pat have?", kind="none", gold=()),
        Q(text="Why do customers open so many tickets?", kind="none", gold=()),
    ]


def _real_questions() -> list[Q]:
    cups = real_rows("real/unst-stanley-cups.csv")[2:]
    people = real_rows("made/csv-30k-rows.csv")[1:]
    cities = real_sheet("real/poi-DataTableCities.xlsx", "Table")
    greek = real_sheet("real/markit-test.xlsx", "Sheet1")[1:]
    japanese = real_rows("real/markit-test_mskanji.csv", encoding="cp932")[1:]
    asked: list[Q] = []
    if cups:
        t = "<stanley cups.csv>"
        asked += [
            Q(
                text="How many Stanley Cups did all teams win together?",
                kind="sum",
                gold=(sum(int(r[2]) for r in cups),),
                sql=f"SELECT SUM([Stanley Cups]) FROM {t}",
            ),
            Q(
                text="How many Stanley Cups did the Maple Leafs win?",
                kind="lookup",
                gold=(13,),
                sql=f"SELECT [Stanley Cups] FROM {t} WHERE [Team] = 'Maple Leafs'",
            ),
            Q(text="How many Stanley Cups did the Penguins win?", kind="none", gold=()),
        ]
    if people:
        t = "<people amounts.csv>"
        asked += [
            Q(
                text="How many people with an amount live in the city Lyon?",
                kind="count",
                gold=(sum(r[2] == "Lyon" for r in people),),
                sql=f"SELECT COUNT(*) FROM {t} WHERE [city] = 'Lyon'",
            ),
            Q(
                text="Sum of amount by city",
                kind="group",
                gold=tuple(
                    round(sum(float(r[3]) for r in people if r[2] == c), 2)
                    for c in sorted({r[2] for r in people})
                ),
                sql=f"SELECT [city], ROUND(SUM([amount]), 2) FROM {t} GROUP BY [city]",
            ),
            Q(
                text="What is the amount of person 20417?",
                kind="lookup",
                gold=(float(people[20417][3]),),
                sql=f"SELECT [amount] FROM {t} WHERE [name] = 'person 20417'",
            ),
        ]
    if cities:
        big, small, t = (
            [r[2:6] for r in cities[2:14]],
            [r[8:12] for r in cities[2:14]],
            "<big and small cities.xlsx#Table C3>",
        )
        asked += [
            Q(
                text="What is the population of Lagos, Nigeria?",
                kind="lookup",
                gold=(next(r[3] for r in big if "Lagos" in str(r[0])),),
                sql=f"SELECT [Population] FROM {t} WHERE [City] = 'Lagos, Nigeria'",
            ),
            Q(
                text="Sum of the population of the big cities",
                kind="sum",
                gold=(sum(int(r[3]) for r in big),),
                sql="SELECT SUM([Population]) FROM <big and small cities.xlsx#Table C3>",
            ),
            Q(
                text="How many of the small cities have a population under 500,000?",
                kind="filter",
                gold=(sum(int(r[3]) < 500_000 for r in small),),
                sql="SELECT COUNT(*) FROM <big and small cities.xlsx#Table I3> WHERE [Population] < 500000",
            ),
        ]
    if greek:
        t, delta = "<alpha beta.xlsx#Sheet1>", [r[3] for r in greek if isinstance(r[3], int | float)]
        asked += [
            Q(
                text="What is the average of Delta?",
                kind="average",
                gold=(mean(delta),),
                sql=f"SELECT AVG([Delta]) FROM {t}",
            ),
            Q(
                text="Sum of Gamma",
                kind="sum",
                gold=(sum(r[2] for r in greek if isinstance(r[2], int)),),
                sql=f"SELECT SUM([Gamma]) FROM {t}",
            ),
        ]
    if japanese:
        asked.append(
            Q(
                language="zh",
                text="名前是佐藤太郎的年齢是多少?",
                kind="lookup",
                gold=(30,),
                sql="SELECT [年齢] FROM <meibo.csv> WHERE [名前] = '佐藤太郎'",
            )
        )
    return asked


def questions() -> list[Q]:
    """All of this half, the same on every run."""
    return [
        *_order_questions(),
        *_budget_questions(),
        *_stock_questions(),
        *_staff_questions(),
        *_expense_questions(),
        *_turnover_questions(),
        *_chinese_questions(),
        *_spanish_questions(),
        *_energy_questions(),
        *_invoice_questions(),
        *_ticket_questions(),
        *_real_questions(),
    ]


DEVELOPMENT = QuestionSet(
    makers={
        "orders.csv": _orders,
        "customers.csv": _customers,
        "team budget.xlsx": _budget,
        "warehouse stock.xlsx": _stock,
        "staff list.xlsx": _staff,
        "ausgaben.csv": _expenses,
        "filialumsatz.xlsx": _turnover,
        "销售记录.csv": _chinese_sales,
        "ventas.xlsx": _spanish_sales,
        "energy use.csv": _energy,
        "invoices.csv": _invoices,
        "support tickets.csv": _tickets,
    },
    real={
        "stanley cups.csv": "real/unst-stanley-cups.csv",
        "people amounts.csv": "made/csv-30k-rows.csv",
        "big and small cities.xlsx": "real/poi-DataTableCities.xlsx",
        "alpha beta.xlsx": "real/markit-test.xlsx",
        "meibo.csv": "real/markit-test_mskanji.csv",
        "formats.xlsx": "real/tika-testEXCEL-formats.xlsx",
        "semicolons.csv": "real/unst-semicolon-delimited.csv",
    },
    questions=questions,
)
