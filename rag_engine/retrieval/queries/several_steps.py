"""First questions for which a language model chooses how they are answered."""

from __future__ import annotations

import re
from typing import Final

from rag_engine.text.lazy_pattern import lazy

_ORDERS: Final = (
    *(
        "compare",
        "find",
        "list",
        "look up",
        "check",
        "calculate",
        "compute",
        "summari[sz]e",
        "tell me",
    ),
    *("say", "work out", "explain", "name", "add up", "recommend"),
    *("vergleiche?", "finde?", "suche?", "nenne?", "liste?", "prüfe?", "berechne?", "rechne?", "erkläre?"),
    *("sag(?:e|en)?(?: mir)?", "zeige?", "lies", "fasse?", "schlage?", "empfiehl"),
    *(
        "compara",
        "busca",
        "encuentra",
        "enumera",
        "lista",
        "calcula",
        "resume",
        "dime",
        "muestra",
        "comprueba",
    ),
    *("explica", "lee", "recomienda", "suma"),
    *(
        "comparez?",
        "trouvez?",
        "cherchez?",
        "listez?",
        "calculez?",
        "résumez?",
        "dis-moi",
        "dites-moi",
        "montrez?",
    ),
    *("confronta", "trova", "cerca", "elenca", "riassumi", "dimmi", "mostra", "verifica"),
    *("compare", "encontre", "procure", "liste", "calcule", "resuma", "diga", "mostre"),
    *("vergelijk", "vind", "zoek", "noem", "bereken", "vat", "vertel", "toon"),
)
_THEN: Final = (
    *(r"(?:and |, |; )?(?:then|after that|afterwards|finally)", r"based on (?:that|this|the results?)"),
    *(r"(?:und |, )?(?:dann|danach|anschließend|daraufhin|zum schluss)",),
    *(r"(?:y |, )?(?:luego|después|a continuación|finalmente)",),
    *(
        r"(?:et |, )?(?:ensuite|puis|enfin)",
        r"(?:e |, )?(?:poi|infine|dopo)",
        r"(?:e |, )?(?:depois|em seguida)",
    ),
    *(r"(?:en |, )?(?:dan|daarna|vervolgens)",),
)
_EACH: Final = (
    *("for each", "for every", "für jede[nrs]?", "para cada", "pour chaque", "per ogni", "voor elke?"),
    *("zu jede[mr]", "de cada"),
)
_PATTERN: Final = lazy(
    lambda: re.compile(
        rf"(?<!\w)(?:{'|'.join(_THEN)}),?\s+(?:\w+\s+)?(?:{'|'.join(_ORDERS)})(?!\w)"
        rf"|(?<!\w)(?:{'|'.join(_ORDERS)})(?!\w)[^.?!\n]{{3,200}}(?<!\w)(?:{'|'.join(_THEN)})\s+(?:{'|'.join(_ORDERS)})(?!\w)"
        rf"|\A\W*(?:{'|'.join(_EACH)})(?!\w)[^.?!\n]{{2,80}}?[,:]?\s(?:{'|'.join(_ORDERS)})(?!\w)"
        rf"|\A\W*(?:{'|'.join(_ORDERS)})(?!\w)[^.?!\n]{{3,200}}\s(?:and|und|y|et|e|en)\s(?:{'|'.join(_ORDERS)})(?!\w)"
        r"|\A\W*(?:请|先|首先)?(?:比较|查找|找出|列出|计算|检查|总结|对比)[^。？！\n]{2,100}(?:然后|接着|最后|再)"
        r"(?:[^。？！\n]{0,8})(?:比较|查找|找出|列出|计算|检查|总结|告诉|说明|对比)"
        r"|\A\W*(?:对|针对|为)每(?:个|一个|位|份|家)[^。？！\n]{1,60}(?:查找|找出|列出|计算|检查|说明|告诉)",
        re.IGNORECASE,
    )
)
_LONGEST: Final = 2_000


def asks_for_several_steps(question: str) -> bool:
    """A wrong yes costs a call."""
    return bool(_PATTERN.search(question[:_LONGEST]))
