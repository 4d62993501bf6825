// Texts that try to run a script are placed wherever a page shows a text. The pages are opened without their policy,
// so that the escaping is tested and not what the policy stops; the policy has a test of its own.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { launch } from './browser.mjs'
import { INJECTIONS } from './injections.mjs'
import { open, startSite } from './site.mjs'

// Pages that are open at the same time.
const TABS = 4

let site
let browser

before(async () => {
  site = await startSite()
  browser = await launch()
  // A title is one line.
  const line = (text) => text.replaceAll('\n', ' ')
  for (const [number, text] of INJECTIONS.entries()) {
    await site.worker.call('skills::register', {
      id: `attack/${number}`,
      skill: `---\ntitle: ${JSON.stringify(line(text))}\ndescription: ${JSON.stringify(text)}\ntriggers: [${JSON.stringify(text)}]\n---\n# ${line(text)}\n\n${text}\n`,
    })
  }
})
after(async () => {
  await browser?.close()
  await endAll()
})

test('there are at least 200 texts', () => {
  assert.ok(new Set(INJECTIONS).size >= 200)
})

/** Opens pages, some at a time; none of them may call `xss`, show a dialog, or have an element with a handler. */
async function attack(paths) {
  const context = await browser.newContext({ bypassCSP: true })
  const executed = []
  await context.exposeBinding('xss', ({ page }) => executed.push(page.url()))
  const left = paths.values()
  await Promise.all(Array.from({ length: TABS }, () => attackInTab(context, left, executed)))
  await context.close()
  assert.deepEqual(executed, [])
}

async function attackInTab(context, paths, executed) {
  const page = await context.newPage()
  page.on('dialog', async (dialog) => {
    executed.push(`${page.url()}: ${dialog.message()}`)
    await dialog.dismiss()
  })
  for (const path of paths) {
    await page.goto(site.at(path))
    const live = await page.evaluate(() => {
      const handlers = [...document.querySelectorAll('*')].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith('on') || name === 'style' || name === 'srcdoc'))
      const scripts = [...document.querySelectorAll('script, iframe, object, embed, base, svg script')]
        .filter((element) => !(element.localName === 'script' && element.getAttribute('src')?.startsWith('/assets/')))
      const links = [...document.querySelectorAll('[href], [action], [formaction], [src]')].filter((element) =>
        ['href', 'action', 'formaction', 'src'].some((name) => /^\s*(javascript|data|vbscript):/i.test(element.getAttribute(name) ?? '')))
      return [...handlers, ...scripts.map(({ outerHTML }) => outerHTML), ...links.map(({ outerHTML }) => outerHTML)]
    })
    assert.deepEqual(live, [], `on ${path}`)
  }
}

const numbers = INJECTIONS.map((_, number) => number)
const encoded = (text) => encodeURIComponent(text.toWellFormed())
const PLACES = {
  'titles, descriptions, triggers and bodies': numbers.map((number) => `/skills/attack/${number}`),
  sources: numbers.map((number) => `/skills/attack/${number}?view=source`),
  'lists of skills': ['/', ...Array.from({ length: Math.ceil(numbers.length / 100) }, (_, page) => `/skills/attack/?page=${page + 1}`)],
  'addresses and their ids': INJECTIONS.map((text) => `/skills/${encoded(text)}`),
}
for (const [place, paths] of Object.entries(PLACES)) {
  test(`in ${place}`, () => attack(paths))
}

test('the policy of every page stops what would get through', async () => {
  const context = await browser.newContext()
  const executed = []
  await context.exposeBinding('xss', ({ page }) => executed.push(page.url()))
  const page = await context.newPage()
  for (const path of ['/', '/skills/resend', '/skills/absent', '/sign-in']) {
    const answer = await page.goto(site.at(path))
    assert.match(answer.headers()['content-security-policy'], /default-src 'none'/)
    const blocked = await page.evaluate(async () => {
      const seen = new Promise((resolve) => document.addEventListener('securitypolicyviolation', resolve, { once: true }))
      document.body.insertAdjacentHTML('beforeend', '<img src=/absent onerror=xss()>')
      return (await seen).effectiveDirective
    })
    assert.match(blocked, /script-src/)
  }
  await context.close()
  assert.deepEqual(executed, [])
})
