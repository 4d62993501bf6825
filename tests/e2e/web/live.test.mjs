// What others change appears in an open page, and the page says when it cannot hear of it.

import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Peer } from '../sdk/lib/peer.mjs'
import { Process } from '../sdk/lib/process.mjs'
import { Inbox } from '../sdk/lib/wait.mjs'
import { inPage, register, site, suite } from './suite.mjs'

suite()

const link = (page, id) => page.locator(`main a[href="/skills/${id}"]`)

test('a list and a text follow a worker in another process', async () => {
  await inPage('/', async (page) => {
    await register('live-one', '# Live one\n\nFirst.\n')
    await link(page, 'live-one').waitFor()
    await link(page, 'live-one').click()
    await page.locator('article', { hasText: 'First.' }).waitFor()
    await register('live-one', '# Live two\n\nSecond.\n')
    await page.locator('article', { hasText: 'Second.' }).waitFor()
    assert.match(await page.title(), /^Live two · skills$/)
    await site.worker.call('skills::unregister', { id: 'live-one' })
    await page.locator('h1', { hasText: 'Not found' }).waitFor()
    await register('live-one', '# Live three\n\nThird.\n')
    await page.locator('article', { hasText: 'Third.' }).waitFor()
  })
})

test('an edit of a file appears', () =>
  inPage('/skills/guides/words', async (page) => {
    const path = join(site.root, 'guides/words.md')
    writeFileSync(path, '# Words\n\nOther words.\n')
    await page.locator('article', { hasText: 'Other words.' }).waitFor()
    writeFileSync(join(site.root, 'guides/more.md'), '# More words\n\nNew.\n')
    await page.locator('aside a[href="/skills/guides/more"]').waitFor()
    rmSync(join(site.root, 'guides/more.md'))
    await page.locator('aside a[href="/skills/guides/more"]').waitFor({ state: 'detached' })
  }))

test('scroll, focus, open folders and loaded pages stay', async () => {
  for (let number = 0; number < 130; number += 1) await register(`long/s${String(number).padStart(3, '0')}`, `# Skill ${number}\n\nText.\n`)
  await inPage('/', async (page) => {
    await page.click('summary:has-text("long/")')
    await page.click('summary:has-text("guides/")')
    await page.locator('a[data-more]').click()
    await link(page, 'long/s129').waitFor()
    await link(page, 'long/s129').focus()
    await page.evaluate(() => document.activeElement.scrollIntoView())
    const before = await page.evaluate(() => scrollY)
    assert.ok(before > 0)
    await register('long/s129', '# Changed title\n\nText.\n')
    await page.locator('main a', { hasText: 'Changed title' }).waitFor()
    const seen = await page.evaluate(() => [scrollY, document.activeElement.getAttribute('href'), [...document.querySelectorAll('details[open] > summary > .name')].map((name) => name.textContent)])
    assert.deepEqual(seen, [before, '/skills/long/s129', ['guides/', 'long/']])
    // A folder that was closed stays closed, and one that is gone is no problem.
    await page.click('summary:has-text("guides/")')
    await register('long/s000', '# Changed too\n\nText.\n')
    await page.locator('main a', { hasText: 'Changed too' }).waitFor()
    assert.equal(await page.locator('details[open]').count(), 1)
  })
})

test('prompts and functions appear, and what was typed or answered stays', async () => {
  const prompt = (description) => site.worker.call('prompts::register', { name: 'live', description, function_id: 'node_new::greet', arguments: [{ name: 'who', required: true }] })
  await inPage('/prompts', async (page) => {
    await prompt('First words')
    await page.locator('main', { hasText: 'First words' }).waitFor()
    await page.click('main a:text-is("live")')
    await page.locator('h1', { hasText: 'live' }).waitFor()
    await prompt('Second words')
    await page.locator('main', { hasText: 'Second words' }).waitFor()
    await page.fill('input[name=who]', 'Ada')
    await prompt('Third words')
    await page.locator('#connection', { hasText: 'This page changed' }).waitFor()
    assert.equal(await page.inputValue('input[name=who]'), 'Ada')
  })
  await inPage('/functions', async (page) => {
    const other = await Peer.start('node_new', site.engine.url, { name: 'arrived' })
    await page.locator('main', { hasText: 'arrived::echo' }).waitFor()
    await other.kill()
    await page.locator('main', { hasText: 'arrived::echo' }).waitFor({ state: 'detached' })
  })
})

test('what the script adds to a page is there after a change', () =>
  inPage('/connect', async (page) => {
    const buttons = await page.locator('button.copy').count()
    assert.ok(buttons > 0)
    await register('unrelated', `# Unrelated\n\n${Math.random()}\n`)
    await page.waitForResponse('**/connect')
    assert.equal(await page.locator('button.copy').count(), buttons)
  }))

test('a form is not replaced, and other skills do not disturb it', () =>
  inPage('/edit/resend/email', async (page) => {
    await page.fill('#text', '# One email\n\nMine.\n')
    await page.locator('.preview', { hasText: 'Mine.' }).waitFor()
    await register('unrelated', '# Unrelated\n\nText.\n')
    await register('resend/email', '# One email\n\nTheirs.\n')
    await page.locator('#connection', { hasText: 'This skill changed meanwhile' }).waitFor()
    await page.locator('#conflict').waitFor()
    assert.equal(await page.inputValue('#text'), '# One email\n\nMine.\n')
    assert.equal(await page.evaluate(() => document.activeElement.id), 'text')
  }))

test('a page says when the connection is lost and when it is back, and shows what changed meanwhile', () =>
  inPage('/skills/resend', async (page) => {
    const status = page.locator('#connection')
    assert.equal(await status.getAttribute('role'), 'status')
    assert.equal(await status.textContent(), '')
    await site.engine.kill()
    await status.getByText('The connection to the server is lost').waitFor()
    assert.ok(await status.isVisible())
    await page.locator('h1', { hasText: 'Resend' }).waitFor()
    await site.engine.start()
    await status.getByText('Connected again').waitFor()
    await status.getByText('Connected again').waitFor({ state: 'detached' })
    await site.worker.callable()
    await register('resend', '# Resend after the restart\n\nText.\n')
    await page.locator('h1', { hasText: 'Resend after the restart' }).waitFor()
  }))

test('a change while the server was gone is shown when it is back', () =>
  inPage('/skills/guides/style', async (page) => {
    await site.engine.stop()
    await page.locator('#connection', { hasText: 'lost' }).waitFor()
    writeFileSync(join(site.root, 'guides/style.md'), '# Style guide\n\nEdited while the server was gone.\n')
    await site.engine.start()
    await page.locator('article', { hasText: 'Edited while the server was gone.' }).waitFor()
  }))

test('an MCP client hears of an edit made in the page', async () => {
  const lines = new Inbox()
  new Process('an MCP client', process.execPath, [join(import.meta.dirname, '../mcp/client-listens.mjs'), new URL('/mcp', site.engine.http).href, 'iii://resend/email'], {
    onLine: (line) => lines.put(JSON.parse(line)),
  })
  await lines.next(({ event }) => event === 'ready', 'the client to be connected')
  await inPage('/edit/resend/email', async (page) => {
    await page.fill('#text', '# One email\n\nEdited for the client.\n')
    await page.click('button:text-is("Save")')
    await page.waitForURL('**/skills/resend/email')
  })
  const { text } = await lines.next(({ event }) => event === 'updated', 'the client to hear of the edit')
  assert.equal(text, '# One email\n\nEdited for the client.\n')
})
