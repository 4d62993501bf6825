"""FastMCP's client helper for skills. Argument: where (JSON). Says the skills it found as one line of
JSON."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.utilities.skills import list_skills


async def find() -> list[str]:
    where = json.loads(sys.argv[1])
    if "url" in where:
        server = where["url"]
    else:
        command, *args = where["command"]
        server = StdioTransport(command=command, args=args)
    async with Client(server) as client:
        return [skill.name for skill in await list_skills(client)]


print(json.dumps(asyncio.run(find())))
