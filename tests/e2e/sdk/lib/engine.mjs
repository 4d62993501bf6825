// `skills serve` as a child process: started on ports of its own, killed, started again.

import { resolve } from 'node:path'
import { folder, Process } from './process.mjs'
import { Inbox } from './wait.mjs'

const binary = resolve(process.env.SKILLS_BIN ?? 'target/debug/skills')

export class Engine {
  #process

  constructor(options = []) {
    this.data = folder()
    this.options = options
    // The first start takes free ports, the next ones the same again.
    this.url = 'ws://127.0.0.1:0'
    this.http = 'http://127.0.0.1:0'
  }

  static async start(...options) {
    const engine = new Engine(options)
    await engine.start()
    return engine
  }

  async start() {
    const lines = new Inbox()
    const args = ['serve', '--data-dir', this.data, '--url', this.url, '--http', new URL(this.http).host]
    this.#process = new Process('skills serve', binary, [...args, '--log-format', 'json', ...this.options], {
      onErrorLine: (line) => line.startsWith('{') && lines.put(JSON.parse(line)),
    })
    const ended = this.#process.gone.then(() => {
      throw new Error('skills serve ended before it was ready')
    })
    try {
      const ready = await Promise.race([lines.next(({ message }) => message === 'ready', '`ready` from skills serve'), ended])
      this.url = ready.workers
      this.http = new URL(ready.mcp).origin
    } catch (error) {
      throw new Error(`${error.message}\n${this.#process.words}`)
    }
  }

  /** As a power cut would. */
  async kill() {
    await this.#process.end('SIGKILL')
  }

  /** As an operator would; answers the exit code. */
  async stop() {
    return (await this.#process.end('SIGTERM')).code
  }
}
