// A worker on one of the official SDKs, in a process of its own, driven with one JSON
// object a line: worker.mjs and worker.py answer the same commands.

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Process } from './process.mjs'
import { eventually, Inbox } from './wait.mjs'

const here = dirname(dirname(fileURLToPath(import.meta.url)))
const e2e = dirname(here)
const python = (era) => join(e2e, '.venv', era, 'bin', 'python')

const MIB = 1024 * 1024
// Longer than any worker waits for a call of its own.
const ANSWER_MS = 150_000

/** Every SDK under test. `inbound` is the largest message it can take in. */
export const SDKS = {
  node_new: { command: process.execPath, args: [join(here, 'worker.mjs'), 'iii-new'], inbound: 100 * MIB },
  node_old: { command: process.execPath, args: [join(here, 'worker.mjs'), 'iii-old'], inbound: 100 * MIB },
  python_new: { command: python('new'), args: [join(here, 'worker.py')], inbound: 64 * MIB },
  // It leaves the limit of its WebSocket library in place, and that is 1 MiB.
  python_old: { command: python('old'), args: [join(here, 'worker.py')], inbound: MIB },
}

export class Peer {
  #process
  #inbox = new Inbox()
  #log = new Inbox()
  #asked = 0

  constructor(sdk, url, { name = sdk, env = {} } = {}) {
    this.sdk = sdk
    this.name = name
    const { command, args } = SDKS[sdk]
    this.#process = new Process(name, command, [...args, url, name], {
      // The old Python SDK sends its telemetry here, whatever address it was given.
      env: { III_URL: url, ...env },
      onLine: (line) => this.#inbox.put(JSON.parse(line)),
      onErrorLine: (line) => this.#log.put(line),
    })
  }

  /** Starts it, and waits until it is up and others can call it. */
  static async start(sdk, url, options) {
    const peer = new Peer(sdk, url, options)
    await peer.heard('up')
    await peer.callable()
    return peer
  }

  /** Its functions are known to the engine, as the engine tells it. */
  callable() {
    const listed = async () => {
      const { functions } = await this.call('engine::functions::list', { prefix: `${this.name}::` })
      return functions.some(({ function_id }) => function_id === `${this.name}::echo`)
    }
    return eventually(listed, `${this.name} to be listed by the engine`).catch((error) => this.#explain(error))
  }

  /** Has the worker do something; its errors come back with the SDK's `code`. */
  async ask(command) {
    const id = ++this.#asked
    if (!this.#process.alive) this.#explain(new Error(`${this.name} is gone`))
    this.#process.child.stdin.write(`${JSON.stringify({ id, ...command })}\n`)
    const answer = await this.#inbox
      .next((line) => line.id === id, `${this.name} to answer ${command.do} ${command.function_id ?? ''}`, ANSWER_MS)
      .catch((error) => this.#explain(error))
    if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code })
    return answer.ok
  }

  call(function_id, payload, timeout_ms) {
    return this.ask({ do: 'call', function_id, payload, timeout_ms })
  }

  /** The next event of a kind, in order. */
  heard(event, fits = () => true, ms) {
    return this.#inbox
      .next((line) => line.event === event && fits(line), `${this.name} to report ${event}`, ms)
      .catch((error) => this.#explain(error))
  }

  /** The SDK logs a line with these words. */
  said(words) {
    return this.#log.next((line) => line.includes(words), `${this.name} to log ${words}`).catch((error) => this.#explain(error))
  }

  /** Events of a kind that no test waited for. */
  left(event, fits = () => true) {
    return this.#inbox.left((line) => line.event === event && fits(line))
  }

  kill() {
    return this.#process.end('SIGKILL')
  }

  #explain(error) {
    throw new Error(`${error.message}\n${this.#process.words}`, { cause: error })
  }
}

/** One peer for every SDK, by name. */
export async function startAll(url) {
  const peers = await Promise.all(Object.keys(SDKS).map((sdk) => Peer.start(sdk, url)))
  return Object.fromEntries(peers.map((peer) => [peer.name, peer]))
}

/** Calls a function with every pair of SDKs, each with itself too. */
export function pairs(each) {
  for (const from of Object.keys(SDKS)) for (const to of Object.keys(SDKS)) each(from, to)
}
