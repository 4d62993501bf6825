// A server with a token: the wrong token, the right one, and what is open after it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from './site.mjs'
import { browser, site, suite } from './suite.mjs'

suite(['--token', 'right token'])

for (const javaScriptEnabled of [true, false]) {
  test(`signing in ${javaScriptEnabled ? 'with the script' : 'without JavaScript'}`, async () => {
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await open(context, site.at('/edit/resend?x=1'))
    assert.equal(await page.locator('#text').count(), 0)
    await page.fill('input[name=token]', 'wrong')
    await page.click('button')
    await page.getByText('This is not the token of this server.').waitFor()
    assert.deepEqual(await context.cookies(), [])
    await page.fill('input[name=token]', 'right token')
    await page.click('button')
    await page.waitForURL('**/edit/resend?x=1')
    const [cookie] = await context.cookies()
    assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, 'Strict'])
    await page.fill('#text', `# Resend\n\nSigned in ${javaScriptEnabled}.\n`)
    await page.click('button:text-is("Save")')
    await page.waitForURL('**/skills/resend')
    await page.locator('article', { hasText: `Signed in ${javaScriptEnabled}.` }).waitFor()
    if (javaScriptEnabled) {
      await site.worker.call('skills::register', { id: 'resend', skill: '# Resend\n\nHeard of.\n' })
      await page.locator('article', { hasText: 'Heard of.' }).waitFor()
    }
    await page.click('text=Sign out')
    await page.waitForURL((url) => url.pathname === '/')
    await page.locator('input[name=token]').waitFor()
    page.assertSound()
    await context.close()
  })
}

test('a text that was typed stays when the session has ended', async () => {
  const context = await browser.newContext()
  const page = await open(context, site.at('/edit/resend'))
  await page.fill('input[name=token]', 'right token')
  await page.click('button')
  await page.locator('#text').waitFor()
  await page.fill('#text', '# Resend\n\nTyped.\n')
  await context.clearCookies()
  await page.click('button:text-is("Save")')
  await page.locator('.problem', { hasText: 'You are signed out' }).waitFor()
  assert.equal(await page.inputValue('#text'), '# Resend\n\nTyped.\n')
  await context.close()
})
