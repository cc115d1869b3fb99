from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bot.cli.operation._setup import env_file, prompts
from bot.cli.operation._setup.model_server import models_of
from rag_engine.errors import UserError

if TYPE_CHECKING:
    from bot.settings import Settings

_MOST: Final = 30
_QUOTES: Final = "Without a model the best sentences are quoted: set one up whenever you like."


async def set_up(settings: Settings) -> None:
    prompts.show("\nStep 3: a language model", style="bold")
    name = settings.model.rest().get("name") if settings.model else ""
    if name and not await prompts.agrees(f"{name} is set up already. Change it", default=False):
        return
    prompts.show(
        "Any server that speaks OpenAI's API: https://api.openai.com/v1, http://localhost:11434/v1 (Ollama) …"
    )
    while address := await prompts.ask("Its address (empty: no model)"):
        key = await prompts.ask_secret("Its key, if it needs one")
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
