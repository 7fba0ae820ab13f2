// List changes: whether each kind of list and change needs a second person, and the view of the approver.
import { describe, expect, test } from 'bun:test'
import { basisOf } from '../../../src/admin/second-person/guard.ts'
import {
  needsForEdit,
  needsForUpload,
  seeEdit,
  seeRemoval,
  seeSource,
  seeUpload,
} from '../../../src/admin/second-person/see-list.ts'
import { addressKey } from '../../../src/domain/address-key.ts'
import { REACHES } from '../../../src/domain/list.ts'
import { storeOfTest } from '../../store/store-of-test.ts'
import { openTemporaryStore } from '../../store/temporary-store.ts'

const ADDRESS = { address: '0x1111111111111111111111111111111111111111' }

describe.each(['organization_1', null])('a list of %p', (owner) => {
  test.each(['allow', 'deny', 'other'])('with the name %s', (name) => {
    // Only additions to the deny list and removals from the allow list of an organization are made immediately.
    const needs = (loosens: boolean) => (owner !== null && !loosens ? 'nothing' : 'second-person')
    for (const [adds, removes] of [
      [true, false],
      [false, true],
      [true, true],
    ]) {
      const edit = { add: adds ? [ADDRESS] : [], remove: removes ? [ADDRESS.address] : [] }
      const loosens = name === 'deny' ? removes === true : name === 'allow' ? adds === true : true
      expect([edit, needsForEdit(name, owner, edit)]).toEqual([edit, needs(loosens)])
    }
    for (const merge of [true, false]) {
      expect([merge, needsForUpload(name, owner, merge)]).toEqual([merge, needs(name !== 'deny' || !merge)])
    }
  })
})

describe('the view of', () => {
  const temporary = storeOfTest(openTemporaryStore)
  const createList = () => temporary.store.lists.create({ owner: null, name: 'shared' })

  test('a source shows each property that differs from its default', async () => {
    const { store } = temporary
    await createList()
    const source = { location: 'https://a.example/', format: 'csv', skipsBadLines: false, intervalSeconds: 60 } as const
    const see = (changes: object) => seeSource(store, null, 'shared', { ...source, reach: 'public', ...changes })
    const shown = async (changes: object) => (await see(changes)).changes[0]?.after
    const usual = 'a.example/ (sha256 befde498a45b6c82), csv, every 60 s'
    for (const reach of REACHES) {
      expect(await shown({ reach })).toBe(reach === 'public' ? usual : `${usual}, ${reach} addresses allowed`)
    }
    expect(await shown({ skipsBadLines: true })).toBe(`${usual}, skips invalid lines`)
    const { name, changes } = await see({})
    expect([name, changes[0]?.before]).toEqual(['shared list shared', 'people, with 0 entries'])
  })

  test('a long edit shows fifty changes of each kind, and its basis covers the others', async () => {
    await createList()
    const addresses = Array.from({ length: 60 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    const add = addresses.map((address) => ({ address }))
    const see = (edit: object) => seeEdit(temporary.store, null, 'shared', edit)
    const both = await see({ add, remove: addresses })
    expect([both.changes.length, both.changes[0]?.after]).toEqual([101, '60 added, 60 removed; 20 not shown'])
    const other = await see({ add: [...add.slice(0, 59), ADDRESS], remove: addresses })
    expect(other.changes).toEqual(both.changes)
    expect(basisOf(other)).not.toEqual(basisOf(both))
    expect((await see({ add: add.slice(0, 50) })).changes).toHaveLength(50)
  })

  test('an upload depends on the file, and its basis on the entries of the list', async () => {
    const { store } = temporary
    const { lists } = store
    await createList()
    const put = (address: string, present: boolean) =>
      lists.edit(null, 'shared', [
        { key: addressKey(address as never), memo: '', author: 'a', addedAtSeconds: 0, present },
      ])
    const none = { added: 0, removed: 0, remarked: 0, shown: [], sha256: '' }
    const see = async (sha256: string) => {
      const version = (await lists.find(null, 'shared'))?.version ?? 0
      const upload = { merge: false, entries: 1, read: 1, sha256, difference: { version, ...none } }
      return seeUpload(store, null, 'shared', { ...upload, bytes: 1, activation: {} as never })
    }
    const seen = () => Promise.all([see('a'.repeat(64)), seeRemoval(store, null, 'shared')])
    await put(ADDRESS.address, true)
    const before = await seen()
    expect((await see('b'.repeat(64))).changes).not.toEqual(before[0].changes)

    // Replaces an entry; the list keeps its length.
    await put(ADDRESS.address, false)
    await put(ADDRESS.address.replace('1', '2'), true)
    for (const [index, view] of (await seen()).entries()) {
      expect(view.changes).toEqual(before[index]?.changes ?? [])
      expect(basisOf(view)).not.toEqual(basisOf(before[index] ?? view))
    }
  })
})
