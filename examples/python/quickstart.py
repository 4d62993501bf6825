"""The quickstart of the README in Python, for iii-sdk 0.25.0."""

import threading

from iii import register_worker

# At III_URL, or ws://127.0.0.1:49134 without it.
iii = register_worker()


def call(function_id, payload):
    return iii.trigger({"function_id": function_id, "payload": payload})


async def greet(args):
    return {"content": f"Greet {args['name']} warmly."}


async def guide(_args):
    return "# Guide\n\nThe long version."


# A slash command is a function that renders its text, and a name for it.
iii.register_function("demo::greet", greet)
# A section is a function whose output is read at iii://fn/demo/guide.
iii.register_function("demo::guide", guide)

skill = "# Demo\n\nWhen to greet.\n\nMore: [guide](iii://fn/demo/guide)\n"
call("skills::register", {"id": "demo", "skill": skill})
call(
    "prompts::register",
    {
        "name": "greet",
        "description": "Compose a greeting.",
        "arguments": [{"name": "name", "description": "Who to greet", "required": True}],
        "function_id": "demo::greet",
    },
)

# Read both back, as a client does.
print(call("skill::fetch", {"uris": ["iii://demo", "iii://fn/demo/guide"]}))
rendered = call("prompts::mcp-get", {"name": "greet", "arguments": {"name": "Ada"}})
print("/greet Ada:", rendered["messages"][0]["content"]["text"])
print("Published. This worker stays up for its handlers; Ctrl-C ends it.", flush=True)
try:
    threading.Event().wait()
except KeyboardInterrupt:
    iii.shutdown()
