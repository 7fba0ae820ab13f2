// The lists that a replay reads, by name.
import { expect, test } from 'bun:test'
import { readListImages } from '../../src/domain/list-image.ts'
import { listImage } from '../facts/lists/list-images.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const NOW_SECONDS = 1_700_000_000

const OWN = listImage([ALICE], { name: 'vip' })
const SHARED = listImage([BOB], { id: 'list_2', organizationId: null, name: 'vip' })
test.each([
  ['first', [OWN, SHARED]],
  ['last', [SHARED, OWN]],
])('an organization’s own list hides a shared list with the same name if it comes %s', (_, images) => {
  const { contains } = readListImages(images, () => NOW_SECONDS)
  expect([contains('vip', ALICE), contains('vip', BOB), contains('deny', ALICE)]).toEqual([true, false, false])
})

test('lists of people have no age, lists of sources have the time since their confirmation, and unknown lists have an unknown age', () => {
  const lists = readListImages(
    [
      listImage([ALICE], { name: 'people' }),
      listImage([ALICE], { id: 'list_2', name: 'read', keptBy: 'source', confirmedAtSeconds: NOW_SECONDS - 90 }),
      listImage([ALICE], { id: 'list_3', name: 'unread', keptBy: 'source', confirmedAtSeconds: null }),
      listImage([ALICE], { id: 'list_4', name: 'ahead', keptBy: 'source', confirmedAtSeconds: NOW_SECONDS + 60 }),
      listImage([ALICE], { id: 'list_5', name: 'wrong', keptBy: 'source', confirmedAtSeconds: NOW_SECONDS + 61 }),
    ],
    () => NOW_SECONDS,
  )
  expect(['people', 'read', 'unread', 'unknown'].map(lists.ageSeconds)).toEqual([0, 90, null, null])
  expect(['ahead', 'wrong'].map(lists.ageSeconds)).toEqual([0, null])
})
