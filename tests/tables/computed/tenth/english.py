from __future__ import annotations

import random
from datetime import date, timedelta

from tests.tables.computed.made_files import made
from tests.tables.computed.question_set import ComputedQuestion, Row, mean

Q = ComputedQuestion


def bookings() -> list[Row]:
    """Booking, guest, room type, check-in, nights, total, channel, paid."""
    source = random.Random(1001)
    return [
        (
            f"BK{700 + n}",
            source.choice(("Olsen", "Marchetti", "Dupree", "Nakata", "Whitfield", "Adeyemi")),
            source.choice(("Double", "Single", "Suite", "Family")),
            date(2025, 2, 3) + timedelta(days=6 * n),
            source.randrange(1, 9),
            120 + 17 * n + source.randrange(900),
            source.choice(("Website", "Phone", "Agency")),
            source.choice(("yes", "yes", "no")),
        )
        for n in range(32)
    ]


def stock() -> list[Row]:
    """SKU, product, category, on hand, reorder point, unit cost, supplier."""
    source = random.Random(1002)
    names = (
        *("Claw hammer", "Wood glue", "Cordless drill", "Safety goggles", "Paint roller", "Masking tape"),
        *("Spirit level", "Sandpaper", "Work gloves", "Hand saw", "Utility knife", "Caulk gun"),
    )
    groups = ("Tools", "Consumables", "Tools", "Safety", "Painting", "Consumables", "Tools", "Consumables", "Safety", "Tools", "Tools", "Painting")  # fmt: skip
    return [
        (
            f"A-{10 + n}",
            name,
            groups[n],
            source.randrange(0, 300),
            source.randrange(20, 90),
            source.randrange(150, 9_900) / 100,
            ("Hartwell", "Pinnacle", "Kobe Trading")[source.randrange(3)],
        )
        for n, name in enumerate(names)
    ]


def deals() -> list[Row]:
    """Company, industry, stage, value, probability, created, owner."""
    source = random.Random(1003)
    names = (
        *("Altamira", "Bluepeak", "Cindral", "Dovetail", "Evergrid", "Foxglove", "Grantham", "Helix"),
        *("Ironbark", "Juniper", "Kestrel", "Lumio", "Mosaic", "Northgate"),
    )
    return [
        (
            name,
            source.choice(("Retail", "Energy", "Health")),
            ("Won", "Lost", "Negotiation", "Proposal")[source.randrange(4)],
            5_000 + 1_310 * n + 100 * source.randrange(400),
            source.randrange(1, 10) * 10,
            date(2024, 9, 2) + timedelta(days=23 * n),
            ("Priya Shah", "Tom Becker", "Lucía Vega")[source.randrange(3)],
        )
        for n, name in enumerate(names)
    ]


def loans() -> list[Row]:
    """Book, author, borrower, borrowed, returned (sometimes empty), fine."""
    source = random.Random(1004)
    books = (
        *(("Middlemarch", "Eliot"), ("Emma", "Austen"), ("Dracula", "Stoker"), ("Ulysses", "Joyce")),
        *(("Persuasion", "Austen"), ("Villette", "Brontë"), ("Kim", "Kipling"), ("Ivanhoe", "Scott")),
    )
    return [
        (
            *books[n % 8],
            source.choice(("Nina Falk", "Omar Aziz", "Pia Lund")),
            date(2025, 3, 1) + timedelta(days=5 * n),
            "" if n in (9, 13, 15) else date(2025, 3, 10) + timedelta(days=5 * n + source.randrange(20)),
            source.randrange(0, 9) * 0.5,
        )
        for n in range(16)
    ]


MAKERS = {
    "hotel bookings.xlsx": made(
        ("Booking", "Guest", "Room type", "Check-in", "Nights", "Total (EUR)", "Channel", "Paid"),
        bookings(),
        sheet="2025",
    ),
    "stocktake.csv": made(
        ("SKU", "Product", "Category", "On hand", "Reorder point", "Unit cost ($)", "Supplier"), stock()
    ),
    "sales pipeline.csv": made(
        ("Company", "Industry", "Stage", "Deal value (USD)", "Probability (%)", "Created", "Account owner"),
        deals(),
    ),
    "library loans.html": made(("Book", "Author", "Borrower", "Borrowed", "Returned", "Fine (£)"), loans()),
}


def questions() -> list[Q]:
    return [*_about_bookings(), *_about_stock(), *_about_deals(), *_about_loans()]


def _about_bookings() -> list[Q]:
    rows = bookings()
    kinds, channels = sorted({r[2] for r in rows}), sorted({r[6] for r in rows})
    by_kind = {k: sum(r[5] for r in rows if r[2] == k) for k in kinds}
    total = sum(r[5] for r in rows)
    guests = sorted({r[1] for r in rows})
    top = sorted(rows, key=lambda r: -r[5])
    return [
        Q(text="total revenue from suites", kind="sum", gold=(by_kind["Suite"],)),
        Q(text="how many bookings came via the website", kind="count", gold=(sum(r[6] == "Website" for r in rows),)),
        Q(text="Could you kindly let me know how many of the bookings have not been paid?", kind="count", gold=(sum(r[7] == "no" for r in rows),)),
        Q(text="unpaid bookings how many", kind="count", gold=(sum(r[7] == "no" for r in rows),)),
        Q(text="avg length of stay", kind="average", gold=(mean(r[4] for r in rows),)),
        Q(text="average nights for family rooms", kind="average", gold=(mean(r[4] for r in rows if r[2] == "Family"),)),
        Q(text="bookings by channel", kind="group", gold=tuple(sum(r[6] == c for r in rows) for c in channels)),
        Q(text="revenue by room type pls", kind="group", gold=tuple(by_kind.values())),
        Q(text="What proportion of our takings comes from agencies?", kind="average", gold=(100 * sum(r[5] for r in rows if r[6] == "Agency") / total,)),
        Q(text="top 3 bookings by total", kind="top", gold=tuple(r[0] for r in top[:3])),
        Q(text="most expensive booking", kind="extreme", gold=(top[0][0],)),
        Q(text="which guest brought in the most money", kind="extreme", gold=(max(guests, key=lambda g: sum(r[5] for r in rows if r[1] == g)),)),
        Q(text="how many check-ins in may 2025", kind="dates", gold=(sum(r[3].month == 5 for r in rows),)),
        Q(text="how many nights did Nakata book altogether?", kind="sum", gold=(sum(r[4] for r in rows if r[1] == "Nakata"),)),
        Q(text="I would be grateful for the sum of all bookings between 1 March and 30 April 2025", kind="dates", gold=(sum(r[5] for r in rows if r[3].month in (3, 4)),)),
        Q(text="bookings above 1000 euros: how many do we have?", kind="filter", gold=(sum(r[5] > 1000 for r in rows),)),
        Q(text="who stayed in BK715", kind="lookup", gold=(rows[15][1],)),
        Q(text="BK709 total?", kind="lookup", gold=(rows[9][5],)),
        Q(text="when does booking BK720 arrive", kind="lookup", gold=(f"{rows[20][3]}",)),
        Q(text="how did the guest of BK703 book, which channel", kind="lookup", gold=(rows[3][6],)),
        Q(text="how many bookings with breakfast", kind="none", gold=()),
        Q(text="total for penthouse bookings", kind="none", gold=()),
        Q(text="revenue in november 2023", kind="none", gold=()),
    ]  # fmt: skip


def _about_stock() -> list[Q]:
    rows = stock()
    suppliers, groups = sorted({r[6] for r in rows}), sorted({r[2] for r in rows})
    return [
        Q(text="how many hammers do we have left", kind="lookup", gold=(rows[0][3],)),
        Q(text="price of the cordless drill", kind="lookup", gold=(rows[2][5],)),
        Q(text="who supplies us with wood glue", kind="lookup", gold=(rows[1][6],)),
        Q(text="what is the sku of masking tape", kind="lookup", gold=(rows[5][0],)),
        Q(text="reorder point sandpaper", kind="lookup", gold=(rows[7][4],)),
        Q(text="which products does Hartwell deliver", kind="group", gold=tuple(r[1] for r in rows if r[6] == "Hartwell")),
        Q(text="products below 50 in stock", kind="group", gold=tuple(r[1] for r in rows if r[3] < 50)),
        Q(text="how many different products are in the category tools", kind="count", gold=(sum(r[2] == "Tools" for r in rows),)),
        Q(text="total on hand per category", kind="group", gold=tuple(sum(r[3] for r in rows if r[2] == g) for g in groups)),
        Q(text="What's our cheapest item?", kind="extreme", gold=(min(rows, key=lambda r: r[5])[1],)),
        Q(text="which one is dearest per unit", kind="extreme", gold=(max(rows, key=lambda r: r[5])[1],)),
        Q(text="average unit cost of safety products", kind="average", gold=(mean(r[5] for r in rows if r[2] == "Safety"),)),
        Q(text="which supplier has the biggest number of products", kind="extreme", gold=(max(suppliers, key=lambda s: sum(r[6] == s for r in rows)),)),
        Q(text="sum up the stock of all consumables", kind="sum", gold=(sum(r[3] for r in rows if r[2] == "Consumables"),)),
        Q(text="of which product we have the less units?", kind="extreme", gold=(min(rows, key=lambda r: r[3])[1],)),
        Q(text="how many ladders are on hand", kind="none", gold=()),
        Q(text="what is the weight of the hand saw", kind="none", gold=()),
    ]  # fmt: skip


def _about_deals() -> list[Q]:
    rows = deals()
    owners, fields = sorted({r[6] for r in rows}), sorted({r[1] for r in rows})
    by_owner = {o: sum(r[3] for r in rows if r[6] == o) for o in owners}
    return [
        Q(text="whats the total value of deals we won", kind="sum", gold=(sum(r[3] for r in rows if r[2] == "Won"),)),
        Q(text="number of lost deals", kind="count", gold=(sum(r[2] == "Lost" for r in rows),)),
        Q(text="pipeline value by stage", kind="group", gold=tuple(sum(r[3] for r in rows if r[2] == s) for s in sorted({r[2] for r in rows}))),
        Q(text="Who is responsible for Kestrel?", kind="lookup", gold=(rows[10][6],)),
        Q(text="at what stage is the Juniper deal", kind="lookup", gold=(rows[9][2],)),
        Q(text="how likely is it that we win Lumio", kind="lookup", gold=(rows[11][4],)),
        Q(text="Helix industry", kind="lookup", gold=(rows[7][1],)),
        Q(text="how much is the Foxglove deal worth?", kind="lookup", gold=(rows[5][3],)),
        Q(text="biggest deal in energy", kind="extreme", gold=(max((r for r in rows if r[1] == "Energy"), key=lambda r: r[3])[0],)),
        Q(text="please rank the owners by total deal value", kind="top", gold=tuple(sorted(owners, key=lambda o: -by_owner[o]))),
        Q(text="how many companies is Tom Becker looking after", kind="count", gold=(sum(r[6] == "Tom Becker" for r in rows),)),
        Q(text="deals created in 2025", kind="group", gold=tuple(r[0] for r in rows if r[5].year == 2025)),
        Q(text="how many deals were opened since january 2025?", kind="dates", gold=(sum(r[5].year == 2025 for r in rows),)),
        Q(text="average deal size per industry", kind="group", gold=tuple(mean(r[3] for r in rows if r[1] == f) for f in fields)),
        Q(text="which deals have a probability of at least 70 percent", kind="group", gold=tuple(r[0] for r in rows if r[4] >= 70)),
        Q(text="health deals over 20k", kind="group", gold=tuple(r[0] for r in rows if r[1] == "Health" and r[3] > 20_000)),
        Q(text="the deal with the lowest value is which?", kind="extreme", gold=(min(rows, key=lambda r: r[3])[0],)),
        Q(text="what is the margin on the Mosaic deal", kind="none", gold=()),
        Q(text="how many deals are in aerospace", kind="none", gold=()),
    ]  # fmt: skip


def _about_loans() -> list[Q]:
    rows = loans()
    people = sorted({r[2] for r in rows})
    return [
        Q(text="how many loans in april", kind="dates", gold=(sum(r[3].month == 4 for r in rows),)),
        Q(text="which books are still out", kind="group", gold=tuple(r[0] for r in rows if r[4] == "")),
        Q(text="books not yet returned - how many?", kind="count", gold=(3,)),
        Q(text="who wrote Dracula", kind="lookup", gold=("Stoker",)),
        Q(text="sum of fines", kind="sum", gold=(sum(r[5] for r in rows),)),
        Q(text="total fines per borrower", kind="group", gold=tuple(sum(r[5] for r in rows if r[2] == p) for p in people)),
        Q(text="how often was Emma lent", kind="count", gold=(2,)),
        Q(text="who pays the highest fines in total", kind="extreme", gold=(max(people, key=lambda p: sum(r[5] for r in rows if r[2] == p)),)),
        Q(text="how many books by austen were borrowed", kind="count", gold=(sum(r[1] == "Austen" for r in rows),)),
        Q(text="Pia Lund how many books", kind="count", gold=(sum(r[2] == "Pia Lund" for r in rows),)),
        Q(text="how many pages does Kim have", kind="none", gold=()),
    ]  # fmt: skip
