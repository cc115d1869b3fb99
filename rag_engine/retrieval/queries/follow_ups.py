from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from rag_engine.text import tokens
from rag_engine.text.language import detect, possible
from rag_engine.text.language.stop_words import FUNCTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPENINGS = MappingProxyType(
    {
        "en": "and|but|or|so|also|then|what about|how about|really|what else|anything else|which one|who else",
        "de": "und|aber|oder|also|auch|dann|was ist mit|wie ist es mit|wie sieht es|was noch|sonst noch|und was",
        "fr": "et|mais|ou|aussi|alors|quoi d'autre|qu'en est-il",
        "es": "y|pero|o|también|entonces|qué más|qué hay de|qué tal",
        "it": "e|ma|o|anche|allora|che altro|che ne dici",
        "pt": "e|mas|ou|também|então|que mais|que tal",
        "nl": "en|maar|of|ook|dan|hoe zit het|wat nog",
        "ru": "а|и|но|или|тоже|также|что ещё|что насчёт",
        "zh": "那么|那|还有|然后|而|另外|如果是",
        "ja": "では|じゃあ|それで|それでは|そして|また|ほかに|他に",
        "ko": "그럼|그리고|그런데|그러면|또",
    }
)
_REFERENCES = MappingProxyType(
    {
        "en": "it|its|they|them|their|theirs|he|him|his|she|her|hers|this|those|these|that one|the same|the former|the latter",
        "de": "ihn|ihm|dieser|dieses|diesen|diesem|dort|davon|dafür|daran|damit|dabei|dazu|darin|darüber",
        "fr": "elle|ils|elles|cela|ça|celui-ci|celle-ci|ceux-ci|leur|leurs",
        "es": "él|ella|ellos|ellas|eso|esto|allí|ese|esa",
        "it": "lui|loro|questo|questa|quello|ciò",
        "pt": "ele|ela|eles|elas|isso|isto|lá|dele|dela",
        "nl": "dit|deze|hij|zij|daar|hem|hun|ervan|ervoor",
        "ru": "он|она|оно|они|его|её|их|это|этот|эта|там",
        "zh": "它们?|他们|她们|这个|那个|这些|那些|该公司|此外呢",
        "ja": "それ|これ|あれ|その人|そこ",
        "ko": "그것|이것|그는|그녀|거기",
    }
)
_ANAPHORA = MappingProxyType(
    {
        "en": r"(?:does|do|did|is|was|are|of|to|with|for|after|before|about|by|from|than|like|can|could|will|would|should) that"
        r"|that\W*$|which (?:one|of (?:the|these|those|them))|of the (?:two|three|others?)|the other \w+\W*$"
        r"|the (?:first|second|third|last|other)(?: ones?| option)?(?:,? please)?\W*$|which (?:is|was|are) \w+er"
        r"|(?:the|any) others?|ones?\W*$|instead|otherwise|(?:give|show) me (?:an|another|some|more) examples?\W*$"
        r"|tell me more|more details?\W*$|(?:go on|continue|elaborate)\W*$|explain (?:more|further|why)"
        r"|in (?:simpler|other|plain|fewer) words|(?:make|keep|say) (?:it|that) \w+|shorter\W*$|^translate (?:in)?to \w+\W*$",
        "de": r"(?-i:das)(?!\s+(?:\w+e\s+)?(?-i:[A-ZÄÖÜ]))|(?<!gibt )(?<!geht )es|(?-i:sie)|daraus|danach|davor|dadurch|deswegen|deshalb"
        r"|stattdessen|hiervon|welche[rs]? (?:von|der) (?:beiden|denen)|(?:von|der|die) beiden|letztere\w?|erstere\w?"
        r"|(?:die|der|den) (?:erste|zweite|dritte|letzte|andere)[nrs]?(?: bitte)?\W*$|(?:ein|noch ein) beispiel\W*$"
        r"|(?:kürzer|genauer|einfacher|ausführlicher)(?: bitte)?\W*$|erzähl(?:e|en sie)? mehr|dasselbe|derselbe|dieselbe",
        "fr": r"celui|celle|ceux|celles|\w+-(?:le|la|les|en|y|moi)|lequel|laquelle|lesquels|lesquelles|des deux|les deux\W*$"
        r"|dans ce cas|(?:le|la) (?:premier|première|deuxième|second|seconde|dernier|dernière|même)\W*$|il (?!y a|faut)"
        r"|donne-moi|un (?:autre )?exemple\W*$|plus de détails\W*$|l['’]autre|après\W*$|aussi",
        "es": r"^\W*(?!\w*ul[oa]s?\b)\w*[áéíóú]\w*(?:lo|la|los|las)|\w{3,}(?:ar|er|ir)(?:me|te|se|nos)?(?:lo|la|los|las)"
        r"|(?:ponlo|ponla|ponlos|ponlas|dilo|hazlo|hazla)|lo(?!\s+(?:que|más|mejor|peor|mismo|siguiente))"
        r"|(?:cuál|cuáles) de (?:los|las|ellos|ellas)|(?:los|las) dos\W*$|el otro|la otra|ambos|ambas|también|mismo\W*$"
        r"|(?:el|la) (?:primero|primera|segundo|segunda|tercero|tercera|último|última)(?:,? por favor)?\W*$|un ejemplo\W*$"
        r"|más detalles\W*$|después\W*$|antes\W*$",
        "it": r"\w{3,}(?:ar|er|ir)(?:lo|la|li|le)|^\W*\w{4,}(?:ilo|alo|ila|ala|ili|ali|melo|mela)|quale d(?:ei|elle|i) \w+|(?:i|le) due\W*$"
        r"|entrambi|l['’]altr[oa]|quella|quelli|quelle|lo (?!stesso|stato)\w+\W*$|anche|(?:il|la) (?:primo|prima|secondo|seconda)\W*$"
        r"|un esempio\W*$|dopo\W*$",
        "pt": r"\w{3,}-(?:lo|la|los|las|o|a|os|as|me)|disso|nisso|disto|desse|dessa|aquilo|(?:qual|quais) d(?:os|as|eles|elas)"
        r"|(?:os|as) dois\W*$|o outro|a outra|ambos|ambas|também|(?:o|a) (?:primeiro|primeira|segundo|segunda)(?:,? por favor)?\W*$"
        r"|um exemplo\W*$|depois\W*$",
        "nl": r"dat\W*$|(?:duurt|kost|is|geldt|kan|werkt|betekent|doet|gebeurt) (?:dat|het)\b(?=\W*$|\s+(?:ook|nog|voor|dan))"
        r"|het (?:naar|in|met|ook|aan|op|eens)|van de twee|de andere|daarna|daarvan|daarvoor|daarmee|daarover|eruit|hiervan"
        r"|(?:de|het) (?:eerste|tweede|derde|laatste)\W*$|een voorbeeld\W*$",
        "zh": "这|那|它|其中|之后|之前|以前|后来|上面|前者|后者|第[一二三四]个|另一个|^\\W*[和跟与]|翻译成|简单说|简单点|详细|举个?例|举个例子"
        "|说一下|解释一下|总结一下|比较一下|列出来|做成",
        "ja": "その|この|それ|これ|どちらが|どっち|両方|前者|後者|もっと|例を|翻訳して|表にして|要約して|詳しく|短く|比較して|ほかの",
    }
)
_PREPOSITIONS = MappingProxyType(
    {
        "en": "for|in|with|without|at|on|from|to|by|since|until|if|even",
        "de": "für|in|im|mit|ohne|bei|beim|am|auf|von|seit|bis|wenn|ab",
        "fr": "pour|en|à|au|avec|sans|chez|dans|depuis|si",
        "es": "para|en|con|sin|de|desde|hasta|si",
        "it": "per|in|con|senza|da|di|se",
        "pt": "para|em|no|na|com|sem|de|desde|se",
        "nl": "voor|in|met|zonder|bij|op|van|als",
        "ru": "для|в|на|с|без|у|от|если",
    }
)
_UNSPACED = frozenset({"zh", "ja", "th"})
_NOUNS_CAPITALISED = frozenset({"de", "ja", "zh", "ko"})
_FEW_WORDS = 5
_FEW_CONTENT_WORDS = 2
_SHORT_QUESTION = 10
_SHORT_NAMED_QUESTION = 8
_LOOKED_AT = 200
"""Characters: all patterns take time in proportion to them."""
_FEW_CHARACTERS = 4
_MANY_CONTENT_WORDS = 6
_MANY_CHARACTERS = 16
_EARLIER_TOKENS = 300
_QUOTED = re.compile(r"[\"“„«「『].{1,200}?[\"”“»」』]")


def leans_on_conversation(question: str) -> bool:
    language = detect(question)
    if is_fragment(question):
        return True
    longest = 16 if language in _UNSPACED else 80
    words = question.split()
    if len(words) > _SHORT_QUESTION or len(question) > longest:
        return False
    if _found(_ANAPHORA, language, question, anywhere=True):
        return True
    named = any(word[0].isupper() for word in words[1:]) and language not in _NOUNS_CAPITALISED
    if named and len(words) > _SHORT_NAMED_QUESTION:
        return False
    return _found(_REFERENCES, language, question, anywhere=True)


def continues(question: str) -> bool:
    """By a word that opens a follow-up, points back or leaves the rest to it."""
    language = detect(question)
    if any(_found(table, language, question, anywhere=False) for table in (_OPENINGS, _PREPOSITIONS)):
        return True
    return any(_found(table, language, question, anywhere=True) for table in (_ANAPHORA, _REFERENCES))


def is_self_contained(question: str) -> bool:
    if leans_on_conversation(question):
        return False
    language = detect(question)
    if any(_found(table, language, question, anywhere=True) for table in (_ANAPHORA, _REFERENCES)):
        return False
    words = re.findall(r"\w+", question)
    if language in _UNSPACED:
        return len("".join(words)) >= _MANY_CHARACTERS
    known = _function_words(language)
    return len([word for word in words if word.lower() not in known]) >= _MANY_CONTENT_WORDS


def completed(question: str, earlier: Sequence[str]) -> str:
    """After the earlier ones that it needs, back to the last complete one."""
    needed: list[str] = []
    for text in reversed(earlier):
        needed.insert(0, text)
        if not leans_on_conversation(text):
            break
    before = tokens.cut(" ".join(needed), _EARLIER_TOKENS, count=tokens.estimate).strip()
    return f"{before} {question}"


def is_fragment(question: str) -> bool:
    language = detect(question)
    if _found(_OPENINGS, language, question, anywhere=False):
        return True
    words = re.findall(r"\w+", question)
    if language in _UNSPACED:
        return len("".join(words)) <= _FEW_CHARACTERS
    if len(words) > _FEW_WORDS:
        return False
    known = _function_words(language)
    content = [word for word in words if word.lower() not in known]
    if _found(_PREPOSITIONS, language, question, anywhere=False):
        return len(content) <= _FEW_CONTENT_WORDS
    return len(content) <= 1 and not (len(words) > 2 and content and content[0][0].isupper())


@cache
def _function_words(language: str) -> frozenset[str]:
    listed = [FUNCTION_WORDS.get(language, "")] if language else list(FUNCTION_WORDS.values())
    return frozenset(" ".join(listed).split())


def _found(table: MappingProxyType[str, str], language: str, question: str, *, anywhere: bool) -> bool:
    # A fragment may be too short to detect its language.
    likely = dict.fromkeys([language, *possible(question)]) if language else table
    words = "|".join(table[name] for name in likely if name in table)
    if not words:
        return False
    spaced = language not in {"zh", "ja", "ko"}
    pattern = rf"(?<!\w)(?:{words})(?!\w)" if spaced else rf"(?:{words})"
    text = _QUOTED.sub("", question[:_LOOKED_AT])
    where = re.compile(pattern if anywhere else rf"\W*{pattern}", re.IGNORECASE)
    return bool(where.search(text) if anywhere else where.match(text))
