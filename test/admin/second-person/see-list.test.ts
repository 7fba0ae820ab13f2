// Which changes of lists need a second person, for every kind of list and of change, and what is seen of them.
import { expect, test } from 'bun:test'
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
import { openTemporaryStore } from '../../store/temporary-store.ts'

const ADDRESS = { address: '0x1111111111111111111111111111111111111111' }
const OWNERS = ['organization_1', null]
const NAMES = ['allow', 'deny', 'other']

test('a change is made at once only if it adds to an organization’s deny list, or removes from its allow list', () => {
  for (const owner of OWNERS) {
    for (const name of NAMES) {
      for (const [adds, removes] of [
        [true, false],
        [false, true],
        [true, true],
      ]) {
        const edit = { add: adds ? [ADDRESS] : [], remove: removes ? [ADDRESS.address] : [] }
        const loosens = name === 'deny' ? removes : name === 'allow' ? adds : true
        const expected = owner !== null && !loosens ? 'nothing' : 'second-person'
        expect([owner, name, edit, needsForEdit(name, owner, edit)]).toEqual([owner, name, edit, expected])
      }
      for (const merge of [true, false]) {
        const expected = owner !== null && name === 'deny' && merge ? 'nothing' : 'second-person'
        expect([owner, name, merge, needsForUpload(name, owner, merge)]).toEqual([owner, name, merge, expected])
      }
    }
  }
})

test('a source is shown with each property that is not the usual one', async () => {
  const { store, remove } = await openTemporaryStore()
  try {
    await store.lists.create({ owner: null, name: 'shared' })
    const source = { location: 'https://a.example/', format: 'csv', skipsBadLines: false, intervalSeconds: 60 } as const
    const shown = async (changed: object) =>
      (await seeSource(store, null, 'shared', { ...source, reach: 'public', ...changed })).changes[0]?.after
    const usual = 'a.example/ (sha256 befde498a45b6c82), csv, every 60 s'
    for (const reach of REACHES) {
      expect(await shown({ reach })).toBe(reach === 'public' ? usual : `${usual}, ${reach} addresses allowed`)
    }
    expect(await shown({ skipsBadLines: true })).toBe(`${usual}, skips invalid lines`)
    const { name, changes } = await seeSource(store, null, 'shared', { ...source, reach: 'public' })
    expect([name, changes[0]?.before]).toEqual(['shared list shared', 'people, with 0 entries'])
  } finally {
    await remove()
  }
})

test('a long edit shows fifty changes of each kind, and its basis covers the others', async () => {
  const { store, remove } = await openTemporaryStore()
  try {
    await store.lists.create({ owner: null, name: 'shared' })
    const addresses = Array.from({ length: 60 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`)
    const add = addresses.map((address) => ({ address }))
    const see = (edit: object) => seeEdit(store, null, 'shared', edit)
    const both = await see({ add, remove: addresses })
    expect(both.changes).toHaveLength(101)
    expect(both.changes[0]?.after).toBe('60 added, 60 removed; 20 not shown')
    const other = await see({ add: [...add.slice(0, 59), ADDRESS], remove: addresses })
    expect(other.changes).toEqual(both.changes)
    expect(basisOf(other)).not.toEqual(basisOf(both))
    expect((await see({ add: add.slice(0, 50) })).changes).toHaveLength(50)
  } finally {
    await remove()
  }
})

test('two files look different, and so do lists of one length after a change', async () => {
  const { store, remove } = await openTemporaryStore()
  try {
    const { lists } = store
    await lists.create({ owner: null, name: 'shared' })
    const put = (address: string, present: boolean) =>
      lists.edit(null, 'shared', [
        { key: addressKey(address as never), memo: '', author: 'a', addedAtSeconds: 0, present },
      ])
    const none = { added: 0, removed: 0, remarked: 0, shown: [], sha256: '' }
    const see = async (file: string) => {
      const version = (await lists.find(null, 'shared'))?.version ?? 0
      const upload = { merge: false, entries: 1, read: 1, sha256: file, difference: { version, ...none } }
      return seeUpload(store, null, 'shared', { ...upload, bytes: 1, activation: {} as never })
    }
    const seen = () => Promise.all([see('a'.repeat(64)), seeRemoval(store, null, 'shared')])
    await put(ADDRESS.address, true)
    const before = await seen()
    expect((await see('b'.repeat(64))).changes).not.toEqual(before[0].changes)

    await put(ADDRESS.address, false)
    await put(ADDRESS.address.replace('1', '2'), true)
    for (const [index, view] of (await seen()).entries()) {
      expect(view.changes).toEqual(before[index]?.changes ?? [])
      expect(basisOf(view)).not.toEqual(basisOf(before[index] ?? view))
    }
  } finally {
    await remove()
  }
})
