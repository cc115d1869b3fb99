"""docs/settings.md is made from the code, and says what every setting means."""

from __future__ import annotations

import re

from bot.settings import Settings
from scripts import settings_page

ROW = re.compile(r"^\| `(?P<name>\w+)` \| (?P<default>[^|]+) \| (?P<meaning>.*) \|$", re.MULTILINE)


def rows() -> list[re.Match[str]]:
    return list(ROW.finditer(settings_page.page()))


def test_the_page_is_up_to_date() -> None:
    assert settings_page.PAGE.read_text(encoding="utf-8") == settings_page.page(), (
        "run: python -m scripts.settings_page"
    )


def test_every_setting_has_a_meaning() -> None:
    assert [row["name"] for row in rows() if not row["meaning"].strip()] == []


def test_every_group_of_the_tree_is_on_the_page() -> None:
    names = {row["name"] for row in rows()}
    for name, field in Settings.model_fields.items():
        prefix = field.validation_alias or f"FOOTNOTE_{name.upper()}"
        if name not in {"platforms", "steps", "tasks"}:
            assert any(each.startswith(str(prefix)) for each in names), name
    assert "`FOOTNOTE_TASKS__<TASK>__MODEL`" in settings_page.page()
    assert {"SLACK_BOT_TOKEN", "DISCORD_TOKEN", "FOOTNOTE_SLACK__STREAMS"} <= names
    assert {"FOOTNOTE_STEPS__RETRIEVE__CANDIDATES", "FOOTNOTE_INDEX__ALIAS", "OPENAI_API_KEY"} <= names
