// The official clients in TypeScript and Python, two generations of each, over stdio and HTTP: list,
// read, get, call, and hear of a change.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { command, here, run, start } from './lib.mjs'

let engine

before(async () => {
  engine = await start()
})
after(endAll)

const python = (era) => join(here, '.venv', era, 'bin', 'python')
const CLIENTS = [
  ['TypeScript 1.x', process.execPath, 'client-ts1.mjs', ['legacy']],
  ['TypeScript 2.x', process.execPath, 'client-ts2.mjs', ['legacy', 'auto', '2026-07-28']],
  ['Python 1.x', python('1'), 'client_py1.py', ['legacy']],
  ['Python 2.x', python('2'), 'client_py2.py', ['legacy', 'auto', '2026-07-28']],
]

for (const [name, program, script, modes] of CLIENTS) {
  for (const mode of modes) {
    for (const transport of ['stdio', 'http']) {
      test(`${name}, ${mode}, over ${transport}`, async () => {
        const where = transport === 'http' ? { url: `${engine.http}/mcp` } : { command: command(engine) }
        const { code, stdout, stderr } = await run(program, [join(here, script), JSON.stringify(where), mode])
        assert.equal(code, 0, `${stdout}\n${stderr}`)
        const seen = JSON.parse(stdout)
        for (const tool of ['skill__fetch', 'test_simple_text']) assert.ok(seen.tools.includes(tool), `${seen.tools}`)
        for (const uri of ['iii://skills', 'iii://conformance']) assert.ok(seen.resources.includes(uri), `${seen.resources}`)
        assert.ok(seen.prompts.includes('test_prompt_with_arguments'), `${seen.prompts}`)
        assert.equal(seen.skill, '# Conformance\n\nA skill for the suites to list.\n')
        assert.equal(seen.prompt, "Prompt with arguments: arg1='a', arg2='b'")
        assert.equal(seen.answer, 'This is a simple text response for testing.')
      })
    }
  }
}
