"""A headless Chromium over its DevTools protocol: https://chromedevtools.github.io/devtools-protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import shutil
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
_SECONDS = 120


@dataclass(slots=True)
class Tab:
    socket: aiohttp.ClientWebSocketResponse
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    events: list[dict[str, Any]] = field(default_factory=list)
    """What happened since the last `open`."""

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        await self.socket.send_json({"id": number, "method": method, "params": parameters})
        async with asyncio.timeout(_SECONDS):
            while True:
                message = await self.socket.receive_json()
                if message.get("id") == number:
                    assert "error" not in message, message
                    return message["result"]
                self.events.append(message)

    async def open(self, url: str) -> None:
        """Until it is loaded."""
        self.events.clear()
        await self.call("Page.navigate", url=url)
        async with asyncio.timeout(_SECONDS):
            while not any(each.get("method") == "Page.loadEventFired" for each in self.events):
                self.events.append(await self.socket.receive_json())

    async def look(self, width: int, height: int, *, dark: bool) -> None:
        """The size of the window and the colour scheme."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    async def evaluate(self, script: str) -> Any:
        done = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    async def until(self, script: str, value: object) -> None:
        """Pages may change meanwhile."""
        async with asyncio.timeout(_SECONDS):
            while True:
                number = next(self._numbers)
                expression = {"expression": script, "returnByValue": True}
                await self.socket.send_json(
                    {"id": number, "method": "Runtime.evaluate", "params": expression}
                )
                while (message := await self.socket.receive_json()).get("id") != number:
                    self.events.append(message)
                if message.get("result", {}).get("result", {}).get("value") == value:
                    return

    async def press(self, key: str, code: int) -> None:
        text = {"text": "\r"} if key == "Enter" else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    async def screenshot(self, *, whole: bool = True) -> bytes:
        shown = await self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(shown["data"])


@asynccontextmanager
async def opened() -> AsyncGenerator[Tab]:
    assert PROGRAM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={folder}",
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session:
                port = await _port(process)
                async with session.get(f"http://127.0.0.1:{port}/json") as found:
                    pages = json.loads(await found.text())
                url = next(each["webSocketDebuggerUrl"] for each in pages if each["type"] == "page")
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(url, max_msg_size=0) as socket,
            ):
                tab = Tab(socket)
                for domain in ("Page", "Runtime", "Network", "Log"):
                    await tab.call(f"{domain}.enable")
                yield tab
        finally:
            process.kill()
            await process.wait()


async def _port(process: asyncio.subprocess.Process) -> int:
    assert process.stderr is not None
    async for line in process.stderr:
        if b"DevTools listening on ws://" in line:
            return int(line.rpartition(b":")[2].partition(b"/")[0])
    raise AssertionError("Chromium did not start")


_AXE = "axe-core@4.10.3"


async def axe(folder: Path) -> str:
    """The script of axe-core (MPL-2.0), which npm installs into the folder; empty where it cannot."""
    npm = shutil.which("npm")
    if npm is None:
        return ""
    process = await asyncio.create_subprocess_exec(
        npm,
        "install",
        "--prefix",
        str(folder),
        "--no-audit",
        "--no-fund",
        _AXE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    return await asyncio.to_thread(lambda: script.read_text("utf-8") if script.is_file() else "")
