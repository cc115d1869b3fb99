"""The sentences in German."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Ich sehe nach …",
    "queued": "Wartet auf die Antwort davor …",
    "busy": "Gerade sind es viele Fragen: diese ist als Nächste dran …",
    "queue_full": "Hier warten schon {count} Fragen. Fragen Sie noch einmal, wenn sie beantwortet sind.",
    "help": "Stellen Sie eine Frage zu den Dateien hier, oder fügen Sie eine Datei hinzu und fragen Sie danach. Mehr sagt `/help`.",
    "stage_retrieve": "Suche …",
    "stage_answer": "Schreibe …",
    "stage_rerank": "Wähle die besten Stellen …",
    "no_files": "Hier gibt es noch keine Dateien, die alle Mitlesenden sehen dürfen. Fügen Sie hier eine Datei hinzu, oder bitten Sie eine Administratorin, mit `/kb bind` eine Wissensbasis auszuwählen.",
    "not_found_advice": "Versuchen Sie andere Wörter, oder fügen Sie eine Datei hinzu, in der es steht; `/kb show` zeigt, was da ist.",
    "general": "Aus allgemeinem Wissen: Das steht nicht in Ihren Dateien.",
    "stopped": "Angehalten.",
    "interrupted": "Ich wurde beim Antworten unterbrochen. Drücke „Neu erzeugen“ oder frage noch einmal.",
    "unexpected": "Etwas ist schiefgegangen (Kennung {id}). Fragen Sie noch einmal, und nennen Sie einem Administrator die Kennung, wenn es wieder geschieht.",
    "with_id": "{sentence} (Kennung {id})",
    "index_away": "Der Suchindex antwortet nicht; versuchen Sie es gleich noch einmal.",
    "embedder_away": "Das Einbettungsmodell antwortet nicht; versuchen Sie es gleich noch einmal.",
    "model_away": "Das Sprachmodell antwortet nicht; versuchen Sie es gleich noch einmal.",
    "rate_limited": "Ein Dienst bittet um Geduld; versuchen Sie es gleich noch einmal.",
    "storage_away": "Gerade kann nichts gespeichert werden; ein Administrator muss die Festplatte prüfen.",
    "filtered": "Das Sprachmodell beantwortet das nicht; fragen Sie es anders.",
    "too_long_for_model": "Die Frage ist mit ihren Textstellen zu lang für das Sprachmodell; stellen Sie eine kürzere.",
    "platform_away": "Ich konnte nicht erfahren, was ich über diesen Ort wissen muss; versuchen Sie es gleich noch einmal.",
    "cannot_post": "Ich kann dort nicht schreiben: Der Kanal ist vielleicht archiviert oder mir verschlossen. Bitten Sie einen Administrator, mich einzulassen.",
    "file_received": "{name}: erhalten",
    "file_reading": "{name}: wird gelesen …",
    "file_progress": "{name}: wird gelesen … bisher {count} Textstellen",
    "file_passage": "{name}: 1 Textstelle, durchsuchbar",
    "file_passages": "{name}: {count} Textstellen, durchsuchbar",
    "file_unchanged": "{name}: war schon da, durchsuchbar",
    "file_waiting": "{name} wartet: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "diese Art von Datei kann nicht gelesen werden; lesbar sind {kinds}.",
    "file_too_large": "sie hat {size} MB, und höchstens {most} MB werden gelesen; teilen Sie sie in kleinere Dateien.",
    "file_empty": "die Datei ist leer.",
    "file_cut_short": "sie kam nicht vollständig an; senden Sie sie noch einmal.",
    "file_slow": "sie kam nicht rechtzeitig an; senden Sie sie noch einmal.",
    "file_login_page": "statt der Datei kam eine Anmeldeseite; bitten Sie einen Administrator, mir das Lesen von Dateien zu erlauben.",
    "file_lost": "sie konnte nicht geholt werden; senden Sie sie noch einmal.",
    "files_left": "{count} weitere Dateien dieser Unterhaltung wurden ausgelassen; fügen Sie sie mit einer eigenen Nachricht hinzu.",
    "promoted_gone": "Die Nachricht, mit der {name} kam, kann nicht mehr gelesen werden; fügen Sie die Datei mit `/kb add` hinzu.",
    "promoted_here": "{name} ist schon in der Wissensbasis des Kanals.",
    "promoted": "{name} ist jetzt in der Wissensbasis dieses Kanals und wird überall in ihm durchsucht.",
    "sources": "Quellen",
    "regenerate": "Neu beantworten",
    "stop": "Anhalten",
    "promote": "{name} in den Kanal übernehmen",
    "up": "Hilfreich",
    "down": "Nicht hilfreich",
    "thanks": "Danke, das ist notiert.",
    "too_old": "Dieser Knopf gehört zu einer Antwort, die nicht mehr aufbewahrt wird. Stellen Sie die Frage noch einmal.",
    "not_running": "Diese Antwort wird nicht mehr geschrieben, also gibt es nichts anzuhalten.",
    "still_running": "Diese Antwort wird noch geschrieben. Warten Sie ihr Ende ab, oder halten Sie sie erst an.",
    "no_sources": "Diese Antwort nennt keine Datei als Quelle.",
    "working": "In Arbeit …",
    "unknown_button": "Dieser Knopf tut nichts mehr. Stellen Sie die Frage noch einmal.",
}
