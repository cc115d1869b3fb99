"""Follow-ups that rules complete, without a call of a language model."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.steps.test_understand import ALONE, JOINED, TALK, inquiry, saying, understood


async def test_without_a_language_model_the_question_before_lends_its_words() -> None:
    done = await understood(inquiry("And in London?", *TALK), None)
    assert done.question == JOINED
    chained = await understood(inquiry("And on Sundays?", *TALK, "And in London?", "Ten to four."), None)
    assert chained.question.startswith(JOINED)
    alone = inquiry(ALONE, *TALK)
    assert await understood(alone, None) == alone


async def test_a_question_that_may_stand_alone_is_searched_for_with_and_without_the_one_before() -> None:
    done = await understood(inquiry("What is the notice period?", *TALK), None)
    assert done.question == "What is the notice period?"
    assert done.beside == "What are the office hours in Berlin? What is the notice period?"


async def test_without_a_language_model_several_follow_ups_keep_the_subject() -> None:
    talk = ("How do I get a parking permit?", "Ask Facilities.", "Who approves it?", "Your manager.")
    done = await understood(inquiry("How long does that take?", *talk), None)
    assert done.question == "How do I get a parking permit? Who approves it? How long does that take?"


async def test_a_route_that_a_rule_found_needs_no_model() -> None:
    model = saying("never")
    done = await understood(replace(inquiry("shorter", *TALK), route="edit"), model)
    assert done.route == "edit"
    assert done.question.startswith(TALK[0])
    assert model.prompts == []


async def test_the_name_of_a_command_is_never_completed() -> None:
    model = saying("never")
    done = await understood(inquiry("/about Tide", *TALK), model)
    assert (done.question, done.beside, model.prompts) == ("Tide", "", [])
    asked_in_words = await understood(inquiry("What do we know about it?", *TALK), None)
    assert asked_in_words.question.startswith(TALK[0])
