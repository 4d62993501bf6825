// Folders with a SKILL.md, plain markdown and a document, and the configuration that serves them.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folder } from '../sdk/lib/process.mjs'

const skill = (name, description, body) => `---\nname: ${name}\ndescription: ${description}\n---\n${body}`

const FILES = {
  // The conformance suite reads the folder of the first skill, and requires a folder in it.
  'a-report/SKILL.md': skill('a-report', 'Writes reports. Use it for weekly numbers.', '# Report\r\n\r\nRun [it](scripts/run it.py).\r\n'),
  'a-report/scripts/run it.py': "print('report')\r\n",
  'a-report/references/api.md': '# API\n',
  'a-report/assets/logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]),
  // A nested skill.
  'a-report/charts/SKILL.md': skill('charts', '"Draws: charts"', '# Charts\n'),
  'a-report/charts/colors.json': '{}\n',
  'team/review/SKILL.md': skill('review', '>-\n  Reviews code\n  line by line.\nlicense: MIT\nmetadata:\n  version: "1.0"', '# Review\n'),
  // What the specification rejects is served, and not listed.
  'wrong-name/SKILL.md': skill('other', 'Has another name.', '# Wrong\n'),
  'broken/SKILL.md': '---\nname: [broken\n---\n# Broken\n',
  'docs/plain.md': '# Plain: "quoted"\n\nA plain file: with a colon # and \\ more.\n',
  'docs/under_score.md': '# No name\n',
  'dev.3md': '---\n3md: 1.0\nagent: dev\n---\n@plane z=0 kind=identity\nI am dev.\n',
}

/** The skills that clients of the extension see; `conformance` is registered by the fixtures. */
export const LISTED = ['a-report', 'a-report/charts', 'conformance', 'dev', 'docs/plain', 'team/review']

/** Writes the files; answers the path of the configuration. */
export function skillFolders() {
  const root = folder()
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
  const config = join(root, 'config.yaml')
  writeFileSync(config, 'skills: ["**/*.md"]\nagents: ["*.3md"]\npublish: true\n')
  return config
}
