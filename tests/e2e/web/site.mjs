// A registry with skills of every origin, prompts and functions, and pages of it in a browser.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Engine } from '../sdk/lib/engine.mjs'
import { Peer } from '../sdk/lib/peer.mjs'
import { folder } from '../sdk/lib/process.mjs'

/** Files below a new folder. */
export function files(contents) {
  const root = folder()
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

const FILES = {
  'guides/style.md': '# Style guide\n\nHow texts are written here.\n\nSee [the words](words.md) and [nothing](absent.md).\n',
  'guides/words.md': '# Words\n\nWhich words to use.\n\n## Colours\n\nred, green\n',
  'filed.md': '# From a file\n\nA text that is hidden.\n',
  'pdf/SKILL.md': '---\nname: pdf\ndescription: Fill and merge PDF forms.\n---\n\n# PDF\n\nRead [the reference](reference.md).\n',
  'pdf/reference.md': '# Reference\n\nFields of a form.\n',
}

const LETTER = `---
description: Writes a letter.
arguments:
  - name: to
    description: The reader
    required: true
  - name: tone
    enum: [short, formal]
    default: short
---
A {{tone}} letter to {{to}}.
`

const RESEND = `---
description: Sends mail with Resend.
triggers: [send an email]
---
# Resend

Send mail. For a single message read [email](iii://resend/email), for style [the guide](iii://guides/style).
`

/** `skills serve` on a folder, and a worker in a process of its own that has published. */
export async function startSite(...options) {
  const root = files(FILES)
  const config = files({ 'config.yaml': 'prompts: [prompts/*.md]\n', 'prompts/letter.md': LETTER })
  const engine = await Engine.start(root, '--config', join(config, 'config.yaml'), ...options)
  const token = options[options.indexOf('--token') + 1]
  const worker = await Peer.start('node_new', engine.url, options.includes('--token') ? { env: { III_TOKEN: token } } : undefined)
  // An older version, a skill that hides a file, and one that is gone.
  await worker.call('skills::register', { id: 'resend', skill: '# Resend\n\nSend mail, all of it at once.\n' })
  await worker.call('skills::register', { id: 'resend', skill: RESEND })
  await worker.call('skills::register', { id: 'filed', skill: '# From a worker\n\nA text that hides one.\n' })
  await worker.call('skills::register', { id: 'former', skill: '# Former\n\nA text that was.\n' })
  await worker.call('skills::unregister', { id: 'former' })
  await worker.call('skills::register', { id: 'resend/email', skill: '# One email\n\nCall `resend::send` with to, subject and text.\n' })
  await worker.call('skills::register', { id: 'billing/refunds', skill: '# Refunds\n\nHow a payment is returned.\n' })
  await worker.call('prompts::register', {
    name: 'greet',
    description: 'Greets a person',
    function_id: 'node_new::greet',
    arguments: [{ name: 'who', description: 'The person', required: true }],
  })
  return { engine, worker, root, at: (path) => new URL(path, engine.http).href }
}

/** A page that fails the test when a script of it fails or it asks another server for something. */
export async function open(context, address) {
  const page = await context.newPage()
  const problems = []
  const { origin } = new URL(address)
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) problems.push(`requested ${url}`)
  })
  page.on('console', (message) => {
    // The browser reports the status of a page that is meant to be an error.
    const isStatus = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isStatus) problems.push(message.text())
  })
  await page.goto(address)
  return Object.assign(page, { assertSound: () => assert.deepEqual(problems, []) })
}
