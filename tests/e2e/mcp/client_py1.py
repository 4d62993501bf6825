"""The official Python SDK 1.x as a client. Arguments: where (JSON), and the mode, of which it knows
one. Says what it saw as one line of JSON."""

import json
import sys
from contextlib import AsyncExitStack

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamablehttp_client


async def talk(seen: dict[str, object]) -> None:
    where = json.loads(sys.argv[1])
    changed = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ServerNotification) and isinstance(
            message.root, types.PromptListChangedNotification
        ):
            changed.set()

    async with AsyncExitStack() as stack:
        if "url" in where:
            streams = await stack.enter_async_context(streamablehttp_client(where["url"]))
        else:
            command, *args = where["command"]
            server = StdioServerParameters(command=command, args=args)
            streams = await stack.enter_async_context(stdio_client(server))
        session = await stack.enter_async_context(ClientSession(streams[0], streams[1], message_handler=hear))
        await session.initialize()
        tools = (await session.list_tools()).tools
        resources = (await session.list_resources()).resources
        prompts = (await session.list_prompts()).prompts
        read = await session.read_resource("iii://conformance")
        got = await session.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        called = await session.call_tool("test_simple_text", {})
        await session.call_tool("test_trigger_prompt_change", {})
        with anyio.fail_after(60):
            await changed.wait()
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
