// A worker that publishes one skill, one live section of it and one slash command,
// and hears every change of the registry.
//
// The engine is at `III_URL`, or ws://127.0.0.1:49134 without it.

import { setTimeout as sleep } from 'node:timers/promises'
import { registerWorker } from 'iii-sdk'

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 30_000

const iii = registerWorker(process.env.III_URL ?? 'ws://127.0.0.1:49134')

iii.registerFunction(
  'demo::guide',
  async () => ({ content: '# Demo guide\n\nWritten just now by the Node worker.\n' }),
  { description: 'The long version of the demo skill.' },
)

iii.registerFunction(
  'demo::greet',
  async ({ name }) => {
    // The registry does not check arguments; their handler does.
    if (typeof name !== 'string') throw new Error('`name` is missing')
    return { content: `Greet ${name} warmly.` }
  },
  { description: 'Writes the message of /greet.' },
)

iii.registerFunction('demo::changed', async ({ op, id, name }) => {
  console.log(`changed: ${op} ${id ?? name}`)
})
for (const type of ['skills::on-change', 'prompts::on-change']) {
  iii.registerTrigger({ type, function_id: 'demo::changed', config: {} })
}

process.once('SIGINT', stop)
process.once('SIGTERM', stop)

// On every start: what was stored by an older version of this worker is replaced.
await untilAccepted('skills::register', {
  id: 'demo',
  skill: `# demo

Shows how a worker publishes its knowledge.

Read the [guide](iii://fn/demo/guide) before calling anything; it is written when you ask.
`,
})
await untilAccepted('prompts::register', {
  name: 'greet',
  description: 'Compose a greeting',
  arguments: [{ name: 'name', description: 'Whom to greet', required: true }],
  function_id: 'demo::greet',
})
console.log('published')

/** Calls until it works: the registry may start after this worker. */
async function untilAccepted(function_id, payload) {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await iii.trigger({ function_id, payload, timeoutMs: 2_000 })
    } catch (error) {
      console.error(`${function_id}: ${error.message}; trying again in ${wait} ms`)
      await sleep(wait)
    }
  }
}

async function stop() {
  await iii.shutdown()
  process.exit(0)
}
