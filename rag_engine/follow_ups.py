"""Whether a question can be understood alone, told by its first words, its length and words that point back. Pure."""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType

from rag_engine.function_words import FUNCTION_WORDS
from rag_engine.language import detect

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
_FEW_CHARACTERS = 4
"""In writing without blanks, a question up to this long is taken for a fragment."""
_QUOTED = re.compile(r"[\"“„«「『].+?[\"”“»」』]")


def leans_on_conversation(question: str) -> bool:
    """Whether the question is likely to need what was said before it: a fragment, or one that points back."""
    language = detect(question)
    if is_fragment(question):
        return True
    # A longer question, or one with a name in it, mostly points back to its own words.
    named = any(word[0].isupper() for word in question.split()[1:]) and language not in _NOUNS_CAPITALISED
    longest = 16 if language in _UNSPACED else 80
    short = len(question.split()) <= _SHORT_QUESTION and len(question) <= longest
    return short and not named and _found(_REFERENCES, language, question, anywhere=True)


def is_fragment(question: str) -> bool:
    """Whether the question is hardly more than a word, or goes on from another one ("and in London?")."""
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
    # "What is Kubernetes?" names its subject; "How long?" does not.
    return len(content) <= 1 and not (len(words) > 2 and content and content[0][0].isupper())


@cache
def _function_words(language: str) -> frozenset[str]:
    """Of the language, or of all languages where none was told."""
    listed = [FUNCTION_WORDS.get(language, "")] if language else list(FUNCTION_WORDS.values())
    return frozenset(" ".join(listed).split())


def _found(table: MappingProxyType[str, str], language: str, question: str, *, anywhere: bool) -> bool:
    """Whether a word of the table stands in the question, or at its beginning; what is quoted does not count."""
    # A fragment is often too short to tell its language.
    words = table.get(language) if language else "|".join(table.values())
    if words is None:
        return False
    spaced = language not in {"zh", "ja", "ko"}
    pattern = rf"\b(?:{words})\b" if spaced else rf"(?:{words})"
    text = _QUOTED.sub("", question)
    where = re.compile(pattern if anywhere else rf"\W*{pattern}", re.IGNORECASE)
    return bool(where.search(text) if anywhere else where.match(text))
