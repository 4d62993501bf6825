// What every suite of this folder has: a site, a browser, and the end of both.

import { after, before } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { launch } from './browser.mjs'
import { open, startSite } from './site.mjs'

/** Starts a site with these options and a browser for the tests of a file. */
export function suite(...options) {
  const web = {
    /** Opens a page in a window of its own, runs a check, and closes it. */
    async inPage(path, check, options = {}) {
      const context = await web.browser.newContext(options)
      const page = await open(context, web.site.at(path))
      await check(page, context)
      page.assertSound()
      await context.close()
    },
    register: (id, skill) => web.site.worker.call('skills::register', { id, skill }),
  }
  before(async () => {
    web.site = await startSite(...options)
    web.browser = await launch()
  })
  after(async () => {
    await web.browser?.close()
    await endAll()
  })
  return web
}
