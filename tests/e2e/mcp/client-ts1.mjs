// The official TypeScript SDK 1.x as a client. Arguments: where (JSON), and the mode, of which it
// knows one. Says what it saw as one line of JSON.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { PromptListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'

const { url, command } = JSON.parse(process.argv[2])
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' })
const client = new Client({ name: 'ts1', version: '1' })
await client.connect(transport)
const changed = new Promise((heard) => client.setNotificationHandler(PromptListChangedNotificationSchema, heard))
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
