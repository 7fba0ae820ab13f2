// Numbers by short name, found by id, also for organizations that come later.
import { expect, test } from 'bun:test'
import { createOrganizationNumbers } from '../../src/cluster/organization-numbers.ts'
import { parseByOrganization } from '../../src/config/setting-values.ts'
import type { Organization } from '../../src/store/organizations/organizations.ts'
import { words } from '../support/words.ts'

const organization = (id: string, slug: string): Organization =>
  ({ id, slug, name: slug, level: 1, createdAtSeconds: 0 }) as unknown as Organization

test('are those that were configured, and 1 for all others', async () => {
  const all = [organization('1', 'acme'), organization('2', 'other')]
  const errors: unknown[] = []
  const unknown: string[] = []
  const weights = createOrganizationNumbers({
    organizations: { list: async () => all },
    bySlug: new Map([
      ['acme', 4],
      ['late', 2],
    ]),
    fallback: 1,
    onError: (error) => errors.push(error),
    onUnknown: (slugs) => unknown.push(...slugs),
  })
  expect(weights.of('1')).toBe(1)
  await weights.load()
  expect(unknown).toEqual(['late'])
  expect(['1', '2', '3'].map(weights.of)).toEqual([4, 1, 1])
  all.push(organization('3', 'late'))
  weights.followChange({ topic: 'session' })
  await Promise.resolve()
  expect(weights.of('3')).toBe(1)
  weights.followChange({ topic: 'organization' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(weights.of('3')).toBe(2)
  expect(errors).toEqual([])
})

test('all that are not named have what is configured for all others, before anything was read too', async () => {
  const numbers = createOrganizationNumbers({
    organizations: { list: async () => [organization('1', 'acme'), organization('2', 'other')] },
    bySlug: new Map([
      ['*', 50],
      ['acme', 4],
    ]),
    fallback: 1,
    onError: () => undefined,
    onUnknown: (slugs) => expect(slugs).toEqual([]),
  })
  expect(numbers.of('2')).toBe(50)
  await numbers.load()
  expect(['1', '2', '3'].map(numbers.of)).toEqual([4, 50, 50])
})

test('are those of the latest reading, also when one before takes longer', async () => {
  const first = Promise.withResolvers<Organization[]>()
  const readings = [first.promise, Promise.resolve([organization('1', 'acme')])]
  const weights = createOrganizationNumbers({
    organizations: { list: async () => (await readings.shift()) ?? [] },
    bySlug: new Map([['acme', 4]]),
    fallback: 1,
    onError: () => undefined,
    onUnknown: () => undefined,
  })
  const loading = weights.load()
  weights.resync()
  await new Promise((resolve) => setImmediate(resolve))
  first.resolve([])
  await loading
  await new Promise((resolve) => setImmediate(resolve))
  expect(weights.of('1')).toBe(4)
})

test('stay as they were when the store can not be read', async () => {
  const errors: unknown[] = []
  let fails = false
  const list = async (): Promise<Organization[]> => {
    if (fails) throw new Error('locked')
    return [organization('1', 'acme')]
  }
  const weights = createOrganizationNumbers({
    organizations: { list },
    bySlug: new Map([['acme', 4]]),
    fallback: 1,
    onError: (error) => errors.push(error),
    onUnknown: () => undefined,
  })
  await weights.load()
  fails = true
  weights.resync()
  await new Promise((resolve) => setImmediate(resolve))
  expect(weights.of('1')).toBe(4)
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
  [
    '*=1000,acme=4',
    [
      ['*', 1_000],
      ['acme', 4],
    ],
  ],
] as const)('the setting %p', (text, expected) => {
  expect([...parseByOrganization(1_000)(text)]).toEqual(expected.map(([slug, weight]) => [slug, weight]))
})

test.each(words`
  acme acme= acme=0 acme=1.5 acme=1001 =1 acme=1,acme=2 ACME=1 a=1,,b=1 *=1,*=2 a*=1
`)('the setting %p is refused', (text) => {
  expect(() => parseByOrganization(1_000)(text)).toThrow('must be')
})
