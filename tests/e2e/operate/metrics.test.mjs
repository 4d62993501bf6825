// `/metrics` by the official parser for Python: every line is read, and every series has the type
// that the documentation names.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Engine } from '../sdk/lib/engine.mjs'
import { endAll } from '../sdk/lib/process.mjs'
import { binary, run } from '../mcp/lib.mjs'

after(endAll)

const here = dirname(fileURLToPath(import.meta.url))
const documentation = join(here, '..', '..', '..', 'docs', 'operate.md')
const PARSE = `
import json, sys, urllib.request
from prometheus_client.parser import text_string_to_metric_families
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer t"})
text = urllib.request.urlopen(request).read().decode()
families = {}
for family in text_string_to_metric_families(text):
    assert family.name not in families, family.name + " is there twice"
    labels = sorted({label for sample in family.samples for label in sample.labels} - {"le"})
    samples = [[sample.name, sample.labels, sample.value] for sample in family.samples]
    families[family.name] = {"type": family.type, "help": family.documentation, "labels": labels, "samples": samples}
print(json.dumps(families))
`

test('the official parser reads every metric with its type and its labels', async () => {
  const engine = await Engine.start('--token', 't')
  const there = ['--url', engine.url, '--token', 't']
  const registered = await run(binary, ['register', 'page', documentation, ...there])
  assert.equal(registered.code, 0, registered.stderr)
  assert.equal((await run(binary, ['read', 'gone', ...there])).code, 3)
  const python = join(here, '.venv', 'bin', 'python')
  const { code, stdout, stderr } = await run(python, ['-c', PARSE, `${engine.http}/metrics`])
  assert.equal(code, 0, stderr)
  const families = JSON.parse(stdout)
  const page = readFileSync(documentation, 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| `skills_'))
  assert.ok(rows.length > 10)
  for (const row of rows) {
    const [name, type, labels, help] = row.split('|').slice(1, -1).map((cell) => cell.trim().replaceAll('`', ''))
    // The parser names a counter without its ending.
    const family = families[name.replace(/_total$/, '')]
    assert.ok(family, `no ${name}`)
    const expected = labels === '' ? [] : labels.split(', ').sort()
    assert.deepEqual([family.type, family.labels, family.help], [type, expected, `${help}.`], name)
  }
  assert.equal(Object.keys(families).length, rows.length)
  const buckets = families.skills_commit_duration_seconds.samples
  const counted = (name) => buckets.filter(([sample]) => sample === `skills_commit_duration_seconds_${name}`)
  const last = counted('bucket').find(([, labels]) => labels.le === '+Inf')
  assert.equal(last[2], counted('count')[0][2])
  assert.ok(last[2] > 0)
})
