"""They name what is asked for, or people use them where files use others."""

from __future__ import annotations

import re
from typing import Final

_BY_LANGUAGE: Final = {
    "en": "allowed amount another answer anyone appelle ask asked became become began begin begins believe believed "
    "belong belongs best big call called came certain come comes considered contain contains cost costs currently "
    "day days describe described different do doing done end ended ends example examples exist exists find first "
    "found get gets give given gives go goes going good got happen happened happens have having height help include "
    "included includes information keep keeps kept kind known large last length llama long made main make makes "
    "many mean means much name named need needed needs new now number old part people people's person place provide "
    "provides question reason reasons refer referred refers require required said say says size small someone sort "
    "start started starts take taken takes term thing things think thought time today took total type use used uses "
    "using value way ways word words work worked works year years",
    "de": "alt alte anfang antwort anzahl art bedeutet begann beginnen beginnt beispiel bekam bekomme bekommen bekommt "
    "benutzt beruf besitzt beste betrag bezahlt brauche brauchen braucht darf datum dauer dauert dauerte denkt "
    "derzeit dinge dürfen ende endet endete erhalten erhielt erhält erreichen erreicht erste ersten erster erstes "
    "findet frage fragen früh führt führte gab galt gehalten gehe gehen geht gehört gemacht genannt genommen gesagt "
    "geschah geschieht gibt gilt ging groß große grund größe gut haben halten hat hatte hatten heißen heißt helfen "
    "heute hieß hilfe hilft hoch hohe hält höhe innerhalb insgesamt ist jahr jahre jemand jetzt kam klein kommen "
    "kommt kosten kostet kostete lag land lang lange letzte letztem letzten letzter letztes leute liegt länge "
    "machen macht machte material mensch menschen muss name namen nehmen nennt neu neue nimmt nummer nutzen nutzt "
    "nutzte ort passen passieren passiert passierte passt person personen sache sagt sagte schwer spät stadt stand "
    "statt steht tag tage teuer verantwortlich verwendet viele welchem welchen wem wert weshalb wieder wieso "
    "wodurch wofür woher wohin woran worauf worin zahl zahle zahlen zahlt zeit zuständig",
    "es": "ahora alguien altura cantidad comenzó considera contiene cosa cosas costó cree cuesta da dar debe deben dice "
    "dijo dio día días ejemplo empezó encontró encuentra existe existen forma fue gente grande hace hacer hecho "
    "hizo hoy incluye ir llama llamaba llamada llamado llamó lugar manera mejor nombre nombres nueva nuevo número "
    "ocurre ocurrió palabra parte pequeño persona personas primer primera primero razón significa sirve sucede "
    "sucedió tamaño tenía terminó tiempo tiene tienen tipo tipos total tuvo término usa usan usó utiliza utilizó va "
    "valor viejo última último",
    "romance": "agora appelle chama chiama chose coisa cosa costa coûte custa dernier dia gens gente giorno grand grande heißt "
    "hoje jour lieu lugar luogo manière modo nom nome nouveau novo numero nuovo número pequeno persone personne "
    "personnes pessoa pessoas petit premier primeiro primo raison tempo temps ultimo",
}
LIGHT_CHINESE: Final = re.compile(
    r"自从|以来|一直|成为|变成|作为|担任|进行|产生|发生|通过|对于|关于|根据|按照|除了|之外|以外|其中|其他|另外|首先|最先|最后|最终|最初|有?时候|当时|后来"
    r"|目前|现在|今天|认为|表示|称为|叫做|叫作|人们|别人|他们|她们|它们|自己|这[个位些座种里]?|那[个位些座种里]?|某[个位些种]?|每[个位年天种]?|[一两各][个位座种些家]"
    r"|很多|许多|几乎|何种|[样个位届座次种之而为从着很也就还又再曾已将或但且其他她它各让给把除说叫年]|拥有|具有|得到|获得|提供|存在|属于|包括|包含"
    r"|想要?|所有|任何|地方|名[字称]|数量|年份|原因|结果|方[式法]|情况|东西|行为|工作|没有?|不|对(?!象)"
)
LIGHT_WORDS: Final = frozenset(word for words in _BY_LANGUAGE.values() for word in words.split())

_BEFORE_NOUNS: Final = {
    "en": "the a an this that these those his her its their our my your each every some any no both of in at on for by with "
    "from to into about between under over during",
    "es": "el la los las un una unos unas del al de en con por para sobre entre sin según su sus mi tu nuestro nuestra este "
    "esta ese esa cada qué cuánta cuántos cuántas",
}
BEFORE_NOUNS: Final = {language: frozenset(words.split()) for language, words in _BEFORE_NOUNS.items()}
"""Articles, prepositions and the like."""
