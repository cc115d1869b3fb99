from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.access.question_budget import QuestionBudget
from bot.conversation.admission import Admission
from bot.conversation.concurrency import Runs, TurnQueue
from bot.conversation.experts.answer_authors import AnswerAuthors
from bot.conversation.experts.answer_delivery import AnswerDelivery
from bot.conversation.experts.answer_files import AnswerFiles
from bot.conversation.experts.expert_buttons import ExpertButtons
from bot.conversation.experts.expert_posts import ExpertPosts
from bot.conversation.experts.expert_readers import ExpertReaders
from bot.conversation.experts.expert_service import ExpertService
from bot.conversation.experts.gap_requests import GapRequests
from bot.conversation.follow_ups import FollowUps
from bot.conversation.interactions import Interactions
from bot.conversation.interactions.buttons import AnswerButtons
from bot.conversation.interactions.feedback_notes import FeedbackNotes
from bot.conversation.interactions.option_names import OptionNames
from bot.conversation.interactions.verified_answers import VerifiedSaves
from bot.conversation.newcomers.first_steps import FirstSteps
from bot.conversation.outbound import OutboundRooms
from bot.conversation.recovery import Recovery
from bot.conversation.service import Service
from bot.conversation.turn.answer_writer import AnswerWriter
from bot.conversation.turn.attachments import AttachmentIntake
from bot.conversation.turn.recorder import FailureTraces
from bot.conversation.turn.runner import TurnRunner
from bot.conversation.turn.thread_titles import ThreadTitles
from bot.conversation.turn.voice_messages import VoiceMessages
from bot.conversation.versions import AnswerVersions
from bot.observability import Observers
from bot.store.channel_sources import ChannelSources
from bot.store.event_inbox import DeliveryProgress, EventInbox
from bot.store.expert_requests import ExpertRequests
from bot.store.message_files import MessageFiles
from bot.store.processed_interactions import ProcessedInteractions
from bot.store.topics import Topics
from bot.store.turns import Turns
from bot.streaming.notifier import Notifier
from rag_engine.steps.fuse import judge_of
from rag_engine.verified.best_match import QuestionMatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from bot.conversation.dependencies import (
        AudienceLookup,
        Commands,
        FindNames,
        ForgetDocument,
        ForgetSource,
        ForgetTurn,
        KeepTrace,
        ListDocuments,
        PermissionChecks,
        PlaceLookup,
        ResearchedTurns,
        ShowExplanation,
        ShowPictures,
        ShowSources,
        StoredAnswers,
    )
    from bot.conversation.follow_ups import SuggestQuestions
    from bot.conversation.gaps.gap_list import GapList
    from bot.conversation.read_aloud import ReadAloud
    from bot.conversation.turn.conversation_tags import ConversationTags
    from bot.conversation.turn.thread_titles import WriteTitle
    from bot.files.uploads import Uploads
    from bot.settings import ChatSettings
    from bot.streaming.scheduler import Scheduler
    from rag_engine.engine import Engine
    from rag_engine.ingestion.verified_editor import VerifiedEditor
    from rag_engine.speech.types import Transcriber
    from rag_engine.storage.sqlite.database import Database

_UNLIMITED = QuestionBudget()
_NO_OBSERVERS = Observers()
_HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatStores:
    turns: Turns
    topics: Topics
    files: MessageFiles
    interactions: ProcessedInteractions
    inbox: EventInbox
    delivery: DeliveryProgress
    experts: ExpertRequests
    channels: ChannelSources

    @classmethod
    def over(
        cls, database: Database, *, retention_seconds: float, clock: Callable[[], float] = time.time
    ) -> ChatStores:
        """`clock` decides when turns expire."""
        return cls(
            turns=Turns(database, retention_seconds=retention_seconds, retention_clock=clock),
            topics=Topics(database),
            files=MessageFiles(database),
            interactions=ProcessedInteractions(database),
            inbox=EventInbox(database),
            delivery=DeliveryProgress(database),
            experts=ExpertRequests(database),
            channels=ChannelSources(database),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    audiences: AudienceLookup
    permissions: PermissionChecks
    places: PlaceLookup
    commands: Commands
    show_sources: ShowSources
    show_explanation: ShowExplanation
    names: FindNames
    read_aloud: ReadAloud
    gaps: GapList
    transcriber: Transcriber | None = None
    show_pictures: ShowPictures | None = None
    budget: QuestionBudget = _UNLIMITED


@dataclass(frozen=True, slots=True, kw_only=True)
class Removals:
    turn: ForgetTurn
    document: ForgetDocument
    source: ForgetSource
    findings: ResearchedTurns


def assemble(
    *,
    engine: Engine,
    stores: ChatStores,
    policies: Policies,
    removals: Removals,
    uploads: Uploads,
    scheduler: Scheduler,
    settings: ChatSettings,
    passages: int | None,
    records: ListDocuments,
    keep_trace: KeepTrace,
    stored_answers: StoredAnswers,
    editor: VerifiedEditor,
    suggest: SuggestQuestions | None = None,
    write_title: WriteTitle | None = None,
    tags: ConversationTags,
    observers: Observers = _NO_OBSERVERS,
) -> Service:
    turns, notifier = stores.turns, Notifier(scheduler=scheduler)
    admission = Admission(turns=turns, places=policies.places, settings=settings)
    attachments = _attachments(stores, policies, removals, uploads, notifier)
    runner = TurnRunner(
        turns=turns,
        permissions=policies.permissions,
        scheduler=scheduler,
        observers=observers,
        notifier=notifier,
        attachments=attachments,
        answers=_answers(engine, stores, policies, removals, passages, scheduler, suggest, write_title, tags),
        forget_turn=removals.turn,
        failures=FailureTraces(keep=keep_trace, turns=turns, forget=removals.turn),
        queue=TurnQueue(at_once=settings.answers, waiting=settings.waiting, queue=settings.queue),
        budget=policies.budget,
        voices=VoiceMessages(downloads=uploads.downloads, transcriber=policies.transcriber),
        read_aloud=policies.read_aloud,
        runs=Runs(final_write_seconds=settings.last_word_seconds),
    )
    buttons = _answer_buttons(stores, policies, removals, uploads, runner, stored_answers, editor, settings)
    return _service(stores, policies, admission, attachments, runner, settings, buttons, records)


def _recovery(turns: Turns, admission: Admission, runner: TurnRunner, settings: ChatSettings) -> Recovery:
    seconds = settings.resume_seconds
    return Recovery(turns=turns, admission=admission, runner=runner, resume_seconds=seconds)


def _first_steps(
    stores: ChatStores, policies: Policies, scheduler: Scheduler, records: ListDocuments
) -> FirstSteps:
    return FirstSteps(
        processed=stores.interactions,
        permissions=policies.permissions,
        audiences=policies.audiences,
        scheduler=scheduler,
        records=records,
    )


def _option_names(policies: Policies) -> OptionNames:
    return OptionNames(permissions=policies.permissions, audiences=policies.audiences, find=policies.names)


def _service(
    stores: ChatStores,
    policies: Policies,
    admission: Admission,
    attachments: AttachmentIntake,
    runner: TurnRunner,
    settings: ChatSettings,
    buttons: AnswerButtons,
    records: ListDocuments,
) -> Service:
    interactions = Interactions(
        processed=stores.interactions,
        turns=stores.turns,
        commands=policies.commands,
        answer_buttons=buttons,
        scheduler=runner.scheduler,
        notifier=runner.notifier,
        admission=admission,
        runner=runner,
        recovery=_recovery(runner.turns, admission, runner, settings),
        failures=runner.failures,
    )
    return Service(
        commands=policies.commands.specs,
        inbox=stores.inbox,
        delivery=stores.delivery,
        turns=stores.turns,
        permissions=policies.permissions,
        admission=admission,
        attachments=attachments,
        notifier=runner.notifier,
        runner=runner,
        recovery=interactions.recovery,
        interactions=interactions,
        first_steps=_first_steps(stores, policies, runner.scheduler, records),
        option_names=_option_names(policies),
        experts=buttons.experts.service,
        notes=FeedbackNotes(turns=stores.turns, notifier=runner.notifier),
    )


def _attachments(
    stores: ChatStores, policies: Policies, removals: Removals, uploads: Uploads, notifier: Notifier
) -> AttachmentIntake:
    return AttachmentIntake(
        permissions=policies.permissions,
        notifier=notifier,
        audiences=policies.audiences,
        uploads=uploads,
        files=stores.files,
        turns=stores.turns,
        forget_source=removals.source,
    )


def _answers(
    engine: Engine,
    stores: ChatStores,
    policies: Policies,
    removals: Removals,
    passages: int | None,
    scheduler: Scheduler,
    suggest: SuggestQuestions | None,
    write_title: WriteTitle | None,
    tags: ConversationTags,
) -> AnswerWriter:
    return AnswerWriter(
        engine=engine,
        audiences=policies.audiences,
        turns=stores.turns,
        topics=stores.topics,
        files=stores.files,
        forget_turn=removals.turn,
        passages=passages,
        follow_ups=FollowUps(turns=stores.turns, scheduler=scheduler, suggest=suggest),
        titles=ThreadTitles(turns=stores.turns, write=write_title),
        tags=tags,
        findings=removals.findings,
        pictures=policies.show_pictures,
        experts=stores.experts,
        leave_out=stores.channels.opted_out,
    )


def _experts(
    stores: ChatStores,
    policies: Policies,
    removals: Removals,
    uploads: Uploads,
    runner: TurnRunner,
    editor: VerifiedEditor,
    settings: ChatSettings,
) -> ExpertButtons:
    embedder = runner.answers.engine.embedder
    readers = ExpertReaders(audiences=policies.audiences, catalog=editor.catalog)
    outbound = OutboundRooms()
    posts = ExpertPosts(
        requests=stores.experts, outbound=outbound, scheduler=runner.scheduler, readers=readers
    )
    files = AnswerFiles(
        permissions=policies.permissions,
        audiences=policies.audiences,
        uploads=uploads,
        files=stores.files,
        forget_source=removals.source,
    )
    return ExpertButtons(
        service=ExpertService(
            requests=stores.experts,
            outbound=outbound,
            posts=posts,
            delivery=AnswerDelivery(requests=stores.experts, outbound=outbound, posts=posts, files=files),
            authors=AnswerAuthors(requests=stores.experts, notifier=runner.notifier),
            reminder_seconds=settings.expert_reminder_hours * _HOUR,
        ),
        readers=readers,
        audiences=policies.audiences,
        permissions=policies.permissions,
        editor=editor,
        matcher=QuestionMatcher(embedder=embedder, contrast=judge_of(embedder).contrast),
        gaps=policies.gaps.gaps,
    )


def _answer_buttons(
    stores: ChatStores,
    policies: Policies,
    removals: Removals,
    uploads: Uploads,
    runner: TurnRunner,
    answers: StoredAnswers,
    editor: VerifiedEditor,
    settings: ChatSettings,
) -> AnswerButtons:
    experts = _experts(stores, policies, removals, uploads, runner, editor, settings)
    return AnswerButtons(
        turns=stores.turns,
        files=stores.files,
        permissions=policies.permissions,
        audiences=policies.audiences,
        uploads=uploads,
        runs=runner.runs,
        versions=AnswerVersions(answers=answers, audiences=policies.audiences),
        show_sources=policies.show_sources,
        show_explanation=policies.show_explanation,
        forget_document=removals.document,
        observers=runner.observers,
        verified=VerifiedSaves(
            turns=stores.turns,
            answers=answers,
            permissions=policies.permissions,
            audiences=policies.audiences,
            editor=editor,
        ),
        experts=experts,
        gaps=GapRequests(
            service=experts.service,
            readers=experts.readers,
            permissions=policies.permissions,
            listed=policies.gaps,
        ),
    )
