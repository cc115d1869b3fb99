"""The sentences in Italian."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Sto guardando…",
    "queued": "In attesa della risposta precedente…",
    "busy": "Molte domande insieme: la tua è la prossima…",
    "queue_full": "Qui ci sono già {count} domande in attesa. Chiedi di nuovo quando avranno risposta.",
    "help": "Fammi una domanda sui file che ci sono qui, o aggiungi un file e chiedi di quello. `/help` dice di più.",
    "stage_retrieve": "Cerco…",
    "stage_answer": "Scrivo…",
    "stage_rerank": "Scelgo i passaggi migliori…",
    "no_files": "Non ci sono ancora file che tutti quelli che leggono qui possono vedere. Metti un file in questa conversazione, o chiedi a un amministratore di scegliere una base di conoscenza con `/kb bind`.",
    "not_found_advice": "Prova con altre parole, o aggiungi un file che lo dica; `/kb show` elenca quello che c’è qui.",
    "general": "Da conoscenze generali: questo non viene dai tuoi file.",
    "stopped": "Fermato.",
    "interrupted": "Sono stato interrotto mentre rispondevo. Usa il pulsante per rigenerare la risposta o chiedi di nuovo.",
    "unexpected": "Qualcosa è andato storto (id {id}). Chiedi di nuovo, e dai l’id a un amministratore se succede ancora.",
    "with_id": "{sentence} (id {id})",
    "index_away": "L’indice di ricerca non risponde; riprova tra un momento.",
    "embedder_away": "Il modello dei vettori non risponde; riprova tra un momento.",
    "model_away": "Il modello linguistico non risponde; riprova tra un momento.",
    "rate_limited": "Un servizio chiede di rallentare; riprova tra un momento.",
    "storage_away": "Ora non si può salvare nulla; un amministratore deve controllare il disco.",
    "filtered": "Il modello linguistico non risponde a questo; chiedilo in un altro modo.",
    "too_long_for_model": "La domanda con i suoi passaggi è troppo lunga per il modello linguistico; fanne una più breve.",
    "platform_away": "Non ho potuto sapere quello che mi serve di questo posto; riprova tra un momento.",
    "cannot_post": "Non posso scrivere lì: il canale può essere archiviato o chiuso per me. Chiedi a un amministratore di farmi entrare.",
    "file_received": "{name}: ricevuto",
    "file_reading": "{name}: lettura…",
    "file_progress": "{name}: lettura… {count} passaggi finora",
    "file_passage": "{name}: 1 passaggio, consultabile",
    "file_passages": "{name}: {count} passaggi, consultabili",
    "file_unchanged": "{name}: c’era già, consultabile",
    "file_waiting": "{name} è in attesa: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "questo tipo di file non si può leggere; leggo {kinds}.",
    "file_too_large": "ha {size} MB e se ne leggono al massimo {most}; dividilo in file più piccoli.",
    "file_empty": "il file è vuoto.",
    "file_cut_short": "non è arrivato intero; mandalo di nuovo.",
    "file_slow": "non è arrivato in tempo; mandalo di nuovo.",
    "file_login_page": "al posto del file è arrivata una pagina di accesso; chiedi a un amministratore di permettermi di leggere i file.",
    "file_lost": "non è stato possibile prenderlo; mandalo di nuovo.",
    "files_left": "Altri {count} file di questa conversazione sono rimasti fuori; aggiungili con un messaggio a parte.",
    "promoted_gone": "Il messaggio che ha portato {name} non si può più leggere; aggiungi il file con `/kb add`.",
    "promoted_here": "{name} è già nella base di conoscenza del canale.",
    "promoted": "{name} è ora nella base di conoscenza di questo canale, e viene consultato in tutto il canale.",
    "sources": "Fonti",
    "regenerate": "Rispondi di nuovo",
    "stop": "Ferma",
    "promote": "Sposta {name} nel canale",
    "up": "Utile",
    "down": "Non utile",
    "thanks": "Grazie, è annotato.",
    "too_old": "Questo pulsante appartiene a una risposta che non è più conservata. Fai di nuovo la domanda.",
    "not_running": "Questa risposta non è più in corso: non c’è nulla da fermare.",
    "still_running": "Questa risposta è ancora in corso. Aspetta la fine, o fermala prima.",
    "no_sources": "Questa risposta non cita alcun file.",
    "working": "Ci sto lavorando…",
    "unknown_button": "Questo pulsante non fa più nulla. Fai di nuovo la domanda.",
}
