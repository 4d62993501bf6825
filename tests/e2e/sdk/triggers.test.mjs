// Trigger types and triggers between the SDKs: every SDK provides a type, and every SDK
// subscribes to it.

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

// The 0.11 SDKs have no case for the message that says a subscriber left.
const hearsLeaving = (sdk) => sdk.endsWith('_new')

const by = (name) => ({ function_id }) => function_id === `${name}::hear`

pairs((provider, subscriber) => {
  test(`${subscriber} subscribes to a trigger type of ${provider}`, async () => {
    const trigger_type = `${provider}::on-knock`
    const config = { door: 'back', by: subscriber }
    await peers[subscriber].ask({ do: 'subscribe', trigger_type, function_id: `${subscriber}::hear`, config })
    const added = await peers[provider].heard('subscriber', by(subscriber))
    assert.equal(added.op, 'added')
    assert.deepEqual(added.config, config)

    const knock = { knock: `${provider} to ${subscriber}` }
    const ours = ({ data }) => data.knock === knock.knock
    assert.ok((await peers[provider].ask({ do: 'fire', payload: knock })) >= 1)
    await peers[subscriber].heard('heard', ours)

    await peers[subscriber].ask({ do: 'unsubscribe', trigger_type })
    if (hearsLeaving(provider)) {
      await peers[provider].heard('subscriber', ({ op, trigger }) => op === 'removed' && trigger === added.trigger)
      assert.equal(await peers[provider].ask({ do: 'fire', payload: knock }), 0)
    }
    // One knock was heard, once.
    await peers[provider].call(`${subscriber}::echo`, {})
    const heard = peers[subscriber].left('heard', ours)
    assert.deepEqual(heard, [])
  })
})

for (const sdk of Object.keys(SDKS)) {
  test(`a trigger waits for its type, which ${sdk} brings later`, async () => {
    const name = `late_${sdk}`
    const trigger_type = `${name}::on-knock`
    for (const [subscriber, peer] of Object.entries(peers)) {
      await peer.ask({ do: 'subscribe', trigger_type, function_id: `${subscriber}::hear`, config: { parked: true } })
    }
    const late = await Peer.start(sdk, engine.url, { name })
    for (const subscriber of Object.keys(peers)) await late.heard('subscriber', by(subscriber))
    assert.equal(await late.ask({ do: 'fire', payload: { from: name } }), Object.keys(peers).length)
    for (const peer of Object.values(peers)) await peer.heard('heard', ({ data }) => data.from === name)
    await late.kill()
  })

  test(`${sdk} vanishes, and the providers lose its triggers`, async () => {
    const name = `brief_${sdk}`
    const brief = await Peer.start(sdk, engine.url, { name })
    const providers = Object.keys(peers).filter(hearsLeaving)
    for (const provider of providers) {
      await brief.ask({ do: 'subscribe', trigger_type: `${provider}::on-knock`, function_id: `${name}::hear`, config: {} })
    }
    const added = {}
    for (const provider of providers) added[provider] = await peers[provider].heard('subscriber', by(name))
    await brief.kill()
    for (const provider of providers) {
      const ours = ({ op, trigger }) => op === 'removed' && trigger === added[provider].trigger
      await peers[provider].heard('subscriber', ours)
    }
    const gone = peers.node_new.call(`${name}::echo`, {})
    await assert.rejects(gone, { code: 'function_not_found' })
  })
}

test('a subscriber is told when a provider refuses its trigger', async () => {
  for (const provider of Object.keys(SDKS)) {
    const trigger_type = `${provider}::on-knock`
    await peers.node_new.ask({ do: 'subscribe', trigger_type, function_id: 'node_new::hear', config: { refuse: true } })
    await peers.node_new.said(`(${trigger_type}): not at home`)
  }
})
