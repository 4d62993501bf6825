"""The official Python SDK 2.x as a client. Arguments: where (JSON), and `legacy`, `auto` or a
version. Says what it saw as one line of JSON."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
from mcp import StdioServerParameters, stdio_client, types
from mcp.client import Client


async def talk(seen: dict[str, object]) -> None:
    where, mode = json.loads(sys.argv[1]), sys.argv[2]
    changed = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.PromptListChangedNotification):
            changed.set()

    if "url" in where:
        server = where["url"]
    else:
        command, *args = where["command"]
        server = stdio_client(StdioServerParameters(command=command, args=args))
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(server, mode=mode, message_handler=hear))
        notices = None
        if mode != "legacy":
            notices = await stack.enter_async_context(client.listen(prompts_list_changed=True))
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        prompts = (await client.list_prompts()).prompts
        read = await client.read_resource("iii://conformance")
        got = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        called = await client.call_tool("test_simple_text", {})
        await client.call_tool("test_trigger_prompt_change", {})
        with anyio.fail_after(60):
            if notices is None:
                await changed.wait()
            else:
                await anext(aiter(notices))
        seen |= {
            "tools": [tool.name for tool in tools],
            "resources": [str(resource.uri) for resource in resources],
            "prompts": [prompt.name for prompt in prompts],
            "skill": read.contents[0].text,
            "prompt": got.messages[0].content.text,
            "answer": called.content[0].text,
        }


def main() -> None:
    seen: dict[str, object] = {}
    try:
        anyio.run(talk, seen)
    except* anyio.BrokenResourceError:
        # The SDK's reader fails when one more notice arrives while it closes; all was seen by then.
        if not seen:
            raise
    print(json.dumps(seen))


main()
