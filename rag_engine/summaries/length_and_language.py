from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from rag_engine.text.lazy_pattern import lazy

Size: TypeAlias = Literal["", "short", "long"]

_NUMBERS = MappingProxyType(
    {
        word: number
        for number, words in enumerate(
            (
                "one a an ein eine einem einer einen eins un une uno una um uma een één один одну одним одном 一 いち 하나 한 واحد",
                "two zwei deux dos dois duas due twee два две двух 二 两 兩 두 اثنين",
                "three drei trois tres três tre drie три трёх трех 三 세 ثلاث ثلاثة",
                "four vier quatre cuatro quatro quattro четыре четырёх 四 네 أربع أربعة",
                "five fünf cinq cinco cinque vijf пять пяти 五 다섯 خمس خمسة",
                "six sechs six seis sei zes шесть шести 六 여섯 ست ستة",
                "seven sieben sept siete sete sette zeven семь семи 七 일곱 سبع سبعة",
                "eight acht huit ocho oito otto восемь восьми 八 여덟 ثمان ثمانية",
                "nine neun neuf nueve nove negen девять девяти 九 아홉 تسع تسعة",
                "ten zehn dix diez dez dieci tien десять десяти 十 열 عشر عشرة",
            ),
            1,
        )
        for word in words.split()
    }
)
_NUMBER = rf"(\d{{1,4}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
_ABOUT = (
    r"(?:\b(?:in|with|using|within|of|under|below|as|to|about|around|roughly|approximately|max(?:imum|imal)?\.?|at most|no more than|not more than|"
    r"up to|less than|fewer than|only|just|auf|mit|als|höchstens|maximal|etwa|rund|ca\.?|en|avec|dans|sous forme de|environ|maximum|au plus|moins de|con|"
    r"unos|unas|como|máximo|no más de|em|com|até|cerca de|no máximo|massimo|circa|al massimo|non più di|met|ongeveer|maximaal|hooguit|в|на|до|около|"
    r"не более(?: чем)?|в виде|بـ?|في|حوالي|لا يزيد عن)\s+(?:a |an |the )?)"
)
_CJK_ABOUT = r"(?:用|以|在|控制在|不超过|約|约|大约|最多|을|를)?\s*"
_AFTER = (
    r"(?:以内|以內|以下|程度|左右|ぐらい|くらい|内|內|之内|で|に|이내로?|정도로?|내외로?|으로|로|\s+(?:or (?:less|fewer)|max(?:imum)?|oder weniger|"
    r"maximum|máximo|massimo|или меньше))*"
)


def _counted(units: str, unspaced: str) -> re.Pattern[str]:
    source = (
        rf"(?:{_ABOUT}*\b{_NUMBER}[\s-]+(?:(?:short|kurze[nr]?|courte?s?|breves?|brevi|korte|key|main|wichtigste[nr]?)\s+)?(?:{units})\b"
        rf"|{_CJK_ABOUT}(?<![短长長细細詳]){_NUMBER}\s*(?:{unspaced}){_AFTER}){_AFTER}"
    )
    return lazy(lambda: re.compile(source, re.IGNORECASE))


_UNITS = (
    (
        r"words?|wörtern?|worten?|mots?|palabras?|palavras?|parole|parola|woorden|слов(?:ах|а|ами)?|كلمة|كلمات",
        r"个字|個字|字|文字|語|个词|단어|글자|자(?=\s|로|이|내|정|$)",
    ),
    (
        r"bullet[- ]?points?|bullets?|points?|(?:key |main )?takeaways?|items?|stichpunkten?|stichworten?|aufzählungspunkten?|punkten?|kernpunkten?|puces?|"
        r"points[- ]clés?|puntos?(?: clave)?|viñetas?|pontos?(?:[- ]chave)?|tópicos?|punti(?: chiave)?|punten|опорных пункт\w*|пункт(?:ах|ов|а|ы|ами)?|"
        r"тезис(?:ах|ов|а|ы|ами)?|نقاط|نقطة",
        r"个要点|個要點|点|點|个点|条|條|つのポイント|つの要点|個のポイント|点|項目|가지|개(?:의)?(?: 항목| 요점| 문장| 포인트)?",
    ),
    (
        r"sentences?|lines?|sätzen?|satz|zeilen?|phrases?|lignes?|frases?|oraciones|oración|líneas?|linhas?|frasi|frase|righe|zinnen|zin|regels?|"
        r"предложени(?:ях|я|й|е|ем|и)|строк(?:ах|и|е)?|جمل|جملة|أسطر",
        r"句话|句話|句|行|文(?!字|件|档|檔|章|書)|줄|문장",
    ),
    (
        r"paragraphs?|absätzen?|absatz|paragraphes?|párrafos?|parágrafos?|paragrafi|paragrafo|alinea(?:'s)?|абзац(?:ах|а|ы|ев|е)?|فقرات|فقرة",
        r"段落|段话|段話|段|단락",
    ),
)
_WORDS, _POINTS, _SENTENCES, _PARAGRAPHS = (_counted(*units) for units in _UNITS)
_UNIT = lazy(
    lambda: re.compile(
        rf"\b(?:{'|'.join(units for units, _ in _UNITS)})\b|{'|'.join(others for _, others in _UNITS)}",
        re.IGNORECASE,
    )
)
_BULLETS = lazy(
    lambda: re.compile(
        rf"{_ABOUT}(?:bullet[- ]?points?|bullets?|stichpunkten?|stichworten?|puces|viñetas|tópicos|punti elenco|opsommingstekens|пунктами|пунктам)\b"
        r"|\b(?:as|als|en|come) (?:a )?(?:bulleted |bullet )?(?:list|liste|lista|lijst)\b|\bbullet(?:ed)?[- ](?:point )?list\b|\bstichpunktartig\b|箇条書き(?:で|に)?|列点|"
        r"要点形式|글머리 ?기호로?",
        re.IGNORECASE,
    )
)
_SHORT = lazy(
    lambda: re.compile(
        r"\b(?:(?:much |even |a (?:bit|little) |make it |very )*(?:short(?:er|ly)?|brief(?:er|ly)?|concise(?:ly)?|less)|(?:in short|in brief|too long)|"
        r"(?:viel |noch |etwas |ganz |sehr )*(?:kürzer|kurz|knapper|knapp)|zu lang|(?:(?:beaucoup |encore |un peu )?plus |trop )?(?:court|courte|bref|brève|brièvement)|"
        r"(?:(?:mucho |un poco )?más |muy )?(?:corto|corta|breve|brevemente)|(?:(?:bem |um pouco )?mais |muito )?(?:curto|curta)|(?:(?:molto |un po' )?più |molto )?"
        r"(?:corto|brevemente)|(?:veel |nog |iets )*(?:korter|kort|beknopt)|(?:ещё |еще |намного )*(?:короче|покороче|кратко|коротко|вкратце))\b"
        r"|更?简短(?:一点|些|地)?|更?簡短|更?短一?[点些點]|再短一?[点些]|简单地?|(?:もっと|もう少し)?(?:短く|簡潔に)|더? ?(?:짧게|간단히|간략히)|أقصر|باختصار|بإيجاز",
        re.IGNORECASE,
    )
)
_LONG = lazy(
    lambda: re.compile(
        r"\b(?:(?:much |even |a (?:bit|little) |make it |more |very |in (?:more |greater )?)*(?:(?<!too )long(?:er)?|detail(?:ed|s)?|thorough(?:ly)?)|too short|"
        r"(?:viel |noch |etwas |sehr )*(?:länger|ausführlich(?:er|e|en)?|detailliert(?:er|e)?)|zu kurz|(?:plus )?(?:(?<!too )long|détaillée?|détails|en détail)|"
        r"(?:más )?(?:largo|detallado|detallada|detalles|en detalle)|(?:mais )?(?:longo|detalhado|detalhada|detalhes)|(?:più )?(?:lungo|dettagliat[oa]|dettagli)|"
        r"(?:veel |nog |iets )*(?:langer|uitgebreid(?:er|e)?|gedetailleerd(?:er|e)?)|(?:ещё |еще |намного )*(?:длиннее|подробн(?:о|ее)|поподробнее))\b"
        r"|更?详细(?:一点|些|地)?|更?詳細|更?长一?[点些]|再长一?[点些]|(?:もっと|もう少し)?(?:詳しく|長く)|더? ?(?:길게|자세히)|أطول|بالتفصيل",
        re.IGNORECASE,
    )
)
_AGAIN = lazy(
    lambda: re.compile(
        r"\b(?:again|once more|nochmal(?:s)?|noch einmal|encore(?: une fois)?|otra vez|de nuevo|de novo|outra vez|di nuovo|ancora una volta|opnieuw|nog een keer|"
        r"ещё раз|еще раз|снова)\b|再一?次|もう一度|다시|مرة أخرى",
        re.IGNORECASE,
    )
)

_IN = r"\b(?:in(?: het)?|into|to|auf|ins|en|em|al|au|на|по)[\s-]"
_NAMES = MappingProxyType(
    {
        "en": ("english|englisch|anglais|inglés|inglês|inglese|engels|английск\\w+", "英语|英文|英語|영어|(?:ال)?[إا]نجليزية"),
        "de": ("german|deutsch|allemand|alemán|alemão|tedesco|duits|немецк\\w+", "德语|德文|德語|ドイツ語|독일어|(?:ال)?[أا]لمانية"),
        "fr": ("french|französisch|français|francés|francês|francese|frans|французск\\w+", "法语|法文|法語|フランス語|프랑스어|(?:ال)?فرنسية"),
        "es": ("spanish|spanisch|espagnol|español|espanhol|spagnolo|spaans|испанск\\w+", "西班牙语|西班牙語|スペイン語|스페인어|(?:ال)?[إا]سبانية"),
        "pt": ("portuguese|portugiesisch|portugais|portugués|português|portoghese|portugees|португальск\\w+", "葡萄牙语|ポルトガル語|포르투갈어|(?:ال)?برتغالية"),
        "it": ("italian|italienisch|italien|italiano|italiaans|итальянск\\w+", "意大利语|イタリア語|이탈리아어|(?:ال)?[إا]يطالية"),
        "nl": ("dutch|niederländisch|holländisch|néerlandais|neerlandés|holandés|holandês|neerlandês|olandese|nederlands|нидерландск\\w+|голландск\\w+", "荷兰语|オランダ語|네덜란드어|(?:ال)?هولندية"),
        "ru": ("russian|russisch|russe|ruso|russo|русск\\w+", "俄语|俄文|俄語|ロシア語|러시아어|(?:ال)?روسية"),
        "zh": ("chinese|mandarin|chinesisch|chinois|chino|chinês|cinese|chinees|китайск\\w+", "中文|汉语|漢語|中国語|중국어|(?:ال)?صينية"),
        "ja": ("japanese|japanisch|japonais|japonés|japonês|giapponese|japans|японск\\w+", "日语|日文|日語|日本語|일본어|(?:ال)?يابانية"),
        "ko": ("korean|koreanisch|coréen|coreano|koreaans|корейск\\w+", "韩语|韩文|韓語|韓国語|한국어|(?:ال)?كورية"),
        "ar": ("arabic|arabisch|arabe|árabe|arabo|арабск\\w+", "阿拉伯语|アラビア語|아랍어|(?:ال)?عربية"),
        "pl": ("polish|polnisch|polonais|polaco|polacco|pools|польск\\w+|polsku", "波兰语|ポーランド語"),
        "uk": ("ukrainian|ukrainisch|ukrainien|ucraniano|ucraino|oekraïens|украинск\\w+|українськ\\w+", "乌克兰语|ウクライナ語"),
        "tr": ("turkish|türkisch|turc|turco|turks|турецк\\w+", "土耳其语|トルコ語"),
        "sv": ("swedish|schwedisch|suédois|sueco|svedese|zweeds|шведск\\w+|svenska", "瑞典语|スウェーデン語"),
        "da": ("danish|dänisch|danois|danés|danese|deens|датск\\w+|dansk", "丹麦语|デンマーク語"),
        "no": ("norwegian|norwegisch|norvégien|noruego|norvegese|noors|норвежск\\w+|norsk", "挪威语|ノルウェー語"),
        "fi": ("finnish|finnisch|finnois|finlandés|finlandese|fins|финск\\w+|suomeksi", "芬兰语|フィンランド語"),
        "cs": ("czech|tschechisch|tchèque|checo|ceco|tsjechisch|чешск\\w+|česky", "捷克语|チェコ語"),
        "hi": ("hindi|хинди", "印地语|ヒンディー語"),
        "vi": ("vietnamese|vietnamesisch|vietnamien|vietnamita|вьетнамск\\w+", "越南语|ベトナム語"),
    }
)  # fmt: skip


def _in_language(spaced: str, other: str) -> re.Pattern[str]:
    before, after = (
        ("(?:用|ب|ب?ال|باللغة ال)?", "(?:で|に|로)?") if other.endswith("ية") else ("用?", "(?:で|に|로|来)?")
    )
    source = (
        rf"{_IN}(?:simple |plain |einfachem |klarem )?(?:{spaced})(?:\s+языке)?\b|{before}(?:{other}){after}"
    )
    return lazy(lambda: re.compile(source, re.IGNORECASE))


_LANGUAGES = MappingProxyType({code: _in_language(*names) for code, names in _NAMES.items()})
_NAME = lazy(
    lambda: re.compile(
        rf"\b(?:{'|'.join(spaced for spaced, _ in _NAMES.values())})|{'|'.join(other for _, other in _NAMES.values())}",
        re.IGNORECASE,
    )
)
_FILE_NAME = lazy(
    lambda: re.compile(
        r"(?<![^\s,;:?!\"'()<>|])[^\s,;:?!\"'()<>|]*[^\W_]\.(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{1,5}\b"
    )
)
_HIDDEN = "\ue000"
_END = 500
_ALL_PATTERNS = (
    (_UNIT, (_WORDS, _SENTENCES, _PARAGRAPHS, _POINTS)),
    (None, (_BULLETS,)),
    (_NAME, tuple(_LANGUAGES.values())),
    (None, (_LONG, _SHORT, _AGAIN)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthAndLanguage:
    """0 and empty mean unspecified."""

    words: int = 0
    points: int = 0
    sentences: int = 0
    paragraphs: int = 0
    bullets: bool = False
    size: Size = ""
    language: str = ""
    again: bool = False

    def __bool__(self) -> bool:
        return self != LengthAndLanguage()

    @property
    def is_counted(self) -> bool:
        return bool(self.words or self.points or self.sentences or self.paragraphs)

    def scaled(self, by: float) -> LengthAndLanguage:

        def times(number: int) -> int:
            return max(1, round(number * by)) if number else 0

        return replace(
            self,
            words=times(self.words),
            points=times(self.points),
            sentences=times(self.sentences),
            paragraphs=times(self.paragraphs),
        )

    def changed_by(self, later: LengthAndLanguage) -> LengthAndLanguage:
        says_length = later.is_counted or bool(later.size)
        length = later if says_length else self
        if self.is_counted and later.size and not later.is_counted:
            length = self.scaled(0.5 if later.size == "short" else 2)
        return LengthAndLanguage(
            words=length.words,
            points=length.points,
            sentences=length.sentences,
            paragraphs=length.paragraphs,
            bullets=later.bullets or (self.bullets and not says_length),
            size=later.size or length.size,
            language=later.language or self.language,
        )


def names_language(word: str) -> bool:
    return _NAME.match(word) is not None


def requested_style(text: str) -> LengthAndLanguage:
    """Without file names ("long.md") and the middle of a long text."""
    if len(text := " ".join(text.split())) > 2 * _END:
        text = f"{text[:_END]} {text[-_END:]}"
    text = _FILE_NAME.sub(" ", text)
    counted = _UNIT.search(text) is not None
    languages = _LANGUAGES.items() if _NAME.search(text) else ()
    return LengthAndLanguage(
        words=_value(_WORDS, text) if counted else 0,
        points=_value(_POINTS, text) if counted else 0,
        sentences=_value(_SENTENCES, text) if counted else 0,
        paragraphs=_value(_PARAGRAPHS, text) if counted else 0,
        bullets=_BULLETS.search(text) is not None,
        size="long" if _LONG.search(text) else "short" if _SHORT.search(text) else "",
        language=next((code for code, pattern in languages if pattern.search(text)), ""),
        again=_AGAIN.search(text) is not None,
    )


def without_style(text: str) -> str:
    if len(text := " ".join(text.split())) > 2 * _END:
        return f"{without_style(text[:_END])}{text[_END:-_END]}{without_style(text[-_END:])}"
    names = _FILE_NAME.findall(text)
    text = _FILE_NAME.sub(_HIDDEN, text)
    for needed, patterns in _ALL_PATTERNS:
        if needed is None or needed.search(text):
            for pattern in patterns:
                text = pattern.sub(" ", text)
    for name in names:
        text = text.replace(_HIDDEN, name, 1)
    return " ".join(text.split())


def _value(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    if match is None:
        return 0
    said = next(group for group in match.groups() if group)
    return int(said) if said.isdigit() else _NUMBERS[said.casefold()]
