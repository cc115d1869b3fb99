"""`footnote setup`: set up Footnote step by step; or print what to paste into Slack or Discord, or compare models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.cli.operation._setup import env_file, known_models, wizard
from bot.commands import SPECS
from bot.composition import loader
from rag_engine.errors import UserError

if TYPE_CHECKING:
    import argparse

    from bot.settings import Settings


EXAMPLE = """footnote setup
footnote setup slack > slack-manifest.yaml
footnote setup discord
footnote setup model
footnote setup model multilingual-e5-small --write"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "platform", nargs="?", choices=("slack", "discord", "model"), help="without it, the wizard asks"
    )
    parser.add_argument("name", nargs="?", help="a model; without it, all are compared")
    parser.add_argument("--write", action="store_true", help="write the model's settings to .env")


async def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Discord needs its token, Slack none."""
    if arguments.platform is None:
        return await wizard.run()
    if arguments.platform == "model":
        return _model(arguments.name, write=arguments.write)
    if arguments.name or arguments.write:
        raise UserError("A name and --write belong to `footnote setup model`.")
    platform = await loader.unset_platform(arguments.platform, settings)
    print(platform.module.setup(platform.settings, SPECS).rstrip("\n"))
    return 0


def _model(name: str | None, *, write: bool) -> int:
    if name is None:
        if write:
            raise UserError("Say which model to write: `footnote setup model NAME --write`.")
        print("\n".join(known_models.table()))
        return 0
    model = known_models.named(name)
    if write:
        env_file.write(model.settings(), without=model.group)
    print("\n".join(f"{key}={value}" for key, value in model.settings().items()))
    print(f"# {model.remark}")
    return 0
