"""A worker that publishes one skill, one live section of it and one slash command,
and hears every change of the registry.

The engine is at `III_URL`, or ws://127.0.0.1:49134 without it.
"""

import signal
import sys
import threading

from iii import register_worker

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0

SKILL = """# demo

Shows how a worker publishes its knowledge.

Read the [guide](iii://fn/demo/guide) before calling anything; it is written when you ask.
"""


async def guide(_input):
    return {"content": "# Demo guide\n\nWritten just now by the Python worker.\n"}


async def greet(args):
    # The registry does not check arguments; their handler does.
    if not isinstance(args.get("name"), str):
        raise ValueError("`name` is missing")
    return {"content": f"Greet {args['name']} warmly."}


async def changed(change):
    print(f"changed: {change['op']} {change.get('id') or change.get('name')}", flush=True)


def until_accepted(iii, stop, function_id, payload):
    """Calls until it works: the registry may start after this worker."""
    wait = FIRST_WAIT_S
    while not stop.is_set():
        try:
            return iii.trigger({"function_id": function_id, "payload": payload, "timeout_ms": 2_000})
        except Exception as error:
            print(f"{function_id}: {error}; trying again in {wait} s", file=sys.stderr)
            stop.wait(wait)
            wait = min(wait * 2, LONGEST_WAIT_S)


def main():
    # Connecting waits for the engine; until then there is nothing to close.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    iii = register_worker()

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    iii.register_function("demo::guide", guide, description="The long version of the demo skill.")
    iii.register_function("demo::greet", greet, description="Writes the message of /greet.")
    iii.register_function("demo::changed", changed)
    for trigger_type in ("skills::on-change", "prompts::on-change"):
        # Warns that `observe` is its successor; that one works on 0.25 engines only.
        iii.register_trigger({"type": trigger_type, "function_id": "demo::changed", "config": {}})

    # On every start: what was stored by an older version of this worker is replaced.
    until_accepted(iii, stop, "skills::register", {"id": "demo", "skill": SKILL})
    until_accepted(
        iii,
        stop,
        "prompts::register",
        {
            "name": "greet",
            "description": "Compose a greeting",
            "arguments": [{"name": "name", "description": "Whom to greet", "required": True}],
            "function_id": "demo::greet",
        },
    )
    if not stop.is_set():
        print("published", flush=True)
    stop.wait()
    iii.shutdown()


if __name__ == "__main__":
    main()
