// Numbers that are configured by slug, for existing and later organizations.
import { expect, test } from 'bun:test'
import { createOrganizationNumbers } from '../../src/cluster/organization-numbers.ts'
import { parseByOrganization } from '../../src/config/setting-values.ts'
import type { Organization } from '../../src/store/organizations/organizations.ts'
import { words } from '../support/words.ts'

const organization = (id: string, slug: string): Organization =>
  ({ id, slug, name: slug, level: 1, createdAtSeconds: 0 }) as unknown as Organization
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const create = (list: () => Promise<Organization[]>, bySlug: Readonly<Record<string, number>> = { acme: 4 }) => {
  const errors: unknown[] = []
  const unknown: string[] = []
  const numbers = createOrganizationNumbers({
    organizations: { list },
    bySlug: new Map(Object.entries(bySlug)),
    fallback: 1,
    onError: (error) => errors.push(error),
    onUnknown: (slugs) => unknown.push(...slugs),
  })
  return { numbers, errors, unknown, all: () => ['1', '2', '3'].map(numbers.of) }
}

test('organizations have their configured number, or 1', async () => {
  const organizations = [organization('1', 'acme'), organization('2', 'other')]
  const { numbers, errors, unknown, all } = create(async () => organizations, { acme: 4, late: 2 })
  expect(numbers.of('1')).toBe(1)
  await numbers.load()
  expect([unknown, all()]).toEqual([['late'], [4, 1, 1]])
  organizations.push(organization('3', 'late'))
  numbers.followChange({ topic: 'session' })
  await Promise.resolve()
  expect(numbers.of('3')).toBe(1)
  numbers.followChange({ topic: 'organization' })
  await settled()
  expect([numbers.of('3'), errors]).toEqual([2, []])
})

test('other organizations have the number of `*`, even before the load', async () => {
  const list = async () => [organization('1', 'acme'), organization('2', 'other')]
  const { numbers, unknown, all } = create(list, { '*': 50, acme: 4 })
  expect(numbers.of('2')).toBe(50)
  await numbers.load()
  expect([all(), unknown]).toEqual([[4, 50, 50], []])
})

test('numbers are those of the latest read, even if an earlier read takes longer', async () => {
  const first = Promise.withResolvers<Organization[]>()
  const reads = [first.promise, Promise.resolve([organization('1', 'acme')])]
  const { numbers } = create(async () => (await reads.shift()) ?? [])
  const loading = numbers.load()
  numbers.resync()
  await settled()
  first.resolve([])
  await loading
  await settled()
  expect(numbers.of('1')).toBe(4)
})

test('numbers stay the same if a read fails', async () => {
  let fails = false
  const { numbers, errors } = create(async () => {
    if (fails) throw new Error('locked')
    return [organization('1', 'acme')]
  })
  await numbers.load()
  fails = true
  numbers.resync()
  await settled()
  expect([numbers.of('1'), errors.length]).toEqual([4, 1])
})

test.each<[string, Readonly<Record<string, number>>]>([
  ['', {}],
  ['acme=4', { acme: 4 }],
  ['acme=4, other=1', { acme: 4, other: 1 }],
  ['*=1000,acme=4', { '*': 1_000, acme: 4 }],
])('the setting %p is parsed', (text, expected) => {
  expect(Object.fromEntries(parseByOrganization(1_000)(text))).toEqual(expected)
})

test.each(words`
  acme acme= acme=0 acme=1.5 acme=1001 =1 acme=1,acme=2 ACME=1 a=1,,b=1 *=1,*=2 a*=1
`)('the setting %p is refused', (text) => {
  expect(() => parseByOrganization(1_000)(text)).toThrow('must be')
})
