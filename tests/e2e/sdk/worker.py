"""A worker on the Python SDK, new or old. The harness (lib/peer.mjs) writes commands to
stdin and reads answers and events from stdout. Arguments: the engine's address, and a
name that prefixes every id.
"""

import asyncio
import hashlib
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from iii import InitOptions, TriggerAction, register_worker

try:
    from iii.trigger import TriggerHandler  # 0.25
except ImportError:
    from iii.triggers import TriggerHandler  # 0.11

URL, NAME = sys.argv[1:3]
# 64 bytes of UTF-8, not all of them ASCII.
UNIT = ("0123456789abcdef" * 4)[2:] + "é"

# Kept here: the SDK holds its running handlers only weakly, and a wait for something
# without a reference is collected and fails with GeneratorExit.
NEVER = asyncio.Event()

lock = threading.Lock()
subscribers = {}
subscriptions = {}


def say(line):
    with lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def make(size):
    return UNIT * (size // 64)


def measure(text):
    data = text.encode()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


async def echo(data):
    return data


async def fail(data):
    raise RuntimeError(data["message"])


async def nothing(_data):
    return None


async def hear(data):
    say({"event": "heard", "data": data})


async def hang(_data):
    say({"event": "hanging"})
    await NEVER.wait()


async def make_text(data):
    return {"text": make(data["bytes"])}


async def measure_text(data):
    return measure(data["text"])


async def guide(_data):
    return {"content": f"# Guide of {NAME}\n"}


async def greet(data):
    return {"content": f"{NAME} greets {data['who']}"}


class OnKnock(TriggerHandler):
    async def register_trigger(self, trigger):
        if trigger.config.get("refuse"):
            raise RuntimeError("not at home")
        subscribers[trigger.id] = trigger.function_id
        say(
            {
                "event": "subscriber",
                "op": "added",
                "trigger": trigger.id,
                "function_id": trigger.function_id,
                "config": trigger.config,
            }
        )

    async def unregister_trigger(self, trigger):
        subscribers.pop(trigger.id, None)
        say({"event": "subscriber", "op": "removed", "trigger": trigger.id})


token = os.environ.get("III_TOKEN")
headers = {"Authorization": f"Bearer {token}"} if token else None
worker = register_worker(URL, InitOptions(worker_name=NAME, headers=headers))
FUNCTIONS = {
    "echo": echo,
    "fail": fail,
    "nothing": nothing,
    "hear": hear,
    "hang": hang,
    "make": make_text,
    "measure": measure_text,
    "guide": guide,
    "greet": greet,
}
for function, handler in FUNCTIONS.items():
    worker.register_function(f"{NAME}::{function}", handler, description=f"{function} of {NAME}")
worker.register_trigger_type({"id": f"{NAME}::on-knock", "description": "Somebody knocks."}, OnKnock())


def trigger(function_id, payload, **rest):
    return worker.trigger({"function_id": function_id, "payload": payload, **rest})


def call(command):
    rest = {"timeout_ms": command["timeout_ms"]} if command.get("timeout_ms") else {}
    return trigger(command["function_id"], command.get("payload"), **rest)


def void(command):
    return trigger(command["function_id"], command.get("payload"), action=TriggerAction.Void())


def big(command, payload):
    # On a busy machine 15 MiB there and back take most of the SDK's usual half minute.
    return trigger(command["function_id"], payload, timeout_ms=120_000)


# Big texts stay here: the harness sees their size and hash.
def send_big(command):
    return measure(big(command, {"text": make(command["bytes"])})["text"])


def take_big(command):
    return measure(big(command, {"bytes": command["bytes"]})["text"])


def give_big(command):
    return big(command, {"text": make(command["bytes"])})


def offer(command):
    worker.register_function(command["function_id"], echo, description=command["description"])


def subscribe(command):
    kind = command["trigger_type"]
    subscriptions[kind] = worker.register_trigger(
        {"type": kind, "function_id": command["function_id"], "config": command["config"]}
    )


def unsubscribe(command):
    subscriptions[command["trigger_type"]].unregister()


def fire(command):
    targets = list(subscribers.values())
    for function_id in targets:
        trigger(function_id, command["payload"], action=TriggerAction.Void())
    return len(targets)


COMMANDS = {
    "call": call,
    "void": void,
    "send_big": send_big,
    "take_big": take_big,
    "give_big": give_big,
    "measure": lambda command: measure(make(command["bytes"])),
    "offer": offer,
    "subscribe": subscribe,
    "unsubscribe": unsubscribe,
    "fire": fire,
}


def answer(command):
    try:
        say({"id": command["id"], "ok": COMMANDS[command["do"]](command)})
    except Exception as error:
        code = getattr(error, "code", None)
        say({"id": command["id"], "error": {"code": code, "message": str(error)}})


say({"event": "up"})
# Calls wait for their answers, so each has a thread.
with ThreadPoolExecutor(max_workers=32) as threads:
    for line in sys.stdin:
        threads.submit(answer, json.loads(line))
    # The harness is gone, and so is the reason to be.
    os._exit(0)
