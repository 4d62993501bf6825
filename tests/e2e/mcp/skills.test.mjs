// The extension `io.modelcontextprotocol/skills` with the official conformance suite, Inspector and
// TypeScript client, and with FastMCP, over stdio and HTTP, in both eras of the protocol.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { Engine } from '../sdk/lib/engine.mjs'
import { endAll, folder } from '../sdk/lib/process.mjs'
import { binary, here, newNode, run, start } from './lib.mjs'
import { LISTED, skillFolders } from './skill-folders.mjs'

let engine
let config

before(async () => {
  config = skillFolders()
  engine = await start('--config', config)
})
after(endAll)

const WHERE = {
  http: () => ({ url: `${engine.http}/mcp` }),
  // On a data directory of its own.
  stdio: () => ({ command: [binary, 'mcp', '--url', 'ws://127.0.0.1:1', '--data-dir', folder(), '--config', config] }),
}
/** Only the engine has what the fixtures registered. */
const listed = (transport) => LISTED.filter((id) => transport !== 'stdio' || id !== 'conformance').map((id) => `skill://${id}/SKILL.md`)

// Two checks of the first are about members that 2025-11-25 does not have.
const SCENARIOS = {
  'sep-2640-skills-enumeration': { '2025-11-25': 30, '2026-07-28': 32 },
  'sep-2640-skills-manifest': { '2025-11-25': 6, '2026-07-28': 6 },
  'sep-2640-skills-directory': { '2025-11-25': 7, '2026-07-28': 7 },
}
for (const [scenario, versions] of Object.entries(SCENARIOS)) {
  for (const [version, checks] of Object.entries(versions)) {
    test(`conformance ${scenario}, ${version}`, async () => {
      const program = join(here, 'node_modules', 'conformance-alpha', 'dist', 'index.js')
      const choice = ['--scenario', scenario, '--spec-version', version, '--force']
      const { code, stdout, stderr } = await run(newNode(), [program, 'server', '--url', `${engine.http}/mcp`, ...choice])
      assert.equal(code, 0, `${stdout}\n${stderr}`)
      assert.match(stdout, new RegExp(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`), `${stdout}\n${stderr}`)
    })
  }
}

const inspector = join(here, 'node_modules', '@modelcontextprotocol', 'inspector', 'clients', 'launcher', 'build', 'index.js')
// With `--verify` it answers a line for each skill.
const ASKED = [
  [
    ['skills/list', '--verify', '--require-digests'],
    (lines, transport) => {
      assert.deepEqual(lines.map(({ uri }) => uri), listed(transport))
      assert.ok(lines.every(({ outcome }) => outcome === 'verified'))
    },
  ],
  [['skills/get', '--uri', 'skill://a-report/SKILL.md', '--verify', '--require-digests'], ([{ files }]) => assert.equal(files.length, 6)],
  [['resources/directory/read', '--uri', 'skill://a-report'], ([{ result }]) => assert.equal(result.resources.length, 5)],
]
for (const transport of Object.keys(WHERE)) {
  for (const era of ['legacy', 'modern']) {
    for (const [[method, ...more], check] of ASKED) {
      test(`Inspector ${method}, ${era}, over ${transport}`, async () => {
        const asked = ['--cli', '--protocol-era', era, '--method', method, ...more, '--format', 'json', '-q']
        const { url, command } = WHERE[transport]()
        const where = url ? ['--server-url', url, '--transport', 'http'] : ['--', ...command]
        const { code, stdout, stderr } = await run(newNode(), [inspector, ...asked, ...where])
        assert.equal(code, 0, `${stdout}\n${stderr}`)
        const lines = stdout.trim().split('\n')
        check(method.startsWith('skills/') ? lines.map((line) => JSON.parse(line)) : [JSON.parse(stdout)], transport)
      })
    }
  }

  for (const mode of ['legacy', 'auto', '2026-07-28']) {
    test(`TypeScript SkillsClient, ${mode}, over ${transport}`, async () => {
      const { code, stdout, stderr } = await run(process.execPath, [join(here, 'client-skills.mjs'), JSON.stringify(WHERE[transport]()), mode])
      assert.equal(code, 0, `${stdout}\n${stderr}`)
      const seen = JSON.parse(stdout)
      assert.ok(seen.supported && seen.directoryRead, stdout)
      assert.deepEqual(seen.skills, listed(transport))
      assert.deepEqual(seen.unverified, [])
      assert.deepEqual(seen.folders['skill://a-report'], [
        'skill://a-report/SKILL.md',
        'skill://a-report/assets',
        'skill://a-report/charts',
        'skill://a-report/references',
        'skill://a-report/scripts',
      ])
      assert.deepEqual(seen.folders['skill://a-report/scripts'], ['skill://a-report/scripts/run%20it.py'])
    })
  }

  test(`FastMCP's list_skills over ${transport}`, async () => {
    const python = join(here, '.venv', 'fastmcp', 'bin', 'python')
    const { code, stdout, stderr } = await run(python, [join(here, 'client_fastmcp.py'), JSON.stringify(WHERE[transport]())])
    assert.equal(code, 0, `${stdout}\n${stderr}`)
    // The helper supports skills of one segment only.
    assert.ok(JSON.parse(stdout.trim().split('\n').pop()).includes('a-report'), stdout)
  })
}

test('the well-known index names what is served, and an archive has every file', async () => {
  const base = `${engine.http}/.well-known/agent-skills/`
  const index = await (await fetch(`${base}index.json`)).json()
  assert.equal(index.$schema, 'https://schemas.agentskills.io/discovery/0.2.0/schema.json')
  assert.deepEqual(index.skills.map(({ name }) => name), LISTED.map((id) => id.split('/').pop()))
  for (const { url, digest } of index.skills) {
    const response = await fetch(base + url)
    assert.equal(response.status, 200, url)
    const bytes = Buffer.from(await response.arrayBuffer())
    assert.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, digest, url)
    const head = await fetch(base + url, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), String(bytes.length), url)
  }
  const { url } = index.skills[0]
  const target = folder()
  writeFileSync(join(target, 'a.tar.gz'), Buffer.from(await (await fetch(base + url)).arrayBuffer()))
  const { code, stderr } = await run('tar', ['-xzf', 'a.tar.gz'], { cwd: target })
  assert.equal(code, 0, stderr)
  for (const file of ['SKILL.md', 'scripts/run it.py', 'assets/logo.png', 'charts/SKILL.md']) {
    assert.deepEqual(readFileSync(join(target, file)), readFileSync(join(dirname(config), 'a-report', file)), file)
  }
  assert.equal((await fetch(`${base}no-such/SKILL.md`)).status, 404)
})

test('nothing is published without the setting', async () => {
  const unpublished = await Engine.start()
  assert.equal((await fetch(`${unpublished.http}/.well-known/agent-skills/index.json`)).status, 404)
})
