// What every suite of this folder has: a site, a browser, pages in windows of their own, and the end of all of them.
// Each suite is a process, so that there is one site at a time.

import { after, before } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { launch } from './browser.mjs'
import { open, startSite } from './site.mjs'

/** The site and the browser of this suite, while its tests run. */
export let site
export let browser

/**
 * Starts a site with these options and a browser before the tests of a file, and ends both after them. What a file
 * needs beside it is prepared here: hooks of a file do not wait for each other.
 */
export function suite(options = [], prepare = () => {}) {
  before(async () => {
    site = await startSite(...options)
    browser = await launch()
    await prepare()
  })
  after(async () => {
    await browser?.close()
    await endAll()
  })
}

/** Opens a page in a window of its own, runs a check, and closes it. */
export async function inPage(path, check, options = {}) {
  const context = await browser.newContext(options)
  const page = await open(context, site.at(path))
  await check(page, context)
  page.assertSound()
  await context.close()
}

/** Registers a skill from another process. */
export const register = (id, skill) => site.worker.call('skills::register', { id, skill })
