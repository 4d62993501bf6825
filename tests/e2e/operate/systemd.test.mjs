// The example unit is valid by systemd's own check.

import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from '../mcp/lib.mjs'

const here = dirname(fileURLToPath(import.meta.url))

test('systemd-analyze verifies the unit', { skip: process.platform !== 'linux' && 'systemd is for Linux' }, async () => {
  const unit = join(here, '..', '..', '..', 'examples', 'systemd', 'skills.service')
  const { code, stdout, stderr } = await run('systemd-analyze', ['verify', unit])
  assert.deepEqual([code, stdout, stderr], [0, '', ''])
})
