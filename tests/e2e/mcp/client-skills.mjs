// `SkillsClient` of the official TypeScript SDK 2.x. Arguments: where (JSON), and `legacy`, `auto` or a
// version. Reads every file of every skill with verification, and walks every folder. Says what it saw
// as one line of JSON.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const { url, command } = JSON.parse(process.argv[2])
const mode = ['legacy', 'auto'].includes(process.argv[3]) ? process.argv[3] : { pin: process.argv[3] }
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url))
  : new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: 'inherit' })
const client = new Client({ name: 'skills', version: '2' }, { versionNegotiation: { mode } })
await client.connect(transport)
const skills = new SkillsClient(client)
const { skills: listed } = await skills.list()
const seen = { supported: skills.supported, directoryRead: skills.directoryRead, skills: [], unverified: [], folders: {} }
for (const entry of listed) {
  seen.skills.push(entry.uri)
  const { skill } = await skills.get(entry.uri)
  for (const { uri } of skill.resources) {
    const file = await skills.read(skill, uri)
    if (!file.verified) seen.unverified.push(uri)
  }
}
const walk = async (uri) => {
  const { resources } = await skills.readDirectory(uri)
  seen.folders[uri] = resources.map((child) => child.uri)
  for (const child of resources) if (child.mimeType === 'inode/directory') await walk(child.uri)
}
for (const { uri } of listed) await walk(uri.slice(0, -'/SKILL.md'.length))
process.stdout.write(`${JSON.stringify(seen)}\n`)
await client.close()
