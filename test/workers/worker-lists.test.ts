// What a worker's policies see of lists.
import { describe, expect, test } from 'bun:test'
import { DependencyUnavailableError } from '../../src/domain/errors.ts'
import { createLists } from '../../workers/signing/worker-lists.ts'
import { listImage, setOf } from '../facts/lists/list-images.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const SOLANA = 'So11111111111111111111111111111111111111112'
const NOW_SECONDS = 1_700_000_000

const createReaders = () => createLists({ unixMs: () => NOW_SECONDS * 1000 + 999 })

describe('lists', () => {
  test('are empty until they are handed over', () => {
    const lists = createReaders()
    expect(lists.of('org_1').contains('deny', ALICE)).toBe(false)
    expect(lists.of('org_1').ageSeconds('deny')).toBeNull()
  })

  test('are their organization’s alone, unless they are shared', () => {
    const lists = createReaders()
    lists.update(
      [listImage([ALICE, SOLANA]), listImage([BOB], { id: 'list_2', organizationId: null, name: 'sanctions' })],
      [],
    )
    const [ours, theirs] = [lists.of('org_1'), lists.of('org_2')]
    expect([ours.contains('deny', ALICE), ours.contains('deny', SOLANA), ours.contains('deny', BOB)]).toEqual([
      true,
      true,
      false,
    ])
    expect(theirs.contains('deny', ALICE)).toBe(false)
    expect([ours.contains('sanctions', BOB), theirs.contains('sanctions', BOB)]).toEqual([true, true])
  })

  test('an organization’s own list comes before a shared one of the same name', () => {
    const lists = createReaders()
    lists.update(
      [listImage([ALICE], { name: 'vip' }), listImage([BOB], { id: 'list_2', organizationId: null, name: 'vip' })],
      [],
    )
    expect(lists.of('org_1').contains('vip', BOB)).toBe(false)
    expect(lists.of('org_2').contains('vip', BOB)).toBe(true)
    lists.update([], ['list_1'])
    expect(lists.of('org_1').contains('vip', BOB)).toBe(true)
  })

  test('readers see new versions, single changes and removals', () => {
    const lists = createReaders()
    const before = lists.of('org_1')
    lists.update([listImage([ALICE])], [])
    const reader = lists.of('org_1')
    expect(reader.contains('deny', ALICE)).toBe(true)
    lists.update([listImage([ALICE], { added: setOf([BOB]), removed: setOf([ALICE]) })], [])
    expect([reader.contains('deny', ALICE), reader.contains('deny', BOB)]).toEqual([false, true])
    lists.update([listImage([BOB])], [])
    expect([reader.contains('deny', ALICE), reader.contains('deny', BOB)]).toEqual([false, true])
    lists.update([], ['list_1'])
    expect(lists.of('org_1').contains('deny', BOB)).toBe(false)
    expect(before.contains('deny', BOB)).toBe(false)
  })

  test.each([['org_1'], [null]])(
    'the removal of an old list leaves a new one of the same name (of %p)',
    (organizationId) => {
      const lists = createReaders()
      lists.update([listImage([ALICE], { organizationId })], [])
      // The new list is read and told before the old list's removal is.
      lists.update([listImage([BOB], { id: 'list_2', organizationId })], [])
      lists.update([], ['list_1'])
      const reader = lists.of('org_1')
      expect([reader.contains('deny', ALICE), reader.contains('deny', BOB)]).toEqual([false, true])
      lists.update([], ['list_2'])
      expect(lists.of('org_1').contains('deny', BOB)).toBe(false)
    },
  )

  test('two lists that swap their names keep their own entries', () => {
    const lists = createReaders()
    lists.update([listImage([ALICE]), listImage([BOB], { id: 'list_2', name: 'allow' })], [])
    lists.update([listImage([ALICE], { name: 'allow' }), listImage([BOB], { id: 'list_2' })], [])
    const reader = lists.of('org_1')
    expect([reader.contains('allow', ALICE), reader.contains('deny', BOB)]).toEqual([true, true])
  })

  test('people’s lists have no age, a source’s the time since it was confirmed', () => {
    const lists = createReaders()
    const source = { keptBy: 'source', organizationId: null } as const
    lists.update(
      [
        listImage([ALICE]),
        listImage([], { ...source, id: 'list_2', name: 'new' }),
        listImage([BOB], { ...source, id: 'list_3', name: 'old', confirmedAtSeconds: NOW_SECONDS - 100 }),
        listImage([BOB], { ...source, id: 'list_4', name: 'ahead', confirmedAtSeconds: NOW_SECONDS + 100 }),
      ],
      [],
    )
    const reader = lists.of('org_1')
    expect(['deny', 'new', 'old', 'ahead', 'missing'].map(reader.ageSeconds)).toEqual([0, null, 100, 0, null])
  })

  test('nothing is said of a list whose change could not be read', () => {
    const lists = createReaders()
    lists.update([listImage([ALICE], { current: false })], [])
    const reader = lists.of('org_1')
    expect(() => reader.contains('deny', ALICE)).toThrow(DependencyUnavailableError)
    expect(() => reader.contains('deny', BOB)).toThrow(DependencyUnavailableError)
    expect(() => reader.ageSeconds('deny')).toThrow(DependencyUnavailableError)
    expect(lists.of('org_2').contains('deny', ALICE)).toBe(false)
  })
})
