"""From an answer to what a platform shows: replies, their pages, and the safety of both."""

from bot.rendering.links import links_in
from bot.rendering.paging import pages
from bot.rendering.replies import final, printable, sources

__all__ = ["final", "links_in", "pages", "printable", "sources"]
