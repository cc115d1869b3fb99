"""A parser that does what hostile files make parsers do."""

from __future__ import annotations

# The file says what to do.
HOSTILE_PARSER = """
import os, signal, sys, time, warnings
from pathlib import Path
from rag_engine.types import Section

def parse(path):
    command, _, argument = path.read_text().partition(" ")
    yield Section(text=str(os.getpid()), anchor="x" * 40_000)
    yield from globals()[command](argument)

def tell(argument):
    yield Section(text=argument)

def hang(argument):
    while True:
        pass

def wait(argument):
    time.sleep(600)
    yield

def endless(argument):
    while True:
        yield Section(text="again " * 1000)

def devour(argument):
    kept = []
    while True:
        kept.append(bytearray(32 << 20))
    yield

def die(argument):
    os.kill(os.getpid(), signal.SIGSEGV)
    yield

def leave(argument):
    os._exit(0)
    yield

def fail(argument):
    {}["a word " + "of the file"]
    yield

def chatter(argument):
    print("on stdout")
    print("on stderr", file=sys.stderr)
    os.write(1, b"straight to one")
    warnings.warn("careful")
    yield Section(text=sys.stdin.read() + "said")

def environment(argument):
    yield Section(text=" ".join(sorted(os.environ)))

def flood(argument):
    Path("flood").write_bytes(bytes(100 << 20))
    yield

def meet(argument):
    while not Path(argument.strip()).exists():
        time.sleep(0.01)
    yield Section(text="met")

def worker(argument):
    yield Section(text=str(os.getppid()))

def die_once(argument):
    # A limit that only the first process meets: the second finds what the test put there meanwhile.
    yield Section(text="before")
    yield Section(text="x" * 40_000)
    if not Path(argument).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    yield Section(text="after")

def keep(argument):
    Path("kept").write_text("of the file before")
    sys.modules["kept"] = "of the file before"
    yield Section(text=os.getcwd())

def kept(argument):
    yield Section(text=f"{'kept' in sys.modules} {os.listdir()}")

def forge(argument):
    # As one who took the process over would: an answer for the next file is left in the pipe.
    import json
    content = json.dumps({"sections": [{"text": "forged", "anchor": "", "headings": "", "kind": "prose"}]}).encode()
    end = json.dumps({"done": True}).encode()
    for descriptor in range(3, 20):
        for frame in (end, content, end):
            try:
                os.write(descriptor, len(frame).to_bytes(4, "big") + frame)
            except OSError:
                pass
    os._exit(17)
    yield
"""
