"""The sentences in Dutch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Ik kijk…",
    "queued": "Wacht op het antwoord hiervoor…",
    "busy": "Veel vragen tegelijk: de uwe is de volgende…",
    "queue_full": "Er wachten hier al {count} vragen. Vraag het opnieuw als ze beantwoord zijn.",
    "help": "Stel me een vraag over de bestanden hier, of voeg een bestand toe en vraag ernaar. `/help` vertelt meer.",
    "stage_retrieve": "Zoeken…",
    "stage_answer": "Schrijven…",
    "stage_rerank": "De beste passages kiezen…",
    "no_files": "Er zijn nog geen bestanden die iedereen die dit leest mag zien. Zet een bestand in dit gesprek, of vraag een beheerder met `/kb bind` een kennisbank te kiezen.",
    "not_found_advice": "Probeer andere woorden, of voeg een bestand toe waarin het staat; `/kb show` toont wat er is.",
    "general": "Uit algemene kennis: dit komt niet uit uw bestanden.",
    "stopped": "Gestopt.",
    "interrupted": "Ik werd onderbroken tijdens het antwoorden. Gebruik de knop om opnieuw te genereren of vraag het nog eens.",
    "unexpected": "Er ging iets mis (id {id}). Vraag het opnieuw, en geef een beheerder de id als het weer gebeurt.",
    "with_id": "{sentence} (id {id})",
    "index_away": "De zoekindex antwoordt niet; probeer het zo nog eens.",
    "embedder_away": "Het inbeddingsmodel antwoordt niet; probeer het zo nog eens.",
    "model_away": "Het taalmodel antwoordt niet; probeer het zo nog eens.",
    "rate_limited": "Een dienst vraagt om het rustiger aan te doen; probeer het zo nog eens.",
    "storage_away": "Er kan nu niets worden opgeslagen; een beheerder moet de schijf nakijken.",
    "filtered": "Het taalmodel beantwoordt dit niet; vraag het anders.",
    "too_long_for_model": "De vraag met haar passages is te lang voor het taalmodel; stel een kortere.",
    "platform_away": "Ik kon niet te weten komen wat ik van deze plek moet weten; probeer het zo nog eens.",
    "cannot_post": "Ik kan daar niet schrijven: het kanaal is misschien gearchiveerd of voor mij gesloten. Vraag een beheerder om mij toe te laten.",
    "file_received": "{name}: ontvangen",
    "file_reading": "{name}: lezen…",
    "file_progress": "{name}: lezen… tot nu toe {count} passages",
    "file_passage": "{name}: 1 passage, doorzoekbaar",
    "file_passages": "{name}: {count} passages, doorzoekbaar",
    "file_unchanged": "{name}: was er al, doorzoekbaar",
    "file_waiting": "{name} wacht: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "dit soort bestand kan niet worden gelezen; ik lees {kinds}.",
    "file_too_large": "het heeft {size} MB en er worden hoogstens {most} MB gelezen; splits het in kleinere bestanden.",
    "file_empty": "het bestand is leeg.",
    "file_cut_short": "het kwam niet heel aan; stuur het opnieuw.",
    "file_slow": "het kwam niet op tijd aan; stuur het opnieuw.",
    "file_login_page": "er kwam een inlogpagina in plaats van het bestand; vraag een beheerder mij bestanden te laten lezen.",
    "file_lost": "het kon niet worden opgehaald; stuur het opnieuw.",
    "files_left": "Nog {count} bestanden van dit gesprek zijn weggelaten; voeg ze toe met een eigen bericht.",
    "promoted_gone": "Het bericht dat {name} bracht is niet meer te lezen; voeg het bestand toe met `/kb add`.",
    "promoted_here": "{name} staat al in de kennisbank van het kanaal.",
    "promoted": "{name} staat nu in de kennisbank van dit kanaal, en wordt overal daarin doorzocht.",
    "sources": "Bronnen",
    "regenerate": "Opnieuw beantwoorden",
    "stop": "Stoppen",
    "promote": "{name} naar het kanaal",
    "up": "Nuttig",
    "down": "Niet nuttig",
    "thanks": "Dank u, dat is genoteerd.",
    "too_old": "Deze knop hoort bij een antwoord dat niet meer wordt bewaard. Stel de vraag opnieuw.",
    "not_running": "Dit antwoord wordt niet meer geschreven, dus er valt niets te stoppen.",
    "still_running": "Dit antwoord wordt nog geschreven. Wacht het einde af, of stop het eerst.",
    "no_sources": "Dit antwoord noemt geen bestand als bron.",
    "working": "Bezig…",
    "unknown_button": "Deze knop doet niets meer. Stel de vraag opnieuw.",
}
