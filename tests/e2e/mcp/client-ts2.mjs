// The official TypeScript SDK 2.x as a client. Arguments: where (JSON), and `legacy`, `auto` or a
// version. Says what it saw as one line of JSON.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const { url, command } = JSON.parse(process.argv[2])
const mode = ['legacy', 'auto'].includes(process.argv[3]) ? process.argv[3] : { pin: process.argv[3] }
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' })
let hear
const changed = new Promise((heard) => (hear = heard))
const client = new Client(
  { name: 'ts2', version: '2' },
  { versionNegotiation: { mode }, listChanged: { prompts: { autoRefresh: false, onChanged: (error) => !error && hear() } } },
)
await client.connect(transport)
const { tools } = await client.listTools()
const { resources } = await client.listResources()
const { prompts } = await client.listPrompts()
const { contents } = await client.readResource({ uri: 'iii://conformance' })
const args = { arg1: 'a', arg2: 'b' }
const { messages } = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: args })
const { content } = await client.callTool({ name: 'test_simple_text', arguments: {} })
await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} })
await changed
const seen = {
  tools: tools.map(({ name }) => name),
  resources: resources.map(({ uri }) => uri),
  prompts: prompts.map(({ name }) => name),
  skill: contents[0].text,
  prompt: messages[0].content.text,
  answer: content[0].text,
}
process.stdout.write(`${JSON.stringify(seen)}\n`)
await client.close()
