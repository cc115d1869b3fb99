from __future__ import annotations

import pytest

from bot.conversation.triggers import Mode, ThreadMembers, decide, is_courtesy, is_question, is_stop, screen
from bot.port import IncomingMessage, Person, Place
from tests.unit.bot.chatting import attachment

QUESTIONS = (
    "How many days of leave do we have?",
    "how do I get a badge",
    "where is the travel policy",
    "Anyone knows the wifi password? Thanks!",
    "The form is gone, does anybody have it? I need it today.",
    "Wie viele Urlaubstage haben wir",
    "Wer hat die Rechnung von März?",
    "gibt es eine Richtlinie für Reisen",
    "Combien de jours de congé avons-nous ?",
    "où se trouve le formulaire",
    "¿Cuántos días de vacaciones tenemos?",
    "cuántos días de vacaciones tenemos",
    "Quanti giorni di ferie abbiamo?",
    "quali sono gli orari della mensa",
    "Quantos dias de férias temos?",
    "quantos dias de férias nós temos",
    "Hoeveel dagen vrij hebben we?",
    "waar staat het formulier",
    "有給休暇は何日ありますか",
    "申請書はどこですか？",
    "我们有多少天年假",
    "报销单在哪里？",
    "휴가는 며칠입니까",
    "Сколько у нас дней отпуска?",
    "где лежит заявление на отпуск",
    "휴가 신청은 어떻게 하나요",
    "Πόσες μέρες άδεια έχουμε;",
    "كم عدد أيام الإجازة؟",
    "Is the office open *tomorrow*?",
)
STATEMENTS = (
    "I am on leave tomorrow.",
    "Build 1234 is green",
    "See https://example.com/search?q=leave",
    "```\nx = y ? 1 : 2\n```",
    "Is fixed now. Deploying.",
    "Das Büro ist morgen zu.",
    "Ich komme später; bis dann",
    "Je suis en congé demain.",
    "Mañana no estoy.",
    "明天我休假。",
    "明日は休みます。",
    "Завтра меня не будет.",
    "Что сделано, то сделано.",
    "내일 휴가입니다.",
    "???",
    "?",
    "ok",
    "",
)


@pytest.mark.parametrize("text", QUESTIONS)
def test_questions_are_known_in_several_languages(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize("text", STATEMENTS)
def test_what_asks_nothing_is_no_question(text: str) -> None:
    assert not is_question(text)


def test_thanks_and_nods_are_courtesies() -> None:
    for text in ("Thanks!", "ok great", "Vielen Dank", "merci beaucoup", "👍", ":-)", "ありがとう"):
        assert is_courtesy(text), text
    for text in ("Thanks, and next year?", "ok but why", "?", "Reisekosten", "28"):
        assert not is_courtesy(text), text


def message(text: str = "Where is it?", **values: object) -> IncomingMessage:
    given = {"addressed": False, **values}
    return IncomingMessage(
        id="1",
        place=Place(platform="t", workspace="w", channel="c"),
        person=Person(id="p"),
        text=text,
        **given,
    )


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ({"addressed": True}, True),
        ({"addressed": True, "to_others": True}, True),
        ({"addressed": True, "ours": True}, False),
        ({"addressed": True, "by_bot": True}, False),
        ({"by_bot": True}, False),
        ({"to_others": True}, False),
    ],
)
def test_what_a_message_says_by_itself(given: dict[str, object], ours: bool) -> None:
    verdict = screen(message(**given))
    assert verdict
    assert verdict.ours == ours
    assert verdict.why


def test_a_bot_of_the_list_is_answered_only_if_it_addresses_us() -> None:
    listed = frozenset({"p"})
    assert screen(message(by_bot=True, addressed=True), answered_bots=listed) is None
    verdict = screen(message(by_bot=True), answered_bots=listed)
    assert verdict
    assert not verdict.ours


ALONE = ThreadMembers(includes_us=True, people=1)
TWO = ThreadMembers(includes_us=True, people=2)
UNKNOWN = ThreadMembers(includes_us=True, people=None)


@pytest.mark.parametrize(
    ("mode", "in_thread", "members", "ours"),
    [
        ("mention", False, ThreadMembers(), False),
        ("mention", True, ALONE, False),
        ("thread", False, ThreadMembers(), False),
        ("thread", True, ALONE, True),
        ("thread", True, TWO, False),
        ("thread", True, UNKNOWN, False),
        ("thread", True, ThreadMembers(people=1), False),
        ("auto", False, ThreadMembers(), True),
        ("auto", True, ALONE, True),
        ("auto", True, TWO, False),
        ("auto", True, ThreadMembers(people=1), False),
    ],
)
def test_each_mode_with_each_kind_of_thread(
    mode: Mode, in_thread: bool, members: ThreadMembers, ours: bool
) -> None:
    verdict = decide(message(in_thread=in_thread), mode=mode, members=members)
    assert verdict.ours == ours
    assert "Where" not in verdict.why


def test_files_are_for_us_where_everything_is() -> None:
    brought = message("fyi", attachments=(attachment("a.pdf", "x"),))
    assert decide(brought, mode="auto", members=ThreadMembers()).ours
    assert not decide(message("fyi"), mode="auto", members=ThreadMembers()).ours
    assert not decide(brought, mode="thread", members=ThreadMembers()).ours


@pytest.mark.parametrize("text", ["stop", "Stop!", " STOPP. ", "停止", "Стоп!", "중지"])
def test_a_text_that_only_says_stop(text: str) -> None:
    assert is_stop(text)


@pytest.mark.parametrize("text", ["", "stop it?", "When does the bus stop?", "stops", "…"])
def test_a_text_that_says_more_than_stop(text: str) -> None:
    assert not is_stop(text)
