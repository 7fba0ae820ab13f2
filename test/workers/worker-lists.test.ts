// A worker's lists, as its policies read them.
import { describe, expect, test } from 'bun:test'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createLists } from '../../workers/signing/worker-lists.ts'
import { listImage, setOf } from '../facts/lists/list-images.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const SOLANA = 'So11111111111111111111111111111111111111112'
const NOW_SECONDS = 1_700_000_000

const ADDRESSES = { [ALICE]: 'Alice', [BOB]: 'Bob', [SOLANA]: 'Solana' }

const createTestLists = () => createLists({ unixMs: () => NOW_SECONDS * 1000 + 999 })
/** The members of a list, by name. */
const members = (lists: ReturnType<typeof createTestLists>, list = 'deny', organization = 'org_1'): string[] =>
  Object.entries(ADDRESSES).flatMap(([address, name]) => (lists.of(organization).contains(list, address) ? [name] : []))

describe('lists', () => {
  test('are empty before the first update', () => {
    const lists = createTestLists()
    expect(members(lists)).toEqual([])
    expect(lists.of('org_1').ageSeconds('deny')).toBeNull()
  })

  test('belong to one organization, unless they are shared', () => {
    const lists = createTestLists()
    const shared = listImage([BOB], { id: 'list_2', organizationId: null, name: 'sanctions' })
    lists.update([listImage([ALICE, SOLANA]), shared], [])
    expect([members(lists), members(lists, 'deny', 'org_2')]).toEqual([['Alice', 'Solana'], []])
    expect([members(lists, 'sanctions'), members(lists, 'sanctions', 'org_2')]).toEqual([['Bob'], ['Bob']])
  })

  test('of an organization take precedence over shared lists of the same name', () => {
    const lists = createTestLists()
    const shared = listImage([BOB], { id: 'list_2', organizationId: null, name: 'vip' })
    lists.update([listImage([ALICE], { name: 'vip' }), shared], [])
    expect([members(lists, 'vip'), members(lists, 'vip', 'org_2')]).toEqual([['Alice'], ['Bob']])
    lists.update([], ['list_1'])
    expect(members(lists, 'vip')).toEqual(['Bob'])
  })

  test('change for existing readers with new versions, single changes and removals', () => {
    const lists = createTestLists()
    const before = lists.of('org_1')
    lists.update([listImage([ALICE])], [])
    const reader = lists.of('org_1')
    const contained = () => [reader.contains('deny', ALICE), reader.contains('deny', BOB)]
    expect(contained()).toEqual([true, false])
    lists.update([listImage([ALICE], { added: setOf([BOB]), removed: setOf([ALICE]) })], [])
    expect(contained()).toEqual([false, true])
    lists.update([listImage([BOB])], [])
    expect(contained()).toEqual([false, true])
    lists.update([], ['list_1'])
    expect(members(lists)).toEqual([])
    expect(before.contains('deny', BOB)).toBe(false)
  })

  test.each([['org_1'], [null]])('of %p survive the removal of an old list with the same name', (organizationId) => {
    const lists = createTestLists()
    lists.update([listImage([ALICE], { organizationId })], [])
    // The new list arrives before the removal of the old one.
    lists.update([listImage([BOB], { id: 'list_2', organizationId })], [])
    lists.update([], ['list_1'])
    expect(members(lists)).toEqual(['Bob'])
    lists.update([], ['list_2'])
    expect(members(lists)).toEqual([])
  })

  test('that swap their names keep their entries', () => {
    const lists = createTestLists()
    lists.update([listImage([ALICE]), listImage([BOB], { id: 'list_2', name: 'allow' })], [])
    lists.update([listImage([ALICE], { name: 'allow' }), listImage([BOB], { id: 'list_2' })], [])
    expect([members(lists, 'allow'), members(lists)]).toEqual([['Alice'], ['Bob']])
  })

  test('of a source have the age of its last confirmation, and other lists have age 0', () => {
    const lists = createTestLists()
    const source = { keptBy: 'source', organizationId: null } as const
    lists.update(
      [
        listImage([ALICE]),
        listImage([], { ...source, id: 'list_2', name: 'new' }),
        listImage([BOB], { ...source, id: 'list_3', name: 'old', confirmedAtSeconds: NOW_SECONDS - 100 }),
        listImage([BOB], { ...source, id: 'list_4', name: 'ahead', confirmedAtSeconds: NOW_SECONDS + 50 }),
      ],
      [],
    )
    const reader = lists.of('org_1')
    expect(['deny', 'new', 'old', 'ahead', 'missing'].map(reader.ageSeconds)).toEqual([0, null, 100, 0, null])
  })

  test('whose change could not be read are unavailable', () => {
    const lists = createTestLists()
    lists.update([listImage([ALICE], { current: false })], [])
    const reader = lists.of('org_1')
    expect(() => reader.contains('deny', ALICE)).toThrow(DependencyUnavailableError)
    expect(() => reader.contains('deny', BOB)).toThrow(DependencyUnavailableError)
    expect(() => reader.ageSeconds('deny')).toThrow(DependencyUnavailableError)
    expect(members(lists, 'deny', 'org_2')).toEqual([])
  })
})
