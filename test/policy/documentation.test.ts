// The policies in the documentation can be saved, and the documentation names each policy function.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftRevision } from '../../src/policy/revision.ts'
import { FUNCTIONS } from '../../src/policy/tools/language.ts'

const ROOT = join(import.meta.dir, '..', '..')
const pages = ['README.md', 'docs/policies.md'].map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n')
const documents = [...pages.matchAll(/```yaml\n(name: [\s\S]*?)```/g)].map((match) => match[1] ?? '')

test('the documentation has at least two policies', () => expect(documents.length).toBeGreaterThanOrEqual(2))

test.each(documents.map((source) => [source.split('\n')[0], source]))('the policy passes its tests: %s', (_, source) =>
  expect(draftRevision(source!).tests.every(({ failure }) => failure === null)).toBe(true),
)

test('the documentation names every policy function', () => {
  const missing = [...FUNCTIONS].filter((name) => !pages.includes(`${name}(`) && !pages.includes(`\`${name}\``))
  expect(missing).toEqual([])
})
