from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROMAN: Final = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_ONES: Final = (
    *(
        "Zero",
        "One",
        "Two",
        "Three",
        "Four",
        "Five",
        "Six",
        "Seven",
        "Eight",
        "Nine",
        "Ten",
        "Eleven",
        "Twelve",
    ),
    *("Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen"),
)
_TENS: Final = ("", "", "Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety")
_ORDINALS: Final = {
    "One": "First",
    "Two": "Second",
    "Three": "Third",
    "Five": "Fifth",
    "Eight": "Eighth",
    "Nine": "Ninth",
    "Twelve": "Twelfth",
}
_CHINESE: Final = "〇一二三四五六七八九"
_CYRILLIC: Final = "абвгдежзиклмнопрстуфхцчшщыэюя"
_KATAKANA: Final = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA: Final = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
)
_HANGUL: Final = "가나다라마바사아자차카타파하"
_CONSONANTS: Final = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_STEMS: Final = "甲乙丙丁戊己庚辛壬癸"


def numeral(number: int, style: str) -> str:
    """Unknown formats use digits."""
    write = _FORMATS.get(style)
    return write(number) if write is not None and 0 < number < 4_000 else str(number)


def _roman(number: int) -> str:
    text = ""
    for worth, letters in _ROMAN:
        text += letters * (number // worth)
        number %= worth
    return text


def _doubling(letters: str) -> Callable[[int], str]:
    return lambda number: letters[(number - 1) % len(letters)] * ((number - 1) // len(letters) + 1)


def _repeating(letters: str) -> Callable[[int], str]:
    return lambda number: letters[(number - 1) % len(letters)]


def _digits(digits: str) -> Callable[[int], str]:
    return lambda number: "".join(digits[int(digit)] for digit in str(number))


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _words(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_ONES[number % 10].lower()}" if number % 10 else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = f" {_words(number % size).lower()}" if number % size else ""
    return f"{_words(number // size)} {name}{rest}"


def _ordinal_words(number: int) -> str:
    words = _words(number)
    at = max(words.rfind(" "), words.rfind("-")) + 1
    last = words[at:].capitalize()
    ordinal = _ORDINALS.get(last) or (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")
    return words[:at] + (ordinal.lower() if at else ordinal)


def _chinese(number: int) -> str:
    text, was_zero = "", False
    for worth, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // worth % 10
        if digit:
            text += ("零" if was_zero and text else "") + _CHINESE[digit] + sign
        was_zero = not digit
    return text.removeprefix("一") if 10 <= number < 20 else text


def _circled(number: int) -> str:
    return chr(0x2460 + number - 1) if number <= 20 else f"({number})"


_FORMATS: Final[Mapping[str, Callable[[int], str]]] = {
    "upperRoman": _roman,
    "lowerRoman": lambda number: _roman(number).lower(),
    "upperLetter": _doubling("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "lowerLetter": _doubling("abcdefghijklmnopqrstuvwxyz"),
    "decimalZero": lambda number: f"{number:02}",
    "ordinal": _ordinal,
    "cardinalText": _words,
    "ordinalText": _ordinal_words,
    "hex": lambda number: f"{number:X}",
    "numberInDash": lambda number: f"- {number} -",
    **dict.fromkeys(("decimalEnclosedCircle", "decimalEnclosedCircleChinese"), _circled),
    "decimalEnclosedParen": lambda number: f"({number})",
    "decimalEnclosedFullstop": lambda number: f"{number}.",
    **dict.fromkeys(("decimalFullWidth", "decimalFullWidth2"), _digits("０１２３４５６７８９")),
    **dict.fromkeys(
        ("ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital"), _digits(_CHINESE)
    ),
    **dict.fromkeys(("chineseCounting", "chineseCountingThousand", "japaneseCounting"), _chinese),
    **dict.fromkeys(("taiwaneseCounting", "taiwaneseCountingThousand"), _chinese),
    "ideographTraditional": _repeating(_STEMS),
    "russianLower": _doubling(_CYRILLIC),
    "russianUpper": _doubling(_CYRILLIC.upper()),
    **dict.fromkeys(("aiueo", "aiueoFullWidth"), _repeating(_KATAKANA)),
    **dict.fromkeys(("iroha", "irohaFullWidth"), _repeating(_IROHA)),
    "ganada": _repeating(_HANGUL),
    "chosung": _repeating(_CONSONANTS),
}
