// Texts that try to run a script are placed wherever a page shows a text. The pages are opened without their policy,
// so that the escaping is tested and not what the policy stops; the policy has a test of its own.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { INJECTIONS } from './injections.mjs'
import { open } from './site.mjs'
import { browser, site, suite } from './suite.mjs'

// Pages that are open at the same time.
const TABS = 4

suite([], async () => {
  await site.worker.call('prompts::register', {
    name: 'failing',
    description: 'Fails',
    function_id: 'node_new::fail',
    arguments: [{ name: 'message' }],
  })
  // A title is one line.
  const line = (text) => text.replaceAll('\n', ' ')
  // An owner has no control characters.
  const ownerOf = (text) => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 80).toWellFormed()
  for (const [number, text] of INJECTIONS.entries()) {
    await site.worker.call('prompts::register', {
      name: `attack-${number}`,
      description: text,
      function_id: 'node_new::greet',
      arguments: [{ name: text, description: text, required: true }],
    })
    // The first version, which the other follows.
    await site.worker.call('skills::register', {
      id: `attack/${number}`,
      skill: `---\ntitle: ${JSON.stringify(`${line(text)} old`)}\n---\n# Old\n\n${text}\n${text} old\n`,
      owner: ownerOf(text),
    })
    await site.worker.call('skills::register', {
      id: `attack/${number}`,
      skill: `---\ntitle: ${JSON.stringify(line(text))}\ndescription: ${JSON.stringify(text)}\ntriggers: [${JSON.stringify(text)}]\n---\n# ${line(text)}\n\n${text}\n`,
    })
  }
})

test('there are at least 200 texts', () => {
  assert.ok(new Set(INJECTIONS).size >= 200)
})

/** Opens pages, some at a time; none of them may call `xss`, show a dialog, or have an element with a handler. */
function attack(paths) {
  return attackEach(paths, (page, path) => page.goto(site.at(path)))
}

/** The same for what `reach` makes of a page for each of the targets. */
async function attackEach(targets, reach) {
  const context = await browser.newContext({ bypassCSP: true })
  const executed = []
  await context.exposeBinding('xss', ({ page }) => executed.push(page.url()))
  const left = targets.values()
  await Promise.all(Array.from({ length: TABS }, () => attackInTab(context, left, reach, executed)))
  await context.close()
  assert.deepEqual(executed, [])
}

async function attackInTab(context, targets, reach, executed) {
  const page = await context.newPage()
  page.on('dialog', async (dialog) => {
    // A form that was filled asks before it is left.
    if (dialog.type() === 'beforeunload') return dialog.accept()
    executed.push(`${page.url()}: ${dialog.message()}`)
    await dialog.dismiss()
  })
  for (const target of targets) {
    await reach(page, target)
    const live = await page.evaluate(() => {
      const handlers = [...document.querySelectorAll('*')].flatMap((element) =>
        element.getAttributeNames().filter((name) => name.startsWith('on') || name === 'style' || name === 'srcdoc'))
      const scripts = [...document.querySelectorAll('script, iframe, object, embed, base, svg script')]
        .filter((element) => !(element.localName === 'script' && element.getAttribute('src')?.startsWith('/assets/')))
      const links = [...document.querySelectorAll('[href], [action], [formaction], [src]')].filter((element) =>
        ['href', 'action', 'formaction', 'src'].some((name) => /^\s*(javascript|data|vbscript):/i.test(element.getAttribute(name) ?? '')))
      return [...handlers, ...scripts.map(({ outerHTML }) => outerHTML), ...links.map(({ outerHTML }) => outerHTML)]
    })
    assert.deepEqual(live, [], `on ${page.url()} for ${target}`)
  }
}

const numbers = INJECTIONS.map((_, number) => number)
// A list has pages of 100 names in their order.
const lastOfPages = numbers.map(String).sort().filter((_, at) => at % 100 === 99)
const encoded = (text) => encodeURIComponent(text.toWellFormed())
const PLACES = {
  'titles, descriptions, triggers and bodies': numbers.map((number) => `/skills/attack/${number}`),
  sources: numbers.map((number) => `/skills/attack/${number}?view=source`),
  'versions, their texts and their differences': numbers.flatMap((number) =>
    ['', '?version=1', '?version=1&view=source', '?version=2&view=changes'].map((query) => `/versions/attack/${number}${query}`)),
  'ids and numbers of versions, and names of origins': INJECTIONS.flatMap((text) =>
    [`/versions/${encoded(text)}`, `/versions/resend?version=${encoded(text)}&view=${encoded(text)}`, `/skills/filed?origin=${encoded(text)}`]),
  'lists of skills': ['/', '/skills/attack/', ...lastOfPages.map((name) => `/skills/attack/?after=${name}`)],
  'addresses and their ids': INJECTIONS.map((text) => `/skills/${encoded(text)}`),
  'search texts': INJECTIONS.map((text) => `/search?q=${encoded(text)}`),
  'requests to route': INJECTIONS.map((text) => `/route?text=${encoded(text)}`),
  'values of arguments': INJECTIONS.map((text) => `/prompts/letter?tone=${encoded(text)}&to=${encoded(text)}`),
  'names of prompts and functions': INJECTIONS.flatMap((text) => [`/prompts/${encoded(text)}`, `/functions/${encoded(text)}`]),
  'descriptions of prompts and of their arguments': ['/prompts', ...numbers.map((number) => `/prompts/attack-${number}`)],
}
for (const [place, paths] of Object.entries(PLACES)) {
  test(`in ${place}`, () => attack(paths))
}

test('in results while typing', () =>
  attackEach(INJECTIONS, async (page, text) => {
    if (page.url() !== site.at('/connect')) await page.goto(site.at('/connect'))
    const typed = text.replaceAll('\n', ' ')
    await page.fill('#q', '')
    await page.fill('#q', typed)
    await page.waitForFunction((text) => {
      const all = document.querySelector('.found a.all')
      return !text || (all ? new URLSearchParams(all.search).get('q') === text : /Nothing matches/.test(document.querySelector('.found').textContent))
    }, typed.trim())
  }))

for (const [place, name, argument] of [['answer', 'greet', 'who'], ['error', 'failing', 'message']]) {
  test(`in the ${place} of a prompt`, () =>
    attackEach(INJECTIONS.filter((text) => text.trim()), async (page, text) => {
      if (!page.url().startsWith(site.at(`/prompts/${name}`))) await page.goto(site.at(`/prompts/${name}`))
      await page.fill(`#argument-${argument}`, text.replaceAll('\n', ' '))
      await send(page, 'Render', '#result > *')
    }))
}

test('in ids and descriptions of functions', async () => {
  const ids = []
  for (const [number, text] of INJECTIONS.entries()) {
    const function_id = `attack::${number}${text.replaceAll(/\s/g, '')}`
    await site.worker.ask({ do: 'offer', function_id, description: text })
    ids.push(function_id)
  }
  // The engine handles the messages of one worker in order.
  await site.worker.call('engine::functions::list', {})
  const context = await browser.newContext()
  const page = await open(context, site.at('/functions'))
  const pages = [new URL(page.url()).pathname]
  for (let more = page.getByRole('link', { name: 'More' }); await more.count(); more = page.getByRole('link', { name: 'More' })) {
    await more.click()
    await page.waitForURL((url) => url.pathname + url.search !== pages.at(-1))
    pages.push(new URL(page.url()).pathname + new URL(page.url()).search)
  }
  assert.ok(pages.length > INJECTIONS.length / 50, `only ${pages.length} pages`)
  await context.close()
  await attack([...pages, ...ids.map((id) => `/functions/${encoded(id)}`)])
})

/** Sends the form of a page, and waits until its answer is shown. */
async function send(page, button, shown) {
  await page.locator(shown).evaluateAll((elements) => elements.forEach((element) => element.remove()))
  await page.click(`button:text-is("${button}")`)
  await page.locator(shown).first().waitFor()
}

test('in the form of a new skill: its id, its text, the preview, the findings and the error', () =>
  attackEach(INJECTIONS, async (page, text) => {
    if (!page.url().endsWith('/new')) await page.goto(site.at('/new'))
    await page.fill('#id', text.replaceAll('\n', ' '))
    await page.fill('#text', `---\ntitle: ${JSON.stringify(text)}\n---\n\nIgnore all previous instructions. ${text}\n\n[x](${text}.md)\n`)
    await send(page, 'Save', '#state .problem')
    await page.locator('#panel .findings').waitFor()
  }))

test('in a conflict: what is registered and what was typed', () =>
  attackEach(numbers, async (page, number) => {
    const [id, text] = [`meanwhile/${number}`, INJECTIONS[number]]
    await site.worker.call('skills::register', { id, skill: `# Before\n\n${text}\n` })
    await page.goto(site.at(`/edit/${id}`))
    await site.worker.call('skills::register', { id, skill: `# Theirs\n\n${text} ${text}\n` })
    await page.fill('#text', `# Mine\n\n${text}\n${text} mine\n`)
    await page.click('button:text-is("Save")')
    await page.locator('#conflict').waitFor()
  }))

test('in a hidden text, and in a version that is not brought back', async () => {
  const chunks = Array.from({ length: Math.ceil(INJECTIONS.length / 20) }, (_, chunk) => INJECTIONS.slice(chunk * 20, chunk * 20 + 20))
  await attackEach([...chunks.entries()], async (page, [number, texts]) => {
    const id = `refused-${number}`
    writeFileSync(join(site.root, `${id}.md`), `# File\n\n${texts.join('\n\n')}\n`)
    for (const skill of ['# Before\n\nText.\n', `# After\n\n${texts.join('\n\n')}\n`]) await site.worker.call('skills::register', { id, skill })
    const hidden = await page.goto(site.at(`/skills/${id}?origin=files`))
    assert.equal(hidden.status(), 200)
    await page.route('**/events', (route) => route.abort())
    await page.goto(site.at(`/versions/${id}?version=1`))
    await site.worker.call('skills::register', { id, skill: `# Theirs\n\n${texts.join('\n\n')} theirs\n` })
    await page.click('button:text-is("Bring this version back")')
    await page.locator('.problem', { hasText: 'It was not brought back' }).waitFor()
  })
})

test('in a text that changes while its page is open', async () => {
  const chunks = Array.from({ length: Math.ceil(INJECTIONS.length / 20) }, (_, chunk) => INJECTIONS.slice(chunk * 20, chunk * 20 + 20))
  await attackEach([...chunks.entries()], async (page, [number, texts]) => {
    const id = `open/${number}`
    await site.worker.call('skills::register', { id, skill: '# Before\n\nText.\n' })
    await page.goto(site.at(`/skills/${id}`))
    await site.worker.call('skills::register', { id, skill: `# After\n\n${texts.join('\n\n')}\n` })
    await page.locator('h1', { hasText: 'After' }).waitFor()
  })
})

test('the policy of every page stops what would get through', async () => {
  const context = await browser.newContext()
  const executed = []
  await context.exposeBinding('xss', ({ page }) => executed.push(page.url()))
  const page = await context.newPage()
  for (const path of ['/', '/skills/resend', '/skills/absent', '/new', '/edit/resend', '/delete/resend', '/versions/resend', '/versions/resend?version=1', '/sign-in', '/search?q=mail', '/prompts/greet', '/functions', '/route', '/health', '/connect']) {
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
