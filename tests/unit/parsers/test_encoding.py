"""Encodings of text files."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.parsers._shared.encoding import encoding_of, read_text, text_lines

if TYPE_CHECKING:
    from pathlib import Path

_NOISE = random.Random(1).randbytes(4000)
_TEXTS = {
    "German": "Die schöne Frau hat einen Kaffee – „groß“ – für fünf Euro getrunken. Über den Dächern läuft ein Käfer.",
    "French": "Le café « Préféré » ouvre à 7 h — déjà très fréquenté par les élèves. L’été, où ça ?",
    "Portuguese": "São Paulo é a maior cidade, não há dúvida; as ações também estão à venda.",
    "Czech": "Článek týdne. Svitky od Mrtvého moře byly nalezeny v jeskyních, které leží poblíž Kumránu.",
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van.",
    "Turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.",
    "Lithuanian": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια.",
    "Russian": "Инвентаризация проводится в последнюю пятницу месяца, просьба заявлять заранее.",
    "Hebrew": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
    "Arabic": "يجب فحص طفايات الحريق كل ستة أشهر في كل المكاتب",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์",
    "Chinese": "季度报告显示，华东区的退货率下降了百分之三点二。请提前两日申报，仓库盘点于每月最后一个星期五进行。",
    "Taiwanese": "倉庫盤點於每月最後一個星期五進行，請提前兩日申報。",
    "Japanese": "在庫の棚卸しは毎月末の金曜日に行います。事前にお知らせください。",
    "Korean": "재고 조사는 매월 마지막 금요일에 실시합니다. 미리 알려 주십시오.",
}


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *(
            (language, encoding)
            for language in _TEXTS
            for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32")
        ),
        *(("German", "cp1252"), ("French", "cp1252"), ("Portuguese", "latin-1"), ("Czech", "cp1250")),
        *(("Polish", "cp1250"), ("Hungarian", "cp1250"), ("Turkish", "cp1254"), ("Lithuanian", "cp1257")),
        *(("Greek", "cp1253"), ("Russian", "cp1251"), ("Russian", "koi8_r"), ("Russian", "cp866")),
        *(
            ("Hebrew", "cp1255"),
            ("Arabic", "cp1256"),
            ("Thai", "cp874"),
            ("Chinese", "gbk"),
            ("Chinese", "gb18030"),
        ),
        *(("Taiwanese", "big5"), ("Japanese", "cp932"), ("Japanese", "euc_jp"), ("Japanese", "iso2022_jp")),
        *(("Korean", "cp949"), ("German", "utf-16-le"), ("German", "utf-16-be")),
        *(("German", "mac_roman"), ("Portuguese", "cp850"), ("Czech", "iso8859_2"), ("Polish", "cp852")),
        *(
            ("Chinese", "utf-16-le"),
            ("Japanese", "utf-16-be"),
            ("Russian", "utf-16-le"),
            ("Arabic", "utf-16-le"),
        ),
        *(("German", "utf-32-le"), ("Taiwanese", "utf-32-be"), ("Chinese", "hz"), ("Korean", "iso2022_kr")),
    ],
)
def test_encodings(tmp_path: Path, language: str, encoding: str) -> None:
    path = tmp_path / "text"
    path.write_bytes((_TEXTS[language] + "\n").encode(encoding) * (1 if "utf" in encoding else 6))
    assert _TEXTS[language] in read_text(path)


def test_one_damaged_byte_does_not_change_the_alphabet(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes("季度报告显示".encode() + b"\xff\xfe" + "华东区的退货率".encode())
    assert encoding_of(path) == "utf-8"
    assert [line.text for line in text_lines(path, "utf-8")] == ["季度报告显示\ufffd\ufffd华东区的退货率"]


def test_late_non_ascii_text(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"plain words\n" * 20_000 + "Grüße aus Köln".encode("cp1252"))
    assert read_text(path).endswith("Grüße aus Köln")


@pytest.mark.parametrize("content", [_NOISE, b"\xff\xfe" + _NOISE, bytes(4000)])
def test_noise_is_not_text(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "noise"
    path.write_bytes(content)
    assert encoding_of(path) is None


def test_parts_of_an_endless_line_share_its_number(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"first\r\n" + b"word " * 60_000 + b"\nlast")
    lines = list(text_lines(path, "utf-8"))
    assert "".join(line.text for line in lines if line.number == 2) == "word " * 60_000
    assert max(len(line.text) for line in lines) <= 300_000
    assert (lines[0].text, lines[-1].number, lines[-1].text) == ("first", 3, "last")


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=20), min_size=1))
def test_line_numbers_match_editors(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes("\r\n".join([*texts, "end"]).encode())
    assert [(line.number, line.text) for line in text_lines(path, "utf-8")] == list(
        enumerate([*texts, "end"], 1)
    )


@pytest.mark.parametrize("text", ["Größe 5", "Müller", "Café", "São Paulo", "Ångström", "über"])
def test_short_latin_text_with_an_umlaut(tmp_path: Path, text: str) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(text.encode("cp1252"))
    assert path.read_text(encoding_of(path)) == text


@pytest.mark.parametrize("encoding", ["cp1251", "cp866"])
@pytest.mark.parametrize("text", ["Привет мир", "error: файл не найден в папке", "Отчёт;Сумма\nАренда;1200"])
def test_short_russian_text(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes(text.encode(encoding))
    assert path.read_text(encoding_of(path)) == text
