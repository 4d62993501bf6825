// The quickstarts of README.md and examples/README.md, run as they are printed there, with
// the output that is printed below them.

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
const text = (...path) => readFileSync(join(root, ...path), 'utf8')
const built = process.env.E2E_RUST_EXAMPLES ?? join(dirname(process.env.SKILLS_BIN), 'examples')
const LAST_LINE = 'Published. This worker stays up for its handlers; Ctrl-C ends it.'

/** The blocks of code below a heading, as `[language, text]`. */
function blocks(document, heading) {
  const section = document.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`))
  assert.ok(section, `there is a section "${heading}"`)
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map((block) => block.slice(1))
}

/** The lines that a document shows below the command that begins so. */
function outputBelow(document, heading, command) {
  for (const [language, text] of blocks(document, heading)) {
    const after = language === 'console' && text.split(/^\$ /m).find((part) => part.startsWith(command))
    if (after) return after.split('\n').slice(1, -1)
  }
  throw new Error(`"${heading}" has no output below "$ ${command}"`)
}

let engine
let reader

before(async () => {
  engine = await Engine.start()
  reader = await Peer.start('node_new', engine.url, { name: 'reader' })
})
after(endAll)

/** The names of the tools that MCP clients are shown. */
async function tools() {
  const meta = (key, value) => [`io.modelcontextprotocol/${key}`, value]
  const version = '2026-07-28'
  const _meta = Object.fromEntries([
    meta('protocolVersion', version),
    meta('clientInfo', { name: 'readme', version: '1' }),
    meta('clientCapabilities', {}),
  ])
  const response = await fetch(`${engine.http}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  })
  const body = await response.text()
  const json = body.startsWith('{') ? body : body.match(/^data: (\{.*)$/m)?.[1]
  assert.ok(json, body)
  return JSON.parse(json).result.tools.map(({ name }) => name)
}

/** Runs a quickstart to its last line, compares its output, then reads from outside. */
async function check(t, command, args, options, expected) {
  const printed = []
  const lines = new Inbox()
  const program = new Process('the quickstart', command, args, {
    ...options,
    env: { III_URL: engine.url },
    onLine: (line) => {
      // As the README says, some lines are the SDK's.
      if (!/^\[(iii|OTel)\] /.test(line)) printed.push(line)
      lines.put(line)
    },
  })
  t.after(() => program.end())
  const ended = program.gone.then(() => {
    throw new Error('the quickstart ended early')
  })
  ended.catch(() => {})
  try {
    await Promise.race([lines.next((line) => line === LAST_LINE, 'the last line of the quickstart'), ended])
  } catch (error) {
    throw new Error(`${error.message}\nIt printed:\n${printed.join('\n')}\n${program.words}`)
  }
  assert.deepEqual(printed, expected)

  // It stays up: its handlers answer others.
  const uris = ['iii://demo', 'iii://fn/demo/guide']
  assert.match(await reader.call('skill::fetch', { uris }), /When to greet\.[^]*The long version\./)
  const { messages } = await reader.call('prompts::mcp-get', { name: 'greet', arguments: { name: 'Ada' } })
  assert.equal(messages[0].content.text, 'Greet Ada warmly.')
  // Its handlers are there for the skill and the prompt, and no tools.
  assert.deepEqual((await tools()).filter((name) => name.startsWith('demo')), [])
  // The next one must not find this one's content.
  assert.equal((await reader.call('skills::unregister', { id: 'demo' })).removed, true)
  assert.equal((await reader.call('prompts::unregister', { name: 'greet' })).removed, true)
}

const readme = text('README.md')
const examples = text('examples', 'README.md')
const WORKER = 'Publish from a worker'

test('the quickstart in Node', async (t) => {
  const [[language, code]] = blocks(readme, WORKER)
  assert.equal(language, 'js')
  assert.equal(code, text('examples', 'node', 'quickstart.mjs'), 'the README shows examples/node/quickstart.mjs as it is')
  const expected = outputBelow(readme, WORKER, 'node quickstart.mjs')
  await check(t, process.execPath, ['quickstart.mjs'], { cwd: join(root, 'examples', 'node') }, expected)
})

test('the quickstart in Python', async (t) => {
  const python = join(e2e, '.venv', 'new', 'bin', 'python')
  const expected = outputBelow(examples, 'Quickstart', 'python quickstart.py')
  await check(t, python, ['quickstart.py'], { cwd: join(root, 'examples', 'python') }, expected)
})

const missing = process.env.E2E_RUST !== '1' && !existsSync(join(built, 'quickstart'))

test('the quickstart in Rust', { skip: missing && 'not built; E2E_RUST=1 insists on it' }, async (t) => {
  const expected = outputBelow(examples, 'Quickstart', 'cargo run --bin quickstart')
  await check(t, join(built, 'quickstart'), [], {}, expected)
})

test('the documents name the versions of the SDKs that the examples pin', () => {
  const node = JSON.parse(text('examples', 'node', 'package.json')).dependencies['iii-sdk']
  const python = text('examples', 'python', 'requirements.txt').match(/^iii-sdk==(.+)$/m)[1]
  const rust = text('examples', 'rust', 'Cargo.toml').match(/^iii-sdk = "=(.+)"$/m)[1]
  assert.ok(readme.includes(`npm install iii-sdk@${node}\n`), node)
  assert.ok(readme.includes(`iii-sdk ${node}:`), node)
  for (const [language, version] of [['Node', node], ['Python', python], ['Rust', rust]]) {
    assert.match(examples, new RegExp(`^\\| ${language} \\|.*\\| iii-sdk ${version} \\|`, 'm'))
  }
})
