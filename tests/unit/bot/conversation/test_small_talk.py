"""Greetings, thanks, calls for help, and words that only present files, in every offered language."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from bot.conversation.newcomers import small_talk as module
from bot.conversation.newcomers.small_talk import is_courtesy, only_presents, small_talk
from bot.messages import LANGUAGES

HELP = """
help | Help! | ? | ??? | can you help me? | hi, what can you do? | Hallo, was kannst du? | Hilfe | ¿Qué puedes hacer? | ayuda
aide-moi | que peux-tu faire ? | aiuto | cosa sai fare? | ajuda | o que você pode fazer? | hulp | wat kun je? | ヘルプ | 使い方は？
何ができますか？ | 帮助 | 你能做什么？ | 怎么用？ | 도움말 | 무엇을 할 수 있나요? | 사용법 알려줘 | помощь | Что ты умеешь? | привет, помоги
"""
GREETINGS = """
hi | Hello there! | hey footnote | good morning | 👋 | :wave: | Hallo zusammen | Guten Morgen! | hola | buenos días a todos | bonjour
salut tout le monde | ciao a tutti | buongiorno | olá | bom dia | hoi allemaal | goedemorgen | こんにちは | おはようございます！ | 你好 | 大家好！
안녕하세요! | 안녕하세요 여러분 | Здравствуйте! | привет всем | Добрый день
good morning! how are you? | How are you doing today? | hi footnote, how's it going | Guten Morgen, wie geht's? | Wie geht es Ihnen?
¡Hola! ¿Qué tal? | buenos días, ¿cómo estás? | salut, ça va ? | ciao, come stai? | bom dia, tudo bem? | hoi, hoe gaat het?
こんにちは、お元気ですか？ | 早上好，你最近怎么样？ | 你好吗 | 안녕하세요, 잘 지내세요? | привет, как дела?
"""
THANKS = """
thanks | Thank you so much! | thx | great, thanks | ok | danke dir | vielen lieben Dank | super, danke! | muchas gracias | merci beaucoup à vous
grazie mille | obrigada | muito obrigado! | dank je wel | ありがとうございます。 | 谢谢你 | 非常感谢！
감사합니다! | 정말 고마워요 | 네, 알겠습니다 | спасибо | Большое спасибо! | понятно, спасибо
"""
QUESTIONS = """
How many days of leave? | help me find the invoice | what is this? | Where is it? | is this good? | Ist das gut? | hi, what does the handbook say
thanks to whom is it due? | hilfe bei der Steuererklärung | urlaub | 何日ですか | ¿cuántos días? | merci de résumer le contrat | morning shift
帮助文档在哪里 | who is this | how are you licensed? | how is it going with the audit? | good morning, how are expenses booked?
Wie geht es weiter mit dem Umbau? | ¿Cómo está el presupuesto? | как дела с отпуском? | 公司最近怎么样
휴가는 며칠인가요? | 도움말 파일은 어디에 있나요? | 휴가 | сколько дней отпуска? | помощь с налогами | спасибо за что?
"""
PRESENTING = """
and these? | some files for you | here you go | Here is report.pdf | report | hi, two more documents | fyi | please see attached | und diese?
hier die Unterlagen | noch ein paar Dateien für dich | Bitte schön! | voici les fichiers | et ceux-ci ? | ecco i documenti | e questi? | aquí tienes los archivos
¿y estos? | aqui estão os arquivos | e estes? | hier zijn de bestanden | en deze? | ファイルをどうぞ | こちらの資料です | 这些文件呢？ | 给你一些文件 | 谢谢，这是文件
여기 파일입니다 | 이 문서도 확인해 주세요 | 여기 자료를 보냅니다 | вот файлы | и эти? | ещё пара документов для вас
"""
ASKING = """
What is in these? | summarise these | which of these is cheaper? | what does this say | compare these with the old ones | Who is this?
zusammenfassen bitte | Was steht in diesen Dateien? | C'est quoi ? | que dice este archivo | cosa dice questo file | o que diz este arquivo
wat staat er in dit bestand | 何が書いてありますか | 这些文件说了什么？ | the fees
이 파일에 뭐라고 적혀 있나요? | 요약해 주세요 | что в этих файлах? | перескажи этот файл | о чём этот документ?
"""


def listed(lines: str) -> list[str]:
    return [each.strip() for line in lines.strip().splitlines() for each in line.split("|")]


@pytest.mark.parametrize(("kind", "lines"), [("help", HELP), ("greeting", GREETINGS), ("thanks", THANKS)])
def test_small_talk_is_recognised(kind: str, lines: str) -> None:
    found = {text: talk.kind if (talk := small_talk(text)) else None for text in listed(lines)}
    assert found == dict.fromkeys(found, kind)


@pytest.mark.parametrize("text", [*listed(QUESTIONS), "", " "])
def test_questions_are_no_small_talk(text: str) -> None:
    assert small_talk(text) is None


@pytest.mark.parametrize("text", [*listed(PRESENTING), "", "report.pdf"])
def test_words_that_only_present_files_are_no_question(text: str) -> None:
    assert only_presents(text, ["report.pdf"])


@pytest.mark.parametrize("text", listed(ASKING))
def test_questions_about_files_stay_questions(text: str) -> None:
    assert not only_presents(text, ["report.pdf"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("and these?", ["a.md", "b.csv", "c.pdf"]),
        ("und diese?", ["d.txt", "u.md"]),
        ("Here is a", ["a.md"]),
        ("report.pdfです", ["report.pdf"]),
        ("报告在这里", ["报告.docx"]),
    ],
)
def test_short_names_take_no_letters_out_of_words(text: str, names: list[str]) -> None:
    assert only_presents(text, names)


def test_every_offered_language_is_there_with_every_list() -> None:
    lists = tomllib.loads(Path(module.__file__).with_name("small_talk.toml").read_text(encoding="utf-8"))
    assert set(lists) == set(LANGUAGES)
    assert {frozenset(each) for each in lists.values()} == {
        frozenset({"greeting", "wellbeing", "thanks", "agreement", "filling", "help", "presenting"})
    }


def test_the_languages_that_know_the_words_are_named() -> None:
    talk = small_talk("muchas gracias")
    assert talk is not None
    assert talk.languages == ("es",)


@pytest.mark.parametrize(
    "text", ["hi " * 100_000, "谢谢" * 100_000, "?" * 200_000, ":a" * 100_000, "@" * 200_000]
)
def test_long_text_takes_no_time_and_is_a_question(text: str) -> None:
    small_talk(text)
    is_courtesy(text)
    assert not only_presents(text, []) or not text.strip("?:@a")
