// The official Inspector's command line, over stdio and HTTP, in both eras of the protocol.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { command, here, newNode, run, start } from './lib.mjs'

let engine

before(async () => {
  engine = await start()
})
after(endAll)

const program = join(here, 'node_modules', '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js')

// What a tool found, as data; clients of before structured content read the text.
const found = ({ content, structuredContent }) => structuredContent ?? JSON.parse(content[0].text)

const ASKED = [
  [['tools/list', '--strict'], ({ tools }) => tools.some(({ name }) => name === 'skill__fetch')],
  [['resources/list'], ({ resources }) => resources.some(({ uri }) => uri === 'iii://conformance')],
  [['resources/templates/list'], ({ resourceTemplates }) => resourceTemplates.length > 0],
  [['resources/read', '--uri', 'iii://skills'], ({ contents }) => contents[0].text.includes('iii://conformance')],
  [['prompts/list'], ({ prompts }) => prompts.some(({ name }) => name === 'test_simple_prompt')],
  [
    ['prompts/get', '--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=a', 'arg2=b'],
    ({ messages }) => messages[0].content.text.includes("arg1='a', arg2='b'"),
  ],
  [
    ['tools/call', '--tool-name', 'skill__fetch', '--tool-arg', 'uri=iii://conformance'],
    ({ content }) => content[0].text.includes('# Conformance'),
  ],
  [['tools/list'], ({ tools }) => ['skill__search', 'skill__route'].every((tool) => tools.some(({ name }) => name === tool))],
  [
    ['tools/call', '--tool-name', 'skill__search', '--tool-arg', 'text=skills for suites'],
    (answer) => {
      const { matches, total } = found(answer)
      return total === matches.length && matches[0].id === 'conformance' && matches[0].why.length > 0
    },
  ],
  [
    ['tools/call', '--tool-name', 'skill__route', '--tool-arg', 'text=list the skill for the suites'],
    (answer) => {
      const { matches, abstained } = found(answer)
      return !abstained && matches[0].uri === 'iii://conformance' && matches[0].score > 0
    },
  ],
  [
    ['tools/call', '--tool-name', 'skill__route', '--tool-arg', 'text=will it rain tomorrow'],
    (answer) => {
      const { matches, abstained, advice } = found(answer)
      return abstained && matches.length === 0 && advice.includes('skill__list')
    },
  ],
]

for (const era of ['legacy', 'modern']) {
  for (const transport of ['stdio', 'http']) {
    for (const [[method, ...more], fits] of ASKED) {
      test(`${[method, ...more].join(' ')}, ${era}, over ${transport}`, async () => {
        const asked = ['--cli', '--protocol-era', era, '--method', method, ...more, '--format', 'json', '-q']
        const where = transport === 'http' ? ['--server-url', `${engine.http}/mcp`, '--transport', 'http'] : ['--', ...command(engine)]
        const { code, stdout, stderr } = await run(newNode(), [program, ...asked, ...where])
        assert.equal(code, 0, `${stdout}\n${stderr}`)
        assert.ok(fits(JSON.parse(stdout).result), stdout)
      })
    }
  }
}

test('a tool that is not there is said so', async () => {
  const asked = ['--cli', '--method', 'tools/call', '--tool-name', 'no_such', '--format', 'json', '-q']
  const { code, stderr } = await run(newNode(), [program, ...asked, '--', ...command(engine)])
  assert.equal(code, 5, stderr)
})
