// The workers of examples/, run as their README says, against `skills serve`: with the
// registry there, and with a registry that starts after them.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Engine } from './lib/engine.mjs'
import { Peer } from './lib/peer.mjs'
import { endAll, Process } from './lib/process.mjs'
import { Inbox } from './lib/wait.mjs'

const e2e = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const examples = resolve(e2e, '..', '..', 'examples')
const python = join(e2e, '.venv', 'new', 'bin', 'python')
const built = process.env.E2E_RUST_EXAMPLES ?? join(dirname(process.env.SKILLS_BIN), 'examples')

// Building these takes the whole SDK, so they are run when they are there. Insisted on
// and missing is a failure.
const missing = process.env.E2E_RUST !== '1' && !existsSync(join(built, 'demo-worker'))
const skip = missing && 'not built; E2E_RUST=1 insists on it'

// `waiting` is what a worker says when nothing answers; the Python SDK does not come back
// from connecting before there is an engine, or half a minute has passed.
const EXAMPLES = {
  Node: { worker: [process.execPath, join(examples, 'node', 'index.mjs')], waiting: 'trying again' },
  Python: { worker: [python, join(examples, 'python', 'worker.py')], waiting: 'Connection failed' },
  Rust: { worker: [join(built, 'demo-worker')], waiting: 'trying again', skip },
}

let engine
let reader

before(async () => {
  engine = await Engine.start()
  reader = await Peer.start('node_new', engine.url, { name: 'reader' })
})
after(endAll)

/** An example under way. */
class Example extends Process {
  #lines = new Inbox()
  #errors = new Inbox()

  constructor(language) {
    const [command, ...args] = EXAMPLES[language].worker
    super(`the worker in ${language}`, command, args, {
      env: { III_URL: engine.url },
      onLine: (line) => this.#lines.put(line),
      onErrorLine: (line) => this.#errors.put(line),
    })
  }

  /** It prints exactly this line. */
  printed(text) {
    return this.#wait(this.#lines, (line) => line === text, `print "${text}"`)
  }

  /** It complains, in a line with these words. */
  complained(words) {
    return this.#wait(this.#errors, (line) => line.includes(words), `say "${words}" on stderr`)
  }

  #wait(inbox, fits, what) {
    return inbox.next(fits, `${this.name} to ${what}`).catch((error) => {
      throw new Error(`${error.message}\n${this.words}`)
    })
  }
}

async function published(language) {
  const skill = await reader.call('skills::resources-read', { uri: 'iii://demo' })
  assert.match(skill.contents[0].text, /\(iii:\/\/fn\/demo\/guide\)/)
  const section = await reader.call('skills::resources-read', { uri: 'iii://fn/demo/guide' })
  assert.equal(section.contents[0].text, `# Demo guide\n\nWritten just now by the ${language} worker.\n`)

  const { prompts } = await reader.call('prompts::mcp-list', {})
  const args = [{ name: 'name', description: 'Whom to greet', required: true }]
  assert.deepEqual(prompts.find(({ name }) => name === 'greet').arguments, args)
  const { messages } = await reader.call('prompts::mcp-get', { name: 'greet', arguments: { name: 'Ada' } })
  assert.deepEqual(messages, [{ role: 'user', content: { type: 'text', text: 'Greet Ada warmly.' } }])
  await assert.rejects(reader.call('prompts::mcp-get', { name: 'greet', arguments: {} }), /`name` is missing/)
}

for (const [language, { skip = false, waiting }] of Object.entries(EXAMPLES)) {
  test(`the worker in ${language} publishes, answers, hears of changes and stops`, { skip }, async (t) => {
    const example = new Example(language)
    t.after(() => example.end())
    await example.printed('published')
    // The notice about the skill is not asked for: the Node SDK sends a call that waited
    // for the connection ahead of its introduction, and a worker's subscriptions count
    // from its introduction. By the second call all are introduced.
    await example.printed('changed: register greet')
    await published(language)

    await reader.call('skills::register', { id: 'other', skill: '# other\n' })
    await example.printed('changed: register other')
    await reader.call('skills::unregister', { id: 'other' })
    await example.printed('changed: unregister other')

    const { code } = await example.end('SIGINT')
    assert.equal(code, 0, example.words)
  })

  test(`the worker in ${language} waits for a registry that starts later`, { skip }, async (t) => {
    await engine.kill()
    const example = new Example(language)
    t.after(() => example.end())
    await example.complained(waiting)
    await engine.start()
    await example.printed('published')
    await reader.callable()
    await published(language)
  })
}
