"""As much of Helm's templates as the chart uses: values, `default`, `quote`, `toYaml`, `nindent`, `sha256sum`, `if`. Anything else raises."""

from __future__ import annotations

import hashlib
import io
import json
import re
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from collections.abc import Mapping

_ACTION = re.compile(r"(?P<before>\s*)\{\{(?P<trim>-)?\s*(?P<body>.*?)\s*\}\}", re.DOTALL)


def rendered(template: str, values: Mapping[str, Any]) -> str:
    out: list[str] = []
    shown = [True]
    end = 0
    for action in _ACTION.finditer(template):
        before = "" if action["trim"] else action["before"]
        text = template[end : action.start()] + before
        if shown[-1]:
            out.append(text)
        body = action["body"]
        if body.startswith("if "):
            shown.append(shown[-1] and bool(_evaluated(body[3:], values)))
        elif body == "end":
            shown.pop()
        elif shown[-1]:
            out.append(str(_evaluated(body, values)))
        end = action.end()
    out.append(template[end:])
    assert shown == [True], "an `if` without its `end`"
    return "".join(out)


def _evaluated(expression: str, values: Mapping[str, Any]) -> Any:
    first, *rest = [part.strip() for part in expression.split("|")]
    value = (
        _yaml(_at(first.removeprefix("toYaml "), values))
        if first.startswith("toYaml ")
        else _at(first, values)
    )
    for step in rest:
        name, _, argument = step.partition(" ")
        if name == "quote":
            value = json.dumps(str(value))
        elif name == "nindent":
            value = "".join(f"\n{' ' * int(argument)}{line}" for line in value.splitlines())
        elif name == "sha256sum":
            value = hashlib.sha256(str(value).encode()).hexdigest()
        elif name == "default":
            value = value or _at(argument, values)
        else:
            raise ValueError(f"the test does not know {name}")
    return value


def _at(path: str, values: Mapping[str, Any]) -> Any:
    if not path.startswith("."):
        raise ValueError(f"the test does not know {path}")
    found: Any = values
    for name in path[1:].split("."):
        found = found[name]
    return found


def _yaml(value: Any) -> str:
    out = io.StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.dump(value, out)
    return out.getvalue()
