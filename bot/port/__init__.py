"""The border between adapters and the service: adapters import nothing else of the bot, and no SDK type crosses it.

In: events (`MessageEvent`, `Command`, `Action`), each with its `Room`. Out: pages, which only `bot.streaming` writes
through the room's `Outlet`, within its rate limits.
"""

from __future__ import annotations

from bot.port.arrivals import Arrival, Overview
from bot.port.commands import SERVER, WORKSPACE, Command, CommandSpec, Option, for_servers
from bot.port.errors import ChatError, Gone, Stopped, Throttled, Unreachable, Unreadable, WriteRefused
from bot.port.events import Action, Attachment, IncomingMessage, MessageDeleted, MessageEdited, MessageEvent
from bot.port.fields import Fields
from bot.port.forms import MOST_TYPED, Form, opens_form
from bot.port.history import ChannelMessage, HistoryPage, ReadPace
from bot.port.installation import Credential, Installation
from bot.port.lifecycle import Finding, Inbox, Recall, Signals
from bot.port.one_person import OnePerson
from bot.port.pages import Budget, Button, File, Outlet, Page, PlatformLimits, Reply, Route, Source, Write
from bot.port.places import NO_WORKSPACE, Channel, ChannelKind, Directory, Membership, People, Person, Place
from bot.port.room import PlainRoom, Room
from bot.port.service import ChatService, DelegatingService
from rag_engine.errors import first_error
from rag_engine.text.header_secret import HeaderSecret
from rag_engine.types import Citation
from rag_engine.wrappers.retry import Attempts, Backoff

__all__ = [
    "MOST_TYPED",
    "NO_WORKSPACE",
    "SERVER",
    "WORKSPACE",
    "Action",
    "Arrival",
    "Attachment",
    "Attempts",
    "Backoff",
    "Budget",
    "Button",
    "Channel",
    "ChannelKind",
    "ChannelMessage",
    "ChatError",
    "ChatService",
    "Citation",
    "Command",
    "CommandSpec",
    "Credential",
    "DelegatingService",
    "Directory",
    "Fields",
    "File",
    "Finding",
    "Form",
    "Gone",
    "HeaderSecret",
    "HistoryPage",
    "Inbox",
    "IncomingMessage",
    "Installation",
    "Membership",
    "MessageDeleted",
    "MessageEdited",
    "MessageEvent",
    "OnePerson",
    "Option",
    "Outlet",
    "Overview",
    "Page",
    "People",
    "Person",
    "Place",
    "PlainRoom",
    "PlatformLimits",
    "ReadPace",
    "Recall",
    "Reply",
    "Room",
    "Route",
    "Signals",
    "Source",
    "Stopped",
    "Throttled",
    "Unreachable",
    "Unreadable",
    "Write",
    "WriteRefused",
    "first_error",
    "for_servers",
    "opens_form",
]
