// The rules of axe-core, and the width of a page, in windows of several widths.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const WIDTHS = [360, 1280, 1600]

/** The page has no violation and fits its window. Its context must have `bypassCSP`: the checker is a script. */
export async function assertAccessible(page) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    assert.equal(wide, 0, `it is ${wide} pixels wider than a window of ${width}`)
    await page.evaluate(AXE)
    const { violations } = await page.evaluate(() => globalThis.axe.run())
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [])
  }
  assert.match(await page.title(), /^.+ · skills$/)
}
