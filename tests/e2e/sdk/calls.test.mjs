// Every SDK calls every SDK through the embedded engine: answers, errors, void calls.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Engine } from './lib/engine.mjs'
import { pairs, Peer, SDKS, startAll } from './lib/peer.mjs'
import { endAll } from './lib/process.mjs'

let engine
let peers

before(async () => {
  engine = await Engine.start()
  peers = await startAll(engine.url)
})
after(endAll)

// An object travels with its caller's id added; everything else travels as it is.
const VALUES = ['text', '', 0, 1.5, true, false, [], [1, null, { a: [] }], 'é€😀\u0000"\\\n']
const OBJECT = { none: null, deep: { list: [1, null, {}] }, 'clé': 'ü', whole: Number.MAX_SAFE_INTEGER, '': 0 }

pairs((from, to) => {
  test(`${from} calls ${to}`, async () => {
    const answers = []
    for (const value of VALUES) answers.push(await peers[from].call(`${to}::echo`, value))
    assert.deepEqual(answers, VALUES)

    const { _caller_worker_id: caller, ...object } = await peers[from].call(`${to}::echo`, OBJECT)
    assert.deepEqual(object, OBJECT)
    assert.match(caller, /^[0-9a-f-]{36}$/)

    assert.equal(await peers[from].call(`${to}::nothing`, {}), null)
  })

  test(`${from} hears what went wrong in ${to}`, async () => {
    const failing = peers[from].call(`${to}::fail`, { message: 'the well is dry' })
    await assert.rejects(failing, { code: 'invocation_failed', message: /the well is dry/ })

    const unknown = peers[from].call(`${to}::no-such`, {})
    await assert.rejects(unknown, { code: 'function_not_found', message: /no-such/ })

    const hanging = peers[from].call(`${to}::hang`, {}, 100)
    await assert.rejects(hanging, { code: 'TIMEOUT' })
    await peers[to].heard('hanging')
  })

  test(`${from} tells ${to} without waiting`, async () => {
    const note = `${from} was here`
    const ours = ({ data }) => data.note === note
    assert.equal(await peers[from].ask({ do: 'void', function_id: `${to}::hear`, payload: { note } }), null)
    await peers[to].heard('heard', ours)

    // The caller gets no error although no worker listens. Frames keep their order, so an answer to a
    // later call says that the void ones are through; none may have come twice.
    await peers[from].ask({ do: 'void', function_id: `${to}::no-such`, payload: {} })
    await peers[from].call(`${to}::echo`, {})
    assert.deepEqual(peers[to].left('heard', ours), [])
  })
})

test('many calls at once keep their answers apart', async () => {
  for (const [from, to] of [['node_new', 'python_old'], ['python_new', 'node_old']]) {
    const calls = Array.from({ length: 200 }, (_, n) => peers[from].call(`${to}::echo`, [n]))
    assert.deepEqual(await Promise.all(calls), Array.from({ length: 200 }, (_, n) => [n]))
  }
})

test('the engine lists every worker with its functions', async () => {
  const { workers } = await peers.node_new.call('engine::workers::list', {})
  const versions = { node_new: '0.22.1', node_old: '0.11.6', python_new: '0.25.0', python_old: '0.11.6' }
  for (const name of Object.keys(SDKS)) {
    const worker = workers.find((worker) => worker.name === name)
    assert.equal(worker?.runtime, name.split('_')[0])
    assert.equal(worker.version, versions[name])
    assert.equal(worker.status, 'connected')
  }
  const info = await peers.python_old.call('engine::functions::info', { function_id: 'node_old::echo' })
  assert.equal(info.description, 'echo of node_old')
})

test('a second worker of the same name is turned away, and the first stays', async () => {
  // The newest SDK is the one that tells; the old ones retry for ever. It always logs the
  // refusal, but whether it starts before it hears of it is a race of its own.
  const rival = new Peer('python_new', engine.url, { name: 'node_old' })
  await rival.said('WORKER_NAMESPACE_CONFLICT')
  await rival.kill()
  assert.equal(await peers.node_new.call('node_old::echo', 'mine'), 'mine')
  const { workers } = await peers.node_new.call('engine::workers::list', {})
  assert.deepEqual(workers.filter(({ name }) => name === 'node_old').map(({ runtime }) => runtime), ['node'])
})

test('an unknown function has no description', async () => {
  const asked = peers.node_old.call('engine::functions::info', { function_id: 'nobody::home' })
  await assert.rejects(asked, { code: 'NOT_FOUND' })
})

test('the engine ends cleanly while workers are connected', async () => {
  assert.equal(await engine.stop(), 0)
})
