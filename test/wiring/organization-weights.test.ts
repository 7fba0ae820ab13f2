// Weights by short name, found by id, also for organizations that come later.
import { expect, test } from 'bun:test'
import { parseWeights } from '../../src/setting-values.ts'
import type { Organization } from '../../src/store/organizations.ts'
import { createOrganizationWeights } from '../../src/wiring/organization-weights.ts'

const organization = (id: string, slug: string): Organization =>
  ({ id, slug, name: slug, level: 1, createdAtSeconds: 0 }) as unknown as Organization

test('are those that were configured, and 1 for all others', async () => {
  const all = [organization('1', 'acme'), organization('2', 'other')]
  const errors: unknown[] = []
  const unknown: string[] = []
  const weights = createOrganizationWeights(
    { list: async () => all },
    new Map([
      ['acme', 4],
      ['late', 2],
    ]),
    (error) => errors.push(error),
    (slugs) => unknown.push(...slugs),
  )
  expect(weights.weightOf('1')).toBe(1)
  await weights.load()
  expect(unknown).toEqual(['late'])
  expect(['1', '2', '3'].map(weights.weightOf)).toEqual([4, 1, 1])
  all.push(organization('3', 'late'))
  weights.followChange({ topic: 'session' })
  await Promise.resolve()
  expect(weights.weightOf('3')).toBe(1)
  weights.followChange({ topic: 'organization' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(weights.weightOf('3')).toBe(2)
  expect(errors).toEqual([])
})

test('stay as they were when the store can not be read', async () => {
  const errors: unknown[] = []
  let fails = false
  const list = async (): Promise<Organization[]> => {
    if (fails) throw new Error('locked')
    return [organization('1', 'acme')]
  }
  const weights = createOrganizationWeights(
    { list },
    new Map([['acme', 4]]),
    (error) => errors.push(error),
    () => undefined,
  )
  await weights.load()
  fails = true
  weights.resync()
  await new Promise((resolve) => setImmediate(resolve))
  expect(weights.weightOf('1')).toBe(4)
  expect(errors).toHaveLength(1)
})

test.each([
  ['', []],
  ['acme=4', [['acme', 4]]],
  [
    'acme=4, other=1',
    [
      ['acme', 4],
      ['other', 1],
    ],
  ],
] as const)('the setting %p', (text, expected) => {
  expect([...parseWeights(text)]).toEqual(expected.map(([slug, weight]) => [slug, weight]))
})

test.each(['acme', 'acme=', 'acme=0', 'acme=1.5', 'acme=1001', '=1', 'acme=1,acme=2', 'ACME=1', 'a=1,,b=1'])(
  'the setting %p is refused',
  (text) => {
    expect(() => parseWeights(text)).toThrow('must be')
  },
)
