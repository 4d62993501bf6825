// With `--token`, only workers that know it get in.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Engine } from './lib/engine.mjs'
import { Peer, SDKS } from './lib/peer.mjs'
import { endAll } from './lib/process.mjs'

const TOKEN = 'a long secret'

let engine

before(async () => {
  engine = await Engine.start('--token', TOKEN)
})
after(endAll)

for (const sdk of Object.keys(SDKS)) {
  test(`${sdk} gets in with the token`, async () => {
    const peer = await Peer.start(sdk, engine.url, { env: { III_TOKEN: TOKEN } })
    assert.equal(await peer.call(`${sdk}::echo`, 'in'), 'in')
    assert.deepEqual((await peer.call('skills::list', {})).skills, [])
    await peer.kill()
  })

  // The old Python SDK gives up on such an answer without a word, and for good.
  if (sdk === 'python_old') continue
  for (const [what, env] of [['no token', {}], ['another token', { III_TOKEN: 'a guess' }]]) {
    test(`${sdk} stays out with ${what}`, async () => {
      const peer = new Peer(sdk, engine.url, { env })
      await peer.said('401')
      // In Node that line may be about the telemetry's connection; in Python connecting
      // does not come back.
      if (sdk.startsWith('node')) await assert.rejects(peer.call('skills::list', {}, 500), { code: 'TIMEOUT' })
      else assert.deepEqual(peer.left('up'), [])
      await peer.kill()
    })
  }
}
