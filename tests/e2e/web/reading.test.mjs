// Browsing, searching, reading and trying, with the script and without JavaScript.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inPage, site, suite } from './suite.mjs'

suite()

const place = (page) => new URL(page.url()).pathname + new URL(page.url()).search

test('a folder opens in place, and a skill in it is read', () =>
  inPage('/', async (page) => {
    await page.getByText('guides/', { exact: true }).click()
    await page.getByRole('link', { name: 'Style guide' }).click()
    await page.getByRole('heading', { level: 1, name: 'Style guide' }).waitFor()
    assert.equal(place(page), '/skills/guides/style')
    await page.getByRole('link', { name: 'Source' }).click()
    await page.getByText('[the words](words.md)').waitFor()
  }))

test('links lead from skill to skill, and the back button back', () =>
  inPage('/skills/resend', async (page) => {
    await page.getByRole('article').getByRole('link', { name: 'the guide' }).click()
    await page.getByRole('heading', { level: 1, name: 'Style guide' }).waitFor()
    await page.getByRole('article').getByRole('link', { name: 'the words' }).click()
    await page.getByRole('heading', { level: 1, name: 'Words' }).waitFor()
    const from = page.locator('section', { hasText: 'What links here' })
    assert.deepEqual(await from.getByRole('link').allTextContents(), ['guides/style'])
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Style guide' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Resend' }).waitFor()
    const followed = page.locator('section', { hasText: 'What it links to' })
    assert.deepEqual(await followed.getByRole('link').allTextContents(), ['resend/email', 'guides/style', 'guides/words'])
  }))

test('results appear while a text is typed, and keys choose one', () =>
  inPage('/health', async (page) => {
    await page.keyboard.press('/')
    await page.keyboard.type('refu')
    const first = page.locator('.found a').first()
    await first.waitFor()
    assert.match(await first.innerHTML(), /<mark>Refunds<\/mark>/)
    await page.waitForFunction(() => /result/.test(document.querySelector('.search [role=status]').textContent))
    await page.keyboard.press('ArrowDown')
    assert.equal(await first.evaluate((link) => link === document.activeElement), true)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('.found').isVisible(), false)
    assert.equal(await page.locator('#q').evaluate((field) => field === document.activeElement), true)
    await page.keyboard.type('nds')
    await first.waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor()
    await page.locator('#q').fill('zzqx')
    await page.getByText('Nothing matches.', { exact: true }).first().waitFor()
    await page.locator('#q').fill('mail')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
    assert.equal(place(page), '/search?q=mail')
  }))

test('results follow fast typing, whichever answer is last', () =>
  inPage('/', async (page) => {
    await page.locator('#q').pressSequentially('refunds of a payment', { delay: 1 })
    await page.waitForFunction(() => document.querySelector('.found a.all')?.search === '?q=refunds+of+a+payment')
  }))

test('how long a search takes in the browser', async (t) => {
  for (let number = 0; number < 500; number += 1) {
    const skill = `# Task ${number}\n\nHow task ${number} of the ${['mail', 'billing', 'deploy'][number % 3]} team is done.\n`
    await site.worker.call('skills::register', { id: `load/task-${number}`, skill })
  }
  await inPage('/', async (page) => {
    const times = []
    for (const text of ['refund', 'mail', 'billing team', 'send an email', 'task 77', 'deploy', 'how mail', 'style']) {
      times.push(await page.evaluate((text) => new Promise((resolve) => {
        const found = document.querySelector('.found')
        const field = document.querySelector('#q')
        field.focus()
        field.value = text
        const start = performance.now()
        new MutationObserver((_, observer) => {
          observer.disconnect()
          requestAnimationFrame(() => resolve(performance.now() - start))
        }).observe(found, { childList: true })
        field.dispatchEvent(new Event('input', { bubbles: true }))
      }), text))
    }
    times.sort((a, b) => a - b)
    t.diagnostic(`from the key to the results, 500 skills: median ${times[times.length >> 1].toFixed(1)} ms, slowest ${times.at(-1).toFixed(1)} ms`)
  })
})

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with the script' : 'without JavaScript'

  test(`a prompt is filled in and rendered, ${how}`, () =>
    inPage('/prompts', async (page) => {
      await page.getByRole('link', { name: 'letter' }).click()
      const to = page.getByRole('textbox', { name: 'to' })
      await to.fill('Ada <b>')
      await page.getByRole('combobox', { name: 'tone' }).selectOption('formal')
      await page.getByRole('button', { name: 'Render' }).click()
      await page.getByText('A formal letter to Ada <b>.').waitFor()
      assert.equal(await to.inputValue(), 'Ada <b>')
      if (!javaScriptEnabled) return
      assert.equal(place(page), '/prompts/letter?to=Ada+%3Cb%3E&tone=formal')
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Functions' }).click()
      await page.getByRole('heading', { level: 1, name: 'Functions' }).waitFor()
      await page.goBack()
      await page.getByRole('heading', { level: 1, name: 'letter' }).waitFor()
      assert.equal(await to.inputValue(), 'Ada <b>')
    }, { javaScriptEnabled }))

  test(`a handler that is absent is an error in place, ${how}`, async () => {
    await site.worker.call('prompts::register', {
      name: 'lost',
      description: 'Has no handler',
      function_id: 'node_new::absent',
      arguments: [{ name: 'who', required: true }],
    })
    await inPage('/prompts/lost', async (page) => {
      await page.getByRole('textbox', { name: 'who' }).fill('Ada')
      await page.getByRole('button', { name: 'Render' }).click()
      assert.match(await page.getByRole('alert').innerText(), /node_new::absent.*is absent/s)
      assert.equal(await page.getByRole('textbox', { name: 'who' }).inputValue(), 'Ada')
    }, { javaScriptEnabled })
  })

  test(`a request is routed, ${how}`, () =>
    inPage('/route', async (page) => {
      await page.getByRole('textbox', { name: 'Request' }).fill('please send an email to Ada')
      await page.getByRole('button', { name: 'Route' }).click()
      await page.getByRole('heading', { name: 'An agent is sent to' }).waitFor()
      assert.equal(await page.locator('.matches a.title').first().getAttribute('href'), '/skills/resend')
      await page.getByText('%').first().waitFor()
      await page.goBack()
      assert.equal(place(page), '/route')
    }, { javaScriptEnabled }))

  test(`an unknown address names the nearest ids, ${how}`, () =>
    inPage('/skills/resend/emial', async (page) => {
      await page.getByRole('link', { name: 'resend/email' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'One email' }).waitFor()
    }, { javaScriptEnabled }))
}

test('everything is found and read without JavaScript', () =>
  inPage('/', async (page) => {
    await page.getByText('guides/', { exact: true }).click()
    await page.getByRole('link', { name: 'Show the folder guides/' }).click()
    await page.getByRole('main').getByRole('link', { name: 'Words' }).click()
    await page.getByRole('heading', { level: 1, name: 'Words' }).waitFor()
    await page.locator('#q').fill('refunds')
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link', { name: 'Refunds' }).click()
    await page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor()
    await page.goto(site.at('/skills/pdf'))
    await page.getByRole('link', { name: 'reference.md' }).first().click()
    await page.getByText('Fields of a form.').waitFor()
    for (const [name, heading] of [['Prompts', 'Prompts'], ['Functions', 'Functions'], ['Route', 'Route a request'], ['Health', 'Health'], ['Connect', 'Connect']]) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    }
    await page.getByText('claude mcp add').waitFor()
    assert.equal(await page.getByRole('button', { name: /Copy/ }).count(), 0)
  }, { javaScriptEnabled: false }))

test('a line is copied, with the address of this server', () =>
  inPage('/connect', async (page) => {
    await page.getByRole('button', { name: 'Copy the lines for Claude Code' }).click()
    await page.getByText('Copied').first().waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    assert.equal(copied, `claude mcp add --transport http skills ${site.at('/mcp')}`)
  }, { permissions: ['clipboard-read', 'clipboard-write'] }))

test('functions and health show a worker in another process', async () => {
  await inPage('/functions/node_new::greet', async (page) => {
    await page.getByText('offered by node_new').waitFor()
  })
  await inPage('/health', async (page) => {
    await page.getByRole('cell', { name: 'node_new' }).waitFor()
  })
})
