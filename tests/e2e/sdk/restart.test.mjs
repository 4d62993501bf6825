// The engine dies with kill -9 and starts again on the same port and folder: every SDK
// reconnects, is callable, hears of changes, and finds what was stored.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Engine } from './lib/engine.mjs'
import { pairs, Peer, SDKS, startAll } from './lib/peer.mjs'
import { endAll } from './lib/process.mjs'
import { eventually } from './lib/wait.mjs'

let engine
let peers

before(async () => {
  engine = await Engine.start()
  peers = await startAll(engine.url)
})
after(endAll)

for (const sdk of Object.keys(SDKS)) {
  test(`a call to ${sdk} ends when it dies`, async () => {
    const name = `dying_${sdk}`
    const dying = await Peer.start(sdk, engine.url, { name })
    const calls = Object.values(peers).map((peer) => assert.rejects(peer.call(`${name}::hang`, {}), { code: 'invocation_stopped' }))
    for (const _ of calls) await dying.heard('hanging')
    await dying.kill()
    await Promise.all(calls)
  })
}

test('everybody publishes and subscribes', async () => {
  for (const [name, peer] of Object.entries(peers)) {
    await peer.call('skills::register', { id: name, skill: `# ${name}\n\nStored before the fall.\n` })
    await peer.call('prompts::register', { name, description: 'Greets', function_id: `${name}::greet` })
    await peer.ask({ do: 'subscribe', trigger_type: 'skills::on-change', function_id: `${name}::hear`, config: {} })
    await peer.ask({ do: 'subscribe', trigger_type: 'node_new::on-knock', function_id: `${name}::hear`, config: {} })
    await peers.node_new.heard('subscriber', ({ function_id }) => function_id === `${name}::hear`)
  }
})

test('the engine is killed and starts again', async () => {
  const { url } = engine
  await engine.kill()
  await engine.start()
  assert.equal(engine.url, url)
  for (const peer of Object.values(peers)) await peer.callable()
})

pairs((from, to) => {
  test(`${from} calls ${to} again`, async () => {
    assert.equal(await peers[from].call(`${to}::echo`, 'again'), 'again')
  })
})

for (const sdk of Object.keys(SDKS)) {
  test(`${sdk} finds everything as it was`, async () => {
    for (const other of Object.keys(SDKS)) {
      const { contents } = await peers[sdk].call('skills::resources-read', { uri: `iii://${other}` })
      assert.match(contents[0].text, /Stored before the fall/)
      const { messages } = await peers[sdk].call('prompts::mcp-get', { name: other, arguments: { who: sdk } })
      assert.equal(messages[0].content.text, `${other} greets ${sdk}`)
    }
  })

  test(`${sdk} hears of changes again`, async () => {
    // The SDK registers its triggers after its functions, so being callable is not yet
    // being subscribed.
    const listed = async () => {
      const { registered_triggers } = await peers[sdk].call('engine::registered-triggers::list', {})
      return registered_triggers.filter(({ function_id }) => function_id === `${sdk}::hear`).length === 2
    }
    await eventually(listed, `the triggers of ${sdk} to be listed again`)
    const id = `after-${sdk}`.replace('_', '-')
    await peers.node_old.call('skills::register', { id, skill: '# after\n' })
    await peers[sdk].heard('heard', ({ data }) => data.op === 'register' && data.id === id)
  })
}

test('a trigger type of a worker fires again', async () => {
  for (const name of Object.keys(peers)) {
    await peers.node_new.heard('subscriber', ({ op, function_id }) => op === 'added' && function_id === `${name}::hear`)
  }
  await peers.node_new.ask({ do: 'fire', payload: { knock: 'again' } })
  for (const peer of Object.values(peers)) await peer.heard('heard', ({ data }) => data.knock === 'again')
})
