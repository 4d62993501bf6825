// Big payloads, in both directions, between every pair of SDKs.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Engine } from './lib/engine.mjs'
import { pairs, SDKS, startAll } from './lib/peer.mjs'
import { endAll } from './lib/process.mjs'

// SDKs send a message as one frame, and engines close the connection on a frame above 16 MiB.
const BIG = 15 * 1024 * 1024
// Room for what the message says besides the text.
const ENVELOPE = 4096

let engine
let peers

before(async () => {
  engine = await Engine.start()
  peers = await startAll(engine.url)
})
after(endAll)

// The old Python SDK writes `é` as six bytes of escape: 64 bytes of text become 68.
const room = (sdk) => Math.floor((SDKS[sdk].inbound - ENVELOPE) / 68) * 64
const size = (...sdks) => Math.min(BIG, ...sdks.map(room))
const mib = (bytes) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`

// An echo is limited by both: the callee takes the call in, the caller the answer.
pairs((from, to) => {
  const bytes = size(from, to)
  test(`${from} sends ${mib(bytes)} to ${to} and gets it back`, async () => {
    const echoed = await peers[from].ask({ do: 'send_big', function_id: `${to}::echo`, bytes })
    assert.deepEqual(echoed, await peers[from].ask({ do: 'measure', bytes }))
    assert.equal(echoed.bytes, bytes)
  })
})

// What the old Python SDK cannot take in it can still send: 15 MiB as a call and as an answer.
test(`python_old sends ${mib(BIG)} as a call`, async () => {
  const got = await peers.python_old.ask({ do: 'give_big', function_id: 'python_new::measure', bytes: BIG })
  assert.deepEqual(without(got), await peers.python_new.ask({ do: 'measure', bytes: BIG }))
})
test(`python_old sends ${mib(BIG)} as an answer`, async () => {
  const got = await peers.node_new.ask({ do: 'take_big', function_id: 'python_old::make', bytes: BIG })
  assert.deepEqual(got, await peers.node_new.ask({ do: 'measure', bytes: BIG }))
})

// Its WebSocket library closes the connection on a message above 1 MiB. The caller
// gets the error at once, other workers are not affected, and the worker reconnects.
test('python_old cannot take more than 1 MiB, and recovers from it', async () => {
  const tooBig = peers.node_new.ask({ do: 'give_big', function_id: 'python_old::measure', bytes: 2 * 1024 * 1024 })
  await assert.rejects(tooBig, { code: 'invocation_stopped' })
  assert.equal(await peers.node_new.call('python_new::echo', 'still here'), 'still here')
  await peers.python_old.callable()
  assert.equal(await peers.node_new.call('python_old::echo', 'back'), 'back')
})

const without = ({ _caller_worker_id, ...rest }) => rest
