// The registry as each SDK sees it: publish, list, read, render, and hear of changes.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Engine } from './lib/engine.mjs'
import { SDKS, startAll } from './lib/peer.mjs'
import { endAll } from './lib/process.mjs'
import { eventually } from './lib/wait.mjs'

let engine
let peers

before(async () => {
  engine = await Engine.start()
  peers = await startAll(engine.url)
})
after(endAll)

const notice = (change) => ({ data }) => Object.entries(change).every(([key, value]) => data[key] === value)

const REFUSED = [
  ['skills::register', { id: 'Not Valid', skill: 'x' }, 'invalid_input', /Not Valid/],
  ['skills::register', { id: 'fn/guide', skill: 'x' }, 'invalid_input', /`fn`/],
  ['skills::register', { id: 'empty', skill: ' ' }, 'invalid_input', /skill/],
  ['skills::register', { id: 5, skill: 'x' }, 'invalid_input', /`id`/],
  ['skills::resources-read', { uri: 'iii://no/such' }, 'not_found', /no\/such/],
  ['skills::resources-read', { uri: 'iii://fn/no/such' }, 'not_found', /no::such/],
  ['skills::resources-read', { uri: 'iii://fn/state/set' }, 'forbidden', /state::set/],
  ['prompts::mcp-get', { name: 'no-such' }, 'not_found', /no-such/],
]

for (const sdk of Object.keys(SDKS)) {
  const id = `team/${sdk}`
  const body = `# ${sdk}\n\nWhat ${sdk} can do. See the [guide](iii://fn/${sdk}/guide).\n`

  test(`${sdk} hears of changes`, async () => {
    for (const trigger_type of ['skills::on-change', 'prompts::on-change']) {
      await peers[sdk].ask({ do: 'subscribe', trigger_type, function_id: `${sdk}::hear`, config: {} })
    }
    const subscribed = async () => {
      const { registered_triggers } = await peers[sdk].call('engine::registered-triggers::list', {})
      return registered_triggers.filter(({ function_id }) => function_id === `${sdk}::hear`).length === 2
    }
    await eventually(subscribed, `the triggers of ${sdk} to be listed`)
  })

  test(`${sdk} publishes a skill that everybody can read`, async () => {
    const { id: stored, registered_at } = await peers[sdk].call('skills::register', { id, skill: body })
    assert.equal(stored, id)
    assert.ok(Date.parse(registered_at) > 0, registered_at)
    await peers[sdk].heard('heard', notice({ op: 'register', id }))

    for (const [name, reader] of Object.entries(peers)) {
      const { contents } = await reader.call('skills::resources-read', { uri: `iii://${id}` })
      assert.deepEqual(contents, [{ uri: `iii://${id}`, mimeType: 'text/markdown', text: body }], name)
      const index = await reader.call('skills::resources-read', { uri: 'iii://skills' })
      assert.match(index.contents[0].text, new RegExp(`iii://${id}`), name)
    }
    const { skills } = await peers[sdk].call('skills::list', {})
    assert.ok(skills.some((skill) => skill.id === id && skill.bytes === body.length), JSON.stringify(skills))
    const fetched = await peers[sdk].call('skill::fetch', { uris: [`iii://${id}`, `iii://fn/${sdk}/guide`] })
    assert.match(JSON.stringify(fetched), new RegExp(`What ${sdk} can do.*Guide of ${sdk}`))
  })

  test(`${sdk} publishes a live section that everybody can read`, async () => {
    for (const [name, reader] of Object.entries(peers)) {
      const { contents } = await reader.call('skills::resources-read', { uri: `iii://fn/${sdk}/guide` })
      assert.equal(contents[0].text, `# Guide of ${sdk}\n`, name)
      assert.equal(contents[0].mimeType, 'text/markdown')
    }
  })

  test(`${sdk} publishes a slash command that everybody can call`, async () => {
    const name = `greet-${sdk}`
    const args = [{ name: 'who', description: 'Whom to greet', required: true }]
    const prompt = { name, description: 'Compose a greeting', arguments: args, function_id: `${sdk}::greet` }
    assert.equal((await peers[sdk].call('prompts::register', prompt)).name, name)
    await peers[sdk].heard('heard', notice({ op: 'register', name }))

    const { prompts } = await peers[sdk].call('prompts::mcp-list', {})
    assert.deepEqual(prompts.find((prompt) => prompt.name === name).arguments, args)
    for (const caller of Object.keys(peers)) {
      const got = await peers[caller].call('prompts::mcp-get', { name, arguments: { who: caller } })
      const content = { type: 'text', text: `${sdk} greets ${caller}` }
      assert.deepEqual(got.messages, [{ role: 'user', content }], caller)
    }
  })

  test(`${sdk} is told why something is refused`, async () => {
    for (const [function_id, payload, code, message] of REFUSED) {
      await assert.rejects(peers[sdk].call(function_id, payload), { code, message }, JSON.stringify(payload))
    }
  })
}

test('every subscriber hears of every change once', async () => {
  const id = 'once'
  await peers.node_new.call('skills::register', { id, skill: '# once\n' })
  assert.deepEqual((await peers.python_new.call('skills::unregister', { id })).removed, true)
  assert.deepEqual((await peers.python_old.call('skills::unregister', { id })).removed, false)
  for (const [name, peer] of Object.entries(peers)) {
    await peer.heard('heard', notice({ op: 'register', id }))
    await peer.heard('heard', notice({ op: 'unregister', id }))
    await peer.call(`${name}::echo`, {})
    assert.deepEqual(peer.left('heard', notice({ id })), [], name)
  }
})
