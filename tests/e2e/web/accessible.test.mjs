// Every page has no violation of the rules of axe-core, and fits its window, in both themes.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { endAll } from '../sdk/lib/process.mjs'
import { launch } from './browser.mjs'
import { open, startSite } from './site.mjs'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PAGES = [
  '/',
  '/skills/guides/',
  '/skills/resend',
  '/skills/resend?view=source',
  '/skills/pdf',
  '/sign-in',
  '/skills/absent',
]
const WIDTHS = [360, 1280, 1600]

let site
let browser

before(async () => {
  site = await startSite()
  browser = await launch()
})
after(async () => {
  await browser?.close()
  await endAll()
})

for (const colorScheme of ['light', 'dark']) {
  for (const path of PAGES) {
    test(`${path} in ${colorScheme}`, async () => {
      // The checker is a script that the policy of the page does not allow.
      const context = await browser.newContext({ colorScheme, bypassCSP: true })
      const page = await open(context, site.at(path))
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
        assert.equal(wide, 0, `it is ${wide} pixels wider than a window of ${width}`)
        await page.evaluate(AXE)
        const { violations } = await page.evaluate(() => globalThis.axe.run())
        assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [])
      }
      assert.match(await page.title(), /^.+ · skills$/)
      page.assertSound()
      await context.close()
    })
  }
}
