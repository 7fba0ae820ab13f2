// The documentation's policies are saved as they stand.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftRevision } from '../../src/policy/revision.ts'
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

test('it names every function that a policy may call', () => {
  const missing = [...FUNCTIONS].filter((name) => !pages.includes(`${name}(`) && !pages.includes(`\`${name}\``))
  expect(missing).toEqual([])
})
