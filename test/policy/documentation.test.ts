// The documentation's policies are saved as they stand, and its table of facts of sessions is the program's.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftRevision } from '../../src/policy/revision.ts'
import { SESSION_FACTS } from '../../src/policy/session-facts.ts'
import { FUNCTIONS } from '../../src/policy/tools/language.ts'

const ROOT = join(import.meta.dir, '..', '..')
const pages = ['README.md', 'docs/policies.md'].map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n')
const documents = [...pages.matchAll(/```yaml\n(name: [\s\S]*?)```/g)].map((match) => match[1] ?? '')

describe('the policies of the documentation', () => {
  test('are found', () => {
    expect(documents.length).toBeGreaterThanOrEqual(2)
  })

  for (const source of documents) {
    test(source.split('\n')[0] ?? '', () => {
      const { tests } = draftRevision(source)
      expect(tests.every(({ failure }) => failure === null)).toBe(true)
    })
  }
})

test('its table of facts of sessions has every one, with its type and what it is', () => {
  const rows = pages
    .split('\n')
    .filter((line) => /^\| `(?:session|person|checks|wallets)\.[a-z_.]+` +\|/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
  const expected = Object.entries(SESSION_FACTS).flatMap(([group, fields]) =>
    Object.entries(fields).map(([name, { type, description }]) => [
      `\`${group}.${name}\``,
      type,
      description.replace(/\.$/, ''),
    ]),
  )
  expect(rows).toEqual(expected)
})

test('it names every function that a policy may call', () => {
  const missing = [...FUNCTIONS].filter((name) => !pages.includes(`${name}(`) && !pages.includes(`\`${name}\``))
  expect(missing).toEqual([])
})
