// Chromium for the suites of this folder: found, not downloaded, and without any connection but to this machine.

import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
// Without these it looks up hosts of its vendor when it starts.
const OFFLINE = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic', '--no-first-run']

/** The path in `CHROMIUM`, or the first Chromium in `PATH`. */
export function chromiumPath() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync)
  if (!found) throw new Error('no Chromium in PATH; install it (Debian: apt-get install chromium) or set CHROMIUM')
  return found
}

/** A browser. Chromium's sandbox does not run as root, as CI does. */
export function launch() {
  const args = process.getuid?.() === 0 ? [...OFFLINE, '--no-sandbox'] : OFFLINE
  return chromium.launch({ executablePath: chromiumPath(), args })
}
