from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.cli.operation._setup import env_file, prompts
from bot.cli.operation._setup.model_server import models_of
from rag_engine.errors import UserError
from rag_engine.text.header_secret import unsendable

if TYPE_CHECKING:
    from bot.settings import Settings

_MOST: Final = 30
_OPENAI: Final = "https://api.openai.com/v1"
_QUOTES: Final = "Without a model the best sentences are quoted: set one up whenever you like."


async def set_up(settings: Settings) -> None:
    prompts.show("\nStep 3: a language model", style="bold")
    name = settings.model.rest().get("name") if settings.model else ""
    if name and not await prompts.agrees(f"{name} is set up already. Change it", default=False):
        return
    prompts.show(f"Any server that speaks OpenAI's API: {_OPENAI}, http://localhost:11434/v1 (Ollama) …")
    is_known_tried = False
    while address := await prompts.ask("Its address (empty: no model)"):
        known = "" if is_known_tried else _known_key(address, settings)
        is_known_tried = bool(known)
        key = known or await _typed_key()
        try:
            names = await models_of(address, key)
        except UserError as error:
            prompts.show(str(error), style="red")
            continue
        chosen = names[await prompts.choose("Model", names[:_MOST])]
        env_file.write({"OPENAI_BASE_URL": address, "OPENAI_API_KEY": key, "FOOTNOTE_MODEL__NAME": chosen})
        prompts.show(f"{chosen} writes the answers.", style="green")
        return
    prompts.show(_QUOTES)


def _known_key(address: str, settings: Settings) -> str:
    """Other servers must not get it."""
    own = (settings.openai_base_url or _OPENAI).rstrip("/")
    if settings.openai_api_key is None or address.rstrip("/") != own:
        return ""
    prompts.show("Its key is set already (OPENAI_API_KEY).")
    return settings.openai_api_key.get_secret_value()


async def _typed_key() -> str:
    while reason := unsendable(key := await prompts.ask_secret("Its key, if it needs one")):
        prompts.show(f"This is no key: {reason}.", style="red")
    return key
