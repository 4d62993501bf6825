// Versions are listed, read, compared and brought back in a browser, with the script and without it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inPage, register, site, suite } from './suite.mjs'

suite()

const TEXTS = ['# Note\n\nFirst <one>.\n', '# Note\n\nSecond.\n', '# Note\n\nThird.\n']

/** Registers three texts, one after the other. */
async function registerAll(id) {
  for (const text of TEXTS) await register(id, text)
}

const stored = async (id) => JSON.stringify(await site.worker.call('skills::fetch_skill', { uri: `iii://${id}` }))
const heading = (page, name) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const bringBack = (page) => page.getByRole('button', { name: 'Bring this version back' })

for (const javaScriptEnabled of [true, false]) {
  const [how, name] = javaScriptEnabled ? ['with the script', 'with'] : ['without JavaScript', 'without']

  test(`a version is found, read, compared and brought back, ${how}`, async () => {
    const id = `kept/${name}`
    await registerAll(id)
    await inPage(`/skills/${id}`, async (page) => {
      await page.getByRole('link', { name: 'Versions (now 3)' }).click()
      await heading(page, `Versions of ${id}`)
      const names = await page.locator('ol.versions .title').allTextContents()
      assert.deepEqual(names, ['Version 3', 'Version 2', 'Version 1'])
      assert.equal(await page.locator('ol.versions li').first().locator('.origin').textContent(), 'current')
      await page.getByRole('link', { name: 'Version 1', exact: true }).click()
      await heading(page, 'Note, version 1')
      await page.getByText('not the current text').waitFor()
      await page.getByRole('article').getByText('First <one>.').waitFor()
      await page.getByRole('link', { name: 'Source' }).click()
      await page.locator('pre.source', { hasText: '# Note' }).waitFor()
      await page.getByRole('link', { name: 'Changes up to 3' }).click()
      await page.locator('pre.diff').waitFor()
      assert.equal(await page.textContent('pre.diff del'), '− First <one>.\n')
      assert.equal(await page.textContent('pre.diff ins'), '+ Third.\n')
      await bringBack(page).click()
      await page.waitForURL(`**/skills/${id}`)
      await page.getByRole('article').getByText('First <one>.').waitFor()
      await page.getByRole('link', { name: 'Versions (now 4)' }).click()
      await page.getByText('brought back version 1').waitFor()
      await page.getByRole('link', { name: 'What changed since version 1' }).click()
      await heading(page, 'Note, version 2')
      assert.equal(await page.textContent('pre.diff ins'), '+ Second.\n')
    }, { javaScriptEnabled })
  })

  test(`what was registered meanwhile is not lost, ${how}`, async () => {
    const id = `newer/${name}`
    await registerAll(id)
    await inPage('/', async (page) => {
      // A page that hears of changes follows them.
      await page.route('**/events', (route) => route.abort())
      await page.goto(site.at(`/versions/${id}?version=1`))
      await bringBack(page).waitFor()
      await register(id, '# Note\n\nTheirs.\n')
      await bringBack(page).click()
      await page.locator('.problem', { hasText: 'It was not brought back' }).waitFor()
      assert.equal(await page.textContent('pre.diff ins'), '+ Theirs.\n')
      assert.match(await stored(id), /Theirs/)
      await bringBack(page).click()
      await page.waitForURL(`**/skills/${id}`)
      await page.getByRole('article').getByText('First <one>.').waitFor()
    }, { javaScriptEnabled })
  })

  test(`what was deleted is brought back, ${how}`, async () => {
    const id = `former-${name}`
    await registerAll(id)
    await inPage(`/delete/${id}`, async (page) => {
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.waitForURL((url) => url.pathname === '/')
      await page.goto(site.at(`/skills/${id}`))
      await page.getByText('was unregistered').waitFor()
      await page.getByRole('link', { name: `Versions of ${id}` }).click()
      await page.getByText('Nothing is registered under this id now.').waitFor()
      await page.getByRole('link', { name: 'Version 3', exact: true }).click()
      await bringBack(page).click()
      await page.waitForURL(`**/skills/${id}`)
      await page.getByRole('article').getByText('Third.').waitFor()
    }, { javaScriptEnabled })
  })

  test(`a link leads to the version or the hidden text that it names, ${how}`, async () => {
    const id = `links-${name}`
    await registerAll(`linked-${name}`)
    await register(id, `# Links\n\n[old](iii://linked-${name}@1) and [file](iii://@files/filed)\n`)
    await inPage(`/skills/${id}`, async (page) => {
      await page.getByRole('article').getByRole('link', { name: 'old' }).click()
      await heading(page, 'Note, version 1')
      await page.goBack()
      await page.getByRole('article').getByRole('link', { name: 'file' }).click()
      await heading(page, 'From a file')
      await page.getByText('which is hidden').waitFor()
      await page.getByRole('link', { name: 'what is registered' }).click()
      await heading(page, 'From a worker')
      await page.getByRole('link', { name: 'iii://@files/filed' }).click()
      await heading(page, 'From a file')
    }, { javaScriptEnabled })
  })
}

test('an open version says what is registered now', async () => {
  await registerAll('open')
  await inPage('/versions/open?version=2', async (page) => {
    await page.getByText('Version 3 is registered now').waitFor()
    await register('open', '# Note\n\nFourth.\n')
    await page.getByText('Version 4 is registered now').waitFor()
    assert.match(await page.textContent('article'), /Second/)
  })
})

test('a version is brought back with the keyboard', async () => {
  await registerAll('keys')
  await inPage('/versions/keys?version=2', async (page) => {
    const isOnButton = () => page.evaluate(() => document.activeElement?.textContent === 'Bring this version back')
    for (let presses = 0; presses < 60 && !(await isOnButton()); presses += 1) await page.keyboard.press('Tab')
    assert.ok(await isOnButton())
    await page.keyboard.press('Enter')
    await page.waitForURL('**/skills/keys')
    await page.getByRole('article').getByText('Second.').waitFor()
  })
})

test('what is not there says so', async () => {
  await inPage('/versions/resend?version=99', async (page) => {
    await page.getByText('version 99 of skill `resend` not found').waitFor()
    await page.getByRole('link', { name: 'All versions of resend' }).click()
    await heading(page, 'Versions of resend')
  })
  await inPage('/versions/resand', async (page) => {
    await page.getByText('has no versions').waitFor()
    await page.getByRole('link', { name: 'resend', exact: true }).first().waitFor()
  })
})
