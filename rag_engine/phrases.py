"""The few sentences the engine says by itself, in the language of the question. English where a language is missing."""

from __future__ import annotations

from typing import Literal

Phrase = Literal["extracted", "not_found", "closest", "your_files", "question_cut"]

_ENGLISH: dict[Phrase, str] = {
    "extracted": "No language model wrote this: the sentences that fit best, word for word from the files.",
    "not_found": "I did not find this in {scope}.",
    "closest": "Closest documents: {titles}.",
    "your_files": "your files",
    "question_cut": "The question is too long for the language model: its middle was left out.",
}

PHRASES: dict[str, dict[Phrase, str]] = {
    "en": _ENGLISH,
    "de": {
        "extracted": "Ohne Sprachmodell: die passendsten Sätze, wörtlich aus den Dateien.",
        "not_found": "Das habe ich nicht gefunden in: {scope}.",
        "closest": "Am nächsten kommen: {titles}.",
        "your_files": "Ihre Dateien",
        "question_cut": "Die Frage ist zu lang für das Sprachmodell: Ihre Mitte wurde ausgelassen.",
    },
    "fr": {
        "extracted": "Sans modèle de langue : les phrases les plus proches, mot pour mot, tirées des fichiers.",
        "not_found": "Je n’ai pas trouvé cela dans : {scope}.",
        "closest": "Documents les plus proches : {titles}.",
        "your_files": "vos fichiers",
        "question_cut": "La question est trop longue pour le modèle de langue : son milieu a été omis.",
    },
    "es": {
        "extracted": "Sin modelo de lenguaje: las frases que mejor encajan, tomadas palabra por palabra de los archivos.",
        "not_found": "No he encontrado esto en: {scope}.",
        "closest": "Documentos más cercanos: {titles}.",
        "your_files": "sus archivos",
        "question_cut": "La pregunta es demasiado larga para el modelo de lenguaje: se omitió la parte central.",
    },
    "it": {
        "extracted": "Senza modello linguistico: le frasi più adatte, parola per parola dai file.",
        "not_found": "Non ho trovato questo in: {scope}.",
        "closest": "Documenti più vicini: {titles}.",
        "your_files": "i tuoi file",
        "question_cut": "La domanda è troppo lunga per il modello linguistico: la parte centrale è stata omessa.",
    },
    "pt": {
        "extracted": "Sem modelo de linguagem: as frases que melhor correspondem, palavra por palavra dos arquivos.",
        "not_found": "Não encontrei isto em: {scope}.",
        "closest": "Documentos mais próximos: {titles}.",
        "your_files": "seus arquivos",
        "question_cut": "A pergunta é longa demais para o modelo de linguagem: a parte central foi omitida.",
    },
    "nl": {
        "extracted": "Zonder taalmodel: de best passende zinnen, woord voor woord uit de bestanden.",
        "not_found": "Ik heb dit niet gevonden in: {scope}.",
        "closest": "Dichtstbijzijnde documenten: {titles}.",
        "your_files": "uw bestanden",
        "question_cut": "De vraag is te lang voor het taalmodel: het midden is weggelaten.",
    },
    "ru": {
        "extracted": "Без языковой модели: наиболее подходящие предложения, дословно из файлов.",
        "not_found": "Я не нашёл этого здесь: {scope}.",
        "closest": "Ближайшие документы: {titles}.",
        "your_files": "ваши файлы",
        "question_cut": "Вопрос слишком длинный для языковой модели: его середина опущена.",
    },
    "zh": {
        "extracted": "未使用语言模型：以下是文件中最相关的原句。",
        "not_found": "在{scope}中没有找到相关内容。",
        "closest": "最接近的文件：{titles}。",
        "your_files": "您的文件",
        "question_cut": "问题对语言模型来说太长，中间部分已省略。",
    },
    "ja": {
        "extracted": "言語モデルは使っていません。ファイルから最も合う文をそのまま引用します。",
        "not_found": "{scope}には見つかりませんでした。",
        "closest": "最も近い文書：{titles}。",
        "your_files": "お使いのファイル",
        "question_cut": "質問が言語モデルには長すぎるため、中ほどを省きました。",
    },
    "ko": {
        "extracted": "언어 모델 없이 작성됨: 파일에서 가장 알맞은 문장을 그대로 인용합니다.",
        "not_found": "{scope}에서 찾지 못했습니다.",
        "closest": "가장 가까운 문서: {titles}.",
        "your_files": "파일",
        "question_cut": "질문이 언어 모델에 비해 너무 길어 가운데 부분을 생략했습니다.",
    },
}


def phrase(name: Phrase, *, language: str, **values: str) -> str:
    """The sentence in `language` (ISO 639-1), its places filled with `values`, in which braces mean nothing."""
    sentence = PHRASES.get(language, _ENGLISH)[name]
    for place, value in values.items():
        before, found, after = sentence.partition("{" + place + "}")
        sentence = before + (value if found else "") + after
    return sentence


def not_found(*, language: str, scope: str = "", titles: tuple[str, ...] = ()) -> str:
    """That nothing was found in `scope`, and the names of the documents that came closest, if any."""
    said = phrase("not_found", language=language, scope=scope or phrase("your_files", language=language))
    if not titles:
        return said
    return f"{said} {phrase('closest', language=language, titles=', '.join(titles))}"
