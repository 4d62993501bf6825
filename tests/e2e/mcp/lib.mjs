// A registry with something in it, for the suites of this folder: `skills serve` and the worker
// with the fixtures, and programs run to their end.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Engine } from '../sdk/lib/engine.mjs'
import { folder, Process } from '../sdk/lib/process.mjs'
import { Inbox, within } from '../sdk/lib/wait.mjs'

export const here = dirname(fileURLToPath(import.meta.url))
export const binary = resolve(process.env.SKILLS_BIN ?? 'target/debug/skills')

/** `skills serve` with these options, filled. */
export async function start(...options) {
  const engine = await Engine.start(...options)
  const lines = new Inbox()
  const worker = new Process('fixtures', process.execPath, [join(here, 'fixtures.mjs'), engine.url], {
    env: { III_URL: engine.url },
    onLine: (line) => lines.put(line),
  })
  await lines.next((line) => line === 'ready', 'the fixtures to be registered').catch((error) => {
    throw new Error(`${error.message}\n${worker.words}`)
  })
  return engine
}

/** The command of `skills mcp`, with a data directory of its own or through an engine. */
export function command(engine) {
  // No engine listens at the address of a reserved port, so it runs without one.
  const url = engine?.url ?? 'ws://127.0.0.1:1'
  return [binary, 'mcp', '--url', url, '--data-dir', folder()]
}

/** Node 22 or newer, which the suites and the Inspector need: the one that runs this, or the one in
 * the lock file, which is there for Linux. */
export function newNode() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath
  const packaged = join(here, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (!existsSync(packaged)) throw new Error(`this needs Node 22; run it with that, for there is none at ${packaged}`)
  return packaged
}

const home = folder()

/** Runs a program to its end; answers its exit code and all that it said. */
export async function run(name, args, { ms = 120_000, cwd = folder(), env = {} } = {}) {
  // Whatever it writes stays in a folder that is gone when this process is.
  const child = spawn(name, args, { cwd, env: { ...process.env, HOME: home, NO_COLOR: '1', ...env } })
  child.stdin.end()
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += text))
  child.stderr.on('data', (text) => (stderr += text))
  const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  try {
    return { code: await within(ended, `${name} ${args.join(' ')} to end`, ms), stdout, stderr }
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`${error.message}\n${stdout}\n${stderr}`)
  }
}
