// The official conformance suites, over HTTP. A scenario that fails must be in its file of expected
// failures, and one that is there must fail.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { endAll } from '../sdk/lib/process.mjs'
import { here, newNode, run, start } from './lib.mjs'

let engine

before(async () => {
  engine = await start()
})
after(endAll)

const SUITES = [
  ['0.1.16, every scenario', 'conformance-stable', ['--suite', 'all'], 'stable.yml', 20],
  ['0.2.0-alpha.12, requirements 2025-11-25', 'conformance-alpha', ['--requirements', '2025-11-25'], '2025-11-25.yml', 20],
  ['0.2.0-alpha.12, requirements 2026-07-28', 'conformance-alpha', ['--requirements', '2026-07-28'], '2026-07-28.yml', 20],
]

for (const [title, suite, choice, expected, least] of SUITES) {
  test(`conformance ${title}`, async () => {
    const program = join(here, 'node_modules', suite, 'dist', 'index.js')
    const args = ['server', '--url', `${engine.http}/mcp`, '--expected-failures', join(here, 'expected', expected)]
    const { code, stdout, stderr } = await run(newNode(), [program, ...args, ...choice])
    const report = stdout.slice(stdout.indexOf('=== SUMMARY')) + stderr
    assert.equal(code, 0, report)
    // A suite that found nothing to run must not look fine.
    const passed = report.match(/^✓/gm)?.length ?? 0
    assert.ok(passed >= least, `only ${passed} scenarios passed\n${report}`)
  })
}
