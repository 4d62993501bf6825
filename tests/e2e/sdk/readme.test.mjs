// The README's quickstart, run as it is printed there: the blocks of one language, one
// after the other, are one program.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Engine } from './lib/engine.mjs'
import { Peer } from './lib/peer.mjs'
import { endAll, Process } from './lib/process.mjs'
import { Inbox } from './lib/wait.mjs'

const e2e = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const root = resolve(e2e, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const built = process.env.E2E_RUST_EXAMPLES ?? join(dirname(process.env.SKILLS_BIN), 'examples')
const DEFAULT_URL = 'ws://127.0.0.1:49134'

const section = readme.split(/^## /m).find((text) => text.startsWith('Quickstart\n')) ?? ''

/** The code of one language in the quickstart. */
function code(language) {
  const blocks = [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
  return blocks.filter((block) => block[1] === language).map((block) => block[2]).join('\n')
}

const unwritten = (language) => !code(language) && `the README has no quickstart in ${language} yet`

let engine
let reader

before(async () => {
  engine = await Engine.start()
  reader = await Peer.start('node_new', engine.url, { name: 'reader' })
})
after(endAll)

/** Runs until it says `done` or prints what is expected, then looks from outside. */
async function check(t, command, args, options, fits) {
  const lines = new Inbox()
  const program = new Process('the quickstart', command, args, {
    ...options,
    env: { III_URL: engine.url },
    onLine: (line) => lines.put(line),
  })
  t.after(() => program.end())
  const ended = program.gone.then(() => {
    throw new Error('the quickstart ended early')
  })
  ended.catch(() => {})
  try {
    await Promise.race([lines.next(fits, 'the end of the quickstart'), ended])
  } catch (error) {
    throw new Error(`${error.message}\n${program.words}`)
  }

  const uris = ['iii://demo', 'iii://fn/demo/guide']
  assert.match(JSON.stringify(await reader.call('skill::fetch', { uris })), /When to greet\..*The long version\./)
  const { messages } = await reader.call('prompts::mcp-get', { name: 'greet', arguments: { name: 'Ada' } })
  assert.equal(messages[0].content.text, 'Greet Ada warmly.')
  // The next one must not find this one's content.
  assert.equal((await reader.call('skills::unregister', { id: 'demo' })).removed, true)
  assert.equal((await reader.call('prompts::unregister', { name: 'greet' })).removed, true)
}

test('the quickstart starts with `skills serve`', () => {
  assert.match(code('sh'), /^skills serve$/m)
})

test('the quickstart in Node', { skip: unwritten('js') }, async (t) => {
  const program = `${code('js').replaceAll(DEFAULT_URL, engine.url)}\nconsole.log('done')`
  const cwd = join(root, 'examples', 'node')
  await check(t, process.execPath, ['--input-type=module', '--eval', program], { cwd }, (line) => line === 'done')
})

test('the quickstart in Python', { skip: unwritten('python') }, async (t) => {
  const program = `${code('python').replaceAll(DEFAULT_URL, engine.url)}\nprint("done")`
  const python = join(e2e, '.venv', 'new', 'bin', 'python')
  await check(t, python, ['-c', program], {}, (line) => line === 'done')
})

const missing = process.env.E2E_RUST !== '1' && !existsSync(join(built, 'quickstart'))

test('the quickstart in Rust', { skip: missing && 'not built; E2E_RUST=1 insists on it' }, async (t) => {
  await check(t, join(built, 'quickstart'), [], {}, (line) => line.includes('Greet Ada warmly.'))
})

test('the quickstart in Rust is the one that is built', { skip: unwritten('rust') }, () => {
  const source = readFileSync(join(root, 'examples', 'rust', 'src', 'bin', 'quickstart.rs'), 'utf8')
  assert.ok(source.includes(code('rust').trim()), 'the README must quote examples/rust/src/bin/quickstart.rs as it is')
})
