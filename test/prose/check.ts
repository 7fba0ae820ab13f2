// Reports constructions that the style of CONTRIBUTING.md rules out. Run by `bun run check`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { answerHelp } from '../support/head-help.ts'
import { PROSE_RULES } from './rules.ts'
import { type Text, textsOfPage, textsOfSource } from './texts.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..', '..')

/** Files with edited English. */
const EDITED = [
  '{CHANGELOG,CONTRIBUTING,README,SECURITY}.md',
  'bench/tried.md',
  'deploy/README.md',
  'deploy/prometheus/alerts.yaml',
  '{clients,contracts,docs,src}/**/*.md',
  '{bench,contracts,deploy,docs,src,workers}/**/*.{ts,tsx}',
  'test/{attack,mutate,support}/**/*.ts',
]

/** Sentences that break a rule for a reason: part of the text, and the file. */
const ALLOWED: readonly (readonly [file: string, text: string])[] = [
  ['CONTRIBUTING.md', '"what was found", "whoever calls"'],
  ['src/portal/page/messages/english.ts', 'What you will do'],
]

const read = (file: string): Text[] => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  return /\.(?:md|yaml)$/.test(file) ? textsOfPage(file, source) : textsOfSource(file, source)
}

const findings = EDITED.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)])
  .filter((file) => !file.includes('/dist/'))
  .flatMap(read)
  .filter(({ file, text }) => !ALLOWED.some(([allowed, part]) => allowed === file && text.includes(part)))
  .flatMap(({ file, line, text }) =>
    PROSE_RULES.flatMap(({ pattern, advice }) => {
      const found = pattern.exec(text)?.[0].trim()
      return found === undefined ? [] : [`${file}:${line}: "${found}": ${advice}`]
    }),
  )

for (const finding of findings) console.error(finding)
if (findings.length > 0) process.exit(1)
