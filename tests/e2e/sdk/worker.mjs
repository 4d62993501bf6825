// A worker on the Node SDK. The harness (lib/peer.mjs) writes commands to stdin and
// reads answers and events from stdout. Arguments: the SDK's package, the engine's
// address, and a name that prefixes every id.

import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'

// The SDK logs to the console, and stdout belongs to the harness.
for (const level of ['log', 'info', 'debug', 'warn']) console[level] = console.error

const [sdk, url, name] = process.argv.slice(2)
const { registerWorker, TriggerAction } = await import(sdk)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)

const token = process.env.III_TOKEN
const headers = token ? { Authorization: `Bearer ${token}` } : undefined
const iii = registerWorker(url, { workerName: name, headers })
const subscribers = new Map()
const subscriptions = new Map()

// 64 bytes of UTF-8, not all of them ASCII.
const UNIT = `${'0123456789abcdef'.repeat(4).slice(2)}é`
const make = (bytes) => UNIT.repeat(bytes / 64)
const measure = (text) => ({
  bytes: Buffer.byteLength(text),
  sha256: createHash('sha256').update(text).digest('hex'),
})

const functions = {
  echo: async (input) => input,
  fail: async ({ message }) => {
    throw new Error(message)
  },
  nothing: async () => null,
  hear: async (data) => say({ event: 'heard', data }),
  hang: async () => {
    say({ event: 'hanging' })
    return new Promise(() => {})
  },
  make: async ({ bytes }) => ({ text: make(bytes) }),
  measure: async ({ text }) => measure(text),
  guide: async () => ({ content: `# Guide of ${name}\n` }),
  greet: async ({ who }) => ({ content: `${name} greets ${who}` }),
}
for (const [id, handler] of Object.entries(functions)) {
  iii.registerFunction(`${name}::${id}`, handler, { description: `${id} of ${name}` })
}

iii.registerTriggerType(
  { id: `${name}::on-knock`, description: 'Somebody knocks.' },
  {
    registerTrigger: async ({ id, function_id, config }) => {
      if (config.refuse) throw new Error('not at home')
      subscribers.set(id, function_id)
      say({ event: 'subscriber', op: 'added', trigger: id, function_id, config })
    },
    unregisterTrigger: async ({ id }) => {
      subscribers.delete(id)
      say({ event: 'subscriber', op: 'removed', trigger: id })
    },
  },
)

// On a busy machine 15 MiB there and back take most of the SDK's usual half minute.
const big = (function_id, payload) => iii.trigger({ function_id, payload, timeoutMs: 120_000 })

const commands = {
  call: ({ function_id, payload, timeout_ms }) => iii.trigger({ function_id, payload, timeoutMs: timeout_ms }),
  void: ({ function_id, payload }) => iii.trigger({ function_id, payload, action: TriggerAction.Void() }),
  // Big texts stay here: the harness sees their size and hash.
  send_big: async ({ function_id, bytes }) => measure((await big(function_id, { text: make(bytes) })).text),
  take_big: async ({ function_id, bytes }) => measure((await big(function_id, { bytes })).text),
  give_big: ({ function_id, bytes }) => big(function_id, { text: make(bytes) }),
  measure: async ({ bytes }) => measure(make(bytes)),
  offer: async ({ function_id, description }) => {
    iii.registerFunction(function_id, functions.echo, { description })
  },
  subscribe: async ({ trigger_type, function_id, config }) => {
    subscriptions.set(trigger_type, iii.registerTrigger({ type: trigger_type, function_id, config }))
  },
  unsubscribe: async ({ trigger_type }) => subscriptions.get(trigger_type).unregister(),
  fire: async ({ payload }) => {
    for (const function_id of subscribers.values()) await iii.trigger({ function_id, payload, action: TriggerAction.Void() })
    return subscribers.size
  },
}

const lines = createInterface({ input: process.stdin })
lines.on('line', async (line) => {
  const { id, do: what, ...rest } = JSON.parse(line)
  try {
    say({ id, ok: (await commands[what](rest)) ?? null })
  } catch (error) {
    say({ id, error: { code: error.code ?? null, message: error.message } })
  }
})
// The harness is gone, and so is the reason to be.
lines.on('close', () => process.exit(0))
say({ event: 'up' })
