"""From an answer to what a platform shows: replies, their pages, and the safety of both."""

from bot.rendering.pages import pages
from bot.rendering.replies import consulted, final, printable, sources
from bot.rendering.safety.links import links_in

__all__ = ["consulted", "final", "links_in", "pages", "printable", "sources"]
