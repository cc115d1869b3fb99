"""The sentences in French."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Je regarde…",
    "queued": "En attente de la réponse précédente…",
    "busy": "Beaucoup de questions en ce moment : la vôtre est la prochaine…",
    "queue_full": "{count} questions attendent déjà ici. Reposez la vôtre quand elles auront une réponse.",
    "help": "Posez-moi une question sur les fichiers d’ici, ou ajoutez un fichier et interrogez-moi à son sujet. `/help` en dit plus.",
    "stage_retrieve": "Recherche…",
    "stage_answer": "Rédaction…",
    "stage_rerank": "Choix des meilleurs passages…",
    "no_files": "Il n’y a pas encore de fichiers que tous les lecteurs d’ici ont le droit de voir. Ajoutez un fichier dans cette conversation, ou demandez à un administrateur de choisir une base de connaissances avec `/kb bind`.",
    "not_found_advice": "Essayez d’autres mots, ou ajoutez un fichier qui le dit ; `/kb show` liste ce qu’il y a ici.",
    "general": "D’après des connaissances générales : cela ne vient pas de vos fichiers.",
    "stopped": "Arrêté.",
    "interrupted": "J’ai été interrompu pendant ma réponse. Demandez une nouvelle réponse par le bouton, ou reposez la question.",
    "unexpected": "Une erreur s’est produite (identifiant {id}). Reposez la question, et donnez l’identifiant à un administrateur si elle se répète.",
    "with_id": "{sentence} (identifiant {id})",
    "index_away": "L’index de recherche ne répond pas ; réessayez dans un instant.",
    "embedder_away": "Le modèle de plongement ne répond pas ; réessayez dans un instant.",
    "model_away": "Le modèle de langue ne répond pas ; réessayez dans un instant.",
    "rate_limited": "Un service demande de ralentir ; réessayez dans un instant.",
    "storage_away": "Rien ne peut être enregistré pour le moment ; un administrateur doit vérifier le disque.",
    "filtered": "Le modèle de langue ne répond pas à cela ; posez la question autrement.",
    "too_long_for_model": "La question avec ses passages est trop longue pour le modèle de langue ; posez-en une plus courte.",
    "platform_away": "Je n’ai pas pu apprendre ce que je dois savoir de cet endroit ; réessayez dans un instant.",
    "cannot_post": "Je ne peux pas écrire là-bas : le canal est peut-être archivé ou m’est fermé. Demandez à un administrateur de m’y laisser entrer.",
    "file_received": "{name} : reçu",
    "file_reading": "{name} : lecture…",
    "file_progress": "{name} : lecture… {count} passages jusqu’ici",
    "file_passage": "{name} : 1 passage, interrogeable",
    "file_passages": "{name} : {count} passages, interrogeables",
    "file_unchanged": "{name} : déjà présent, interrogeable",
    "file_waiting": "{name} attend : {reason}",
    "file_failed": "{name} : {reason}",
    "file_unsupported": "ce type de fichier ne peut pas être lu ; je lis {kinds}.",
    "file_too_large": "il fait {size} Mo, et {most} Mo au plus sont lus ; partagez-le en fichiers plus petits.",
    "file_empty": "le fichier est vide.",
    "file_cut_short": "il n’est pas arrivé entier ; envoyez-le de nouveau.",
    "file_slow": "il n’est pas arrivé à temps ; envoyez-le de nouveau.",
    "file_login_page": "une page de connexion est arrivée à la place du fichier ; demandez à un administrateur de m’autoriser à lire les fichiers.",
    "file_lost": "il n’a pas pu être récupéré ; envoyez-le de nouveau.",
    "files_left": "{count} autres fichiers de cette conversation ont été laissés de côté ; ajoutez-les dans un message à part.",
    "promoted_gone": "Le message qui a apporté {name} n’est plus lisible ; ajoutez le fichier avec `/kb add`.",
    "promoted_here": "{name} est déjà dans la base de connaissances du canal.",
    "promoted": "{name} est maintenant dans la base de connaissances de ce canal, et consulté partout dans celui-ci.",
    "sources": "Sources",
    "regenerate": "Répondre à nouveau",
    "stop": "Arrêter",
    "promote": "Transférer {name} au canal",
    "up": "Utile",
    "down": "Pas utile",
    "thanks": "Merci, c’est noté.",
    "too_old": "Ce bouton appartient à une réponse qui n’est plus conservée. Reposez la question.",
    "not_running": "Cette réponse n’est plus en cours : il n’y a rien à arrêter.",
    "still_running": "Cette réponse est encore en cours. Attendez la fin, ou arrêtez-la d’abord.",
    "no_sources": "Cette réponse ne cite aucun fichier.",
    "working": "En cours…",
    "unknown_button": "Ce bouton ne fait plus rien. Reposez la question.",
}
