// Child processes that never outlive the suite, and whose last words are kept.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { within } from './wait.mjs'

const KEPT_LINES = 30
const running = new Set()
const folders = new Set()

process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

/** Ends whatever still runs; a suite is over when nothing of it is left. */
export async function endAll() {
  const ends = [...running].map((child) => once(child, 'exit'))
  for (const child of running) child.kill('SIGKILL')
  await within(Promise.all(ends), 'every process to end')
}

/** A folder that is gone when this process is. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'skills-e2e-'))
  folders.add(path)
  return path
}

// The Python SDK leaves notes about its processes in the home directory.
const home = folder()

/** Nothing of the outer environment that an SDK or the registry would obey. */
function environment(extra) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(III_|SKILLS_|OTEL_|RUST_LOG|NODE_TEST_CONTEXT)/.test(name))
  return { ...Object.fromEntries(kept), HOME: home, PYTHONUNBUFFERED: '1', ...extra }
}

export class Process {
  #words = []

  constructor(name, command, args, { cwd, env = {}, onLine = () => {}, onErrorLine = () => {} } = {}) {
    this.name = name
    this.child = spawn(command, args, { cwd, env: environment(env), stdio: 'pipe' })
    this.gone = once(this.child, 'exit')
    // A test that needs the exit awaits `gone`; others need not.
    this.gone.catch(() => {})
    // One that cannot be started never exits.
    this.child.on('error', (error) => {
      this.#words.push(String(error))
      running.delete(this.child)
    })
    // Writing to a process that has just ended must not end the suite.
    this.child.stdin.on('error', () => {})
    running.add(this.child)
    this.child.once('exit', () => running.delete(this.child))
    createInterface({ input: this.child.stdout }).on('line', onLine)
    createInterface({ input: this.child.stderr }).on('line', (line) => {
      this.#words = [...this.#words, line].slice(-KEPT_LINES)
      onErrorLine(line)
    })
  }

  /** What it last said on stderr, for an error message. */
  get words() {
    return `${this.name} said:\n${this.#words.map((line) => `  ${line}`).join('\n')}`
  }

  get alive() {
    return running.has(this.child)
  }

  /** Ends it and waits until it is gone; answers its exit code and signal. */
  async end(signal = 'SIGKILL') {
    if (this.alive) this.child.kill(signal)
    const [code, by] = await within(this.gone, `${this.name} to end after ${signal}`)
    return { code, signal: by }
  }
}
