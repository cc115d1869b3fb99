"""The sentences in Spanish."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Mirando…",
    "queued": "Esperando la respuesta anterior…",
    "busy": "Hay muchas preguntas a la vez: la suya es la siguiente…",
    "queue_full": "Ya hay {count} preguntas esperando aquí. Pregunte de nuevo cuando estén respondidas.",
    "help": "Hágame una pregunta sobre los archivos de aquí, o añada un archivo y pregunte por él. `/help` explica más.",
    "stage_retrieve": "Buscando…",
    "stage_answer": "Escribiendo…",
    "stage_rerank": "Eligiendo los mejores pasajes…",
    "no_files": "Todavía no hay archivos que puedan ver todos los que leen esto. Ponga un archivo en esta conversación, o pida a un administrador que elija una base de conocimiento con `/kb bind`.",
    "not_found_advice": "Pruebe con otras palabras, o añada un archivo que lo diga; `/kb show` enumera lo que hay aquí.",
    "general": "De conocimiento general: esto no viene de sus archivos.",
    "stopped": "Detenido.",
    "interrupted": "Me interrumpieron mientras respondía. Usa el botón para generar otra respuesta o pregunta de nuevo.",
    "unexpected": "Algo ha fallado (id {id}). Pregunte de nuevo, y dé el id a un administrador si vuelve a ocurrir.",
    "with_id": "{sentence} (id {id})",
    "index_away": "El índice de búsqueda no responde; inténtelo de nuevo en un momento.",
    "embedder_away": "El modelo de vectores no responde; inténtelo de nuevo en un momento.",
    "model_away": "El modelo de lenguaje no responde; inténtelo de nuevo en un momento.",
    "rate_limited": "Un servicio pide ir más despacio; inténtelo de nuevo en un momento.",
    "storage_away": "Ahora no se puede guardar nada; un administrador debe revisar el disco.",
    "filtered": "El modelo de lenguaje no responde a esto; pregúntelo de otra manera.",
    "too_long_for_model": "La pregunta con sus pasajes es demasiado larga para el modelo de lenguaje; haga una más corta.",
    "platform_away": "No he podido averiguar lo que necesito saber de este lugar; inténtelo de nuevo en un momento.",
    "cannot_post": "No puedo escribir allí: puede que el canal esté archivado o cerrado para mí. Pida a un administrador que me deje entrar.",
    "file_received": "{name}: recibido",
    "file_reading": "{name}: leyendo…",
    "file_progress": "{name}: leyendo… {count} pasajes hasta ahora",
    "file_passage": "{name}: 1 pasaje, consultable",
    "file_passages": "{name}: {count} pasajes, consultables",
    "file_unchanged": "{name}: ya estaba aquí, consultable",
    "file_waiting": "{name} está en espera: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "este tipo de archivo no se puede leer; leo {kinds}.",
    "file_too_large": "tiene {size} MB y se leen como mucho {most} MB; divídalo en archivos más pequeños.",
    "file_empty": "el archivo está vacío.",
    "file_cut_short": "no llegó entero; envíelo de nuevo.",
    "file_slow": "no llegó a tiempo; envíelo de nuevo.",
    "file_login_page": "llegó una página de inicio de sesión en lugar del archivo; pida a un administrador que me permita leer archivos.",
    "file_lost": "no se pudo obtener; envíelo de nuevo.",
    "files_left": "Se dejaron fuera {count} archivos más de esta conversación; añádalos con un mensaje aparte.",
    "promoted_gone": "El mensaje que trajo {name} ya no se puede leer; añada el archivo con `/kb add`.",
    "promoted_here": "{name} ya está en la base de conocimiento del canal.",
    "promoted": "{name} está ahora en la base de conocimiento de este canal, y se consulta en todo él.",
    "sources": "Fuentes",
    "regenerate": "Responder de nuevo",
    "stop": "Detener",
    "promote": "Pasar {name} al canal",
    "up": "Útil",
    "down": "No es útil",
    "thanks": "Gracias, queda anotado.",
    "too_old": "Este botón pertenece a una respuesta que ya no se conserva. Haga la pregunta de nuevo.",
    "not_running": "Esta respuesta ya no se está escribiendo: no hay nada que detener.",
    "still_running": "Esta respuesta aún se está escribiendo. Espere a que termine, o deténgala primero.",
    "no_sources": "Esta respuesta no cita ningún archivo.",
    "working": "En ello…",
    "unknown_button": "Este botón ya no hace nada. Haga la pregunta de nuevo.",
}
