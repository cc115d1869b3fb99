"""The sentences in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Looking…",
    "queued": "Waiting for the answer before this one…",
    "busy": "Many questions at once: yours is next in line…",
    "queue_full": "The queue here is full: {count} waiting. Ask again in a moment.",
    "help": "Ask me a question about the files here, or add a file and ask about it. `/help` says more.",
    "stage_retrieve": "Searching…",
    "stage_answer": "Writing…",
    "stage_rerank": "Choosing the best passages…",
    "no_files": "There are no files yet that everyone who reads this may see. Put a file into this conversation, or ask an administrator to choose a knowledge base for it with `/kb bind`.",
    "not_found_advice": "Try other words, or add a file that says it; `/kb show` lists what is here.",
    "general": "From general knowledge: this is not from your files.",
    "stopped": "Stopped.",
    "interrupted": "I was stopped while answering. Press Regenerate, or ask again.",
    "unexpected": "Something broke (id {id}). Ask again, and tell an administrator the id if it happens twice.",
    "with_id": "{sentence} (id {id})",
    "index_away": "The search index does not answer; try again in a moment.",
    "embedder_away": "The embedding model does not answer; try again in a moment.",
    "model_away": "The language model does not answer; try again in a moment.",
    "rate_limited": "A service asks us to slow down; try again in a moment.",
    "storage_away": "Nothing can be written right now; an administrator must check the disk.",
    "filtered": "The language model will not answer this; ask it in another way.",
    "too_long_for_model": "The question with its passages is too long for the language model; ask a shorter one.",
    "platform_away": "I could not find out what I need to know about this place; try again in a moment.",
    "cannot_post": "I cannot write there: the channel may be archived, or closed to me. Ask an administrator to let me in.",
    "file_received": "{name}: received",
    "file_reading": "{name}: reading…",
    "file_progress": "{name}: reading… {count} passages so far",
    "file_passage": "{name}: 1 passage, searchable",
    "file_passages": "{name}: {count} passages, searchable",
    "file_unchanged": "{name}: was here already, searchable",
    "file_waiting": "{name} is waiting: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "this kind of file cannot be read; I read {kinds}.",
    "file_too_large": "it has {size} MB, and at most {most} MB are read; split it into smaller files.",
    "file_empty": "the file is empty.",
    "file_cut_short": "it did not arrive whole; send it again.",
    "file_slow": "it did not arrive in time; send it again.",
    "file_login_page": "a sign-in page came instead of the file; ask an administrator to allow me to read files.",
    "file_lost": "it could not be fetched; send it again.",
    "files_left": "{count} more files of this conversation were left out; add them with a message of their own.",
    "promoted_gone": "The message that brought {name} can no longer be read; add the file with `/kb add`.",
    "promoted_here": "{name} is in the channel's knowledge base already.",
    "promoted": "{name} is in the knowledge base of this channel now, and searched in all of it.",
    "sources": "Sources",
    "regenerate": "Regenerate",
    "stop": "Stop",
    "promote": "Promote {name} to the channel",
    "up": "Helpful",
    "down": "Not helpful",
    "thanks": "Thank you, that is noted.",
    "too_old": "This button belongs to an answer that is no longer kept. Ask the question again.",
    "not_running": "This answer is no longer being written, so there is nothing to stop.",
    "still_running": "This answer is still being written. Wait for its end, or stop it first.",
    "no_sources": "This answer cites no file.",
    "working": "Working on it…",
    "unknown_button": "This button does nothing any more. Ask the question again.",
}
