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

  for (const [what, env] of [['no token', {}], ['another token', { III_TOKEN: 'a guess' }]]) {
    test(`${sdk} stays out with ${what}`, async () => {
      const peer = new Peer(sdk, engine.url, { env })
      await peer.said('401')
      await peer.kill()
    })
  }
}
