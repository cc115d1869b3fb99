from __future__ import annotations

import re
from typing import Final

_NAMES: Final = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari styczeń январь января январе янв 1月 1월 一月",
    "february feb februar février févr febrero febbraio fevereiro fev februari luty февраль февраля феврале фев 2月 2월 二月",
    "march mar märz mrz mär mars marzo março maart marzec март марта марте 3月 3월 三月",
    "april apr avril avr abril abr aprile kwiecień апрель апреля апреле апр 4月 4월 四月",
    "may mai mayo maggio mag maio mei maj май мая мае 5月 5월 五月",
    "june jun juni juin junio giugno giu junho czerwiec июнь июня июне 6月 6월 六月",
    "july jul juli juillet juil julio luglio lug julho lipiec июль июля июле 7月 7월 七月",
    "august aug août aout agosto ago agustus augustus sierpień август августа августе авг 8月 8월 八月",
    "september sep sept septembre septiembre settembre set setembro wrzesień сентябрь сентября сентябре сент сен 9月 9월 九月",
    "october oct oktober okt octobre octubre ottobre ott outubro out październik октябрь октября октябре окт 10月 10월 十月",
    "november nov novembre noviembre novembro listopad ноябрь ноября ноябре ноя 11月 11월 十一月",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudzień декабрь декабря декабре дек 12月 12월 十二月",
)
NUMBERS: Final = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_ASIAN: Final = re.compile(
    r"(?<![\d一二三四五六七八九十])(?:1[0-2]|[1-9]|十[一二]?|[一二三四五六七八九])月|(?<!\d)(?:1[0-2]|[1-9])월"
)
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_ISO: Final = re.compile(r"(?<!\d)(?:19|20)\d\d-(0[1-9]|1[0-2])(?!\d)")


def months(text: str) -> frozenset[int]:
    """ "may" counts only with a capital."""
    found = {int(number) for number in _ISO.findall(text)}
    found |= {NUMBERS[name] for name in _ASIAN.findall(text)}
    for word in _WORD.findall(text):
        number = NUMBERS.get(word.lower())
        if number is not None and (word.lower() not in _WORDS_TOO or word[0].isupper()):
            found.add(number)
    return frozenset(found)


_WORDS_TOO: Final = frozenset(
    {"may", "mar", "mai", "set", "out", "mag", "gen", "ago", "march", "jan", "mars"}
)

_SHOWN: Final = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "ru": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
}
_FORMS: Final = {
    "es": "{1} de {0}",
    "pt": "{1} de {0}",
    "zh": "{0}年{2}月",
    "ja": "{0}年{2}月",
    "ko": "{0}년 {2}월",
}


def month_of_year(year: int, month: int, language: str) -> str:
    """As in "January 2025"."""
    names = _SHOWN.get(language, _SHOWN["en"]).split()
    return _FORMS.get(language, "{1} {0}").format(year, names[month - 1], month)
