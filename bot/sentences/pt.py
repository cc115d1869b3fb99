"""The sentences in Portuguese."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bot.sentences.names import Sentence

SENTENCES: Mapping[Sentence, str] = {
    "looking": "Procurando…",
    "queued": "Aguardando a resposta anterior…",
    "busy": "Muitas perguntas ao mesmo tempo: a sua é a próxima…",
    "queue_full": "Já há {count} perguntas esperando aqui. Pergunte de novo quando forem respondidas.",
    "help": "Faça-me uma pergunta sobre os arquivos daqui, ou adicione um arquivo e pergunte sobre ele. `/help` diz mais.",
    "stage_retrieve": "Buscando…",
    "stage_answer": "Escrevendo…",
    "stage_rerank": "Escolhendo os melhores trechos…",
    "no_files": "Ainda não há arquivos que todos os que leem isto possam ver. Coloque um arquivo nesta conversa, ou peça a um administrador que escolha uma base de conhecimento com `/kb bind`.",
    "not_found_advice": "Tente outras palavras, ou adicione um arquivo que o diga; `/kb show` lista o que há aqui.",
    "general": "De conhecimento geral: isto não vem dos seus arquivos.",
    "stopped": "Parado.",
    "interrupted": "Fui interrompido enquanto respondia. Use o botão para gerar de novo ou pergunte outra vez.",
    "unexpected": "Algo falhou (id {id}). Pergunte de novo, e informe o id a um administrador se acontecer outra vez.",
    "with_id": "{sentence} (id {id})",
    "index_away": "O índice de busca não responde; tente de novo daqui a pouco.",
    "embedder_away": "O modelo de vetores não responde; tente de novo daqui a pouco.",
    "model_away": "O modelo de linguagem não responde; tente de novo daqui a pouco.",
    "rate_limited": "Um serviço pede para ir mais devagar; tente de novo daqui a pouco.",
    "storage_away": "Nada pode ser gravado agora; um administrador precisa verificar o disco.",
    "filtered": "O modelo de linguagem não responde a isto; pergunte de outra maneira.",
    "too_long_for_model": "A pergunta com os seus trechos é longa demais para o modelo de linguagem; faça uma mais curta.",
    "platform_away": "Não consegui saber o que preciso sobre este lugar; tente de novo daqui a pouco.",
    "cannot_post": "Não posso escrever lá: o canal pode estar arquivado ou fechado para mim. Peça a um administrador que me deixe entrar.",
    "file_received": "{name}: recebido",
    "file_reading": "{name}: lendo…",
    "file_progress": "{name}: lendo… {count} trechos até agora",
    "file_passage": "{name}: 1 trecho, pesquisável",
    "file_passages": "{name}: {count} trechos, pesquisáveis",
    "file_unchanged": "{name}: já estava aqui, pesquisável",
    "file_waiting": "{name} está esperando: {reason}",
    "file_failed": "{name}: {reason}",
    "file_unsupported": "este tipo de arquivo não pode ser lido; eu leio {kinds}.",
    "file_too_large": "tem {size} MB e são lidos no máximo {most} MB; divida-o em arquivos menores.",
    "file_empty": "o arquivo está vazio.",
    "file_cut_short": "não chegou inteiro; envie-o de novo.",
    "file_slow": "não chegou a tempo; envie-o de novo.",
    "file_login_page": "veio uma página de login em vez do arquivo; peça a um administrador que me permita ler arquivos.",
    "file_lost": "não foi possível buscá-lo; envie-o de novo.",
    "files_left": "Mais {count} arquivos desta conversa ficaram de fora; adicione-os com uma mensagem própria.",
    "promoted_gone": "A mensagem que trouxe {name} não pode mais ser lida; adicione o arquivo com `/kb add`.",
    "promoted_here": "{name} já está na base de conhecimento do canal.",
    "promoted": "{name} está agora na base de conhecimento deste canal, e é consultado em todo ele.",
    "sources": "Fontes",
    "regenerate": "Responder de novo",
    "stop": "Parar",
    "promote": "Mover {name} para o canal",
    "up": "Útil",
    "down": "Não é útil",
    "thanks": "Obrigado, está anotado.",
    "too_old": "Este botão pertence a uma resposta que não é mais guardada. Faça a pergunta de novo.",
    "not_running": "Esta resposta não está mais sendo escrita: não há nada a parar.",
    "still_running": "Esta resposta ainda está sendo escrita. Espere o fim, ou pare-a primeiro.",
    "no_sources": "Esta resposta não cita nenhum arquivo.",
    "working": "Trabalhando nisso…",
    "unknown_button": "Este botão não faz mais nada. Faça a pergunta de novo.",
}
