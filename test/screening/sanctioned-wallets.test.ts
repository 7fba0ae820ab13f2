// The shared list of sanctioned people's wallets follows the versions of its source list through crashes and failures,
// and is never newer than the version that its wallets come from.
import { expect, test } from 'bun:test'
import { addressOfKey } from '../../src/domain/address-key.ts'
import { readEntries } from '../../src/facts/lists/write-list.ts'
import { packEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { createWalletSharing } from '../../src/modules/screening/lists/sanctioned-wallets.ts'
import { evmWallet, SOLANA_WALLET } from '../identity/support.ts'
import { describeStores } from '../store/dialects.ts'
import { storeOfSuite } from '../store/store-of-test.ts'
import { seedOrganization } from '../store/temporary-store.ts'
import { listWallets, readWallets, shareWallets } from '../support/sanctioned-wallets.ts'

describeStores((openTemporaryStore) => {
  const temporary = storeOfSuite(openTemporaryStore)

  const share = () => shareWallets(temporary.store, temporary.clock)
  /** Shares wallets with a custom reader, and collects the log lines. */
  const sharingBy = (read: typeof readWallets) => {
    const shared: unknown[] = []
    const failed: unknown[] = []
    const { store, clock } = temporary
    const log = {
      info: (_: string, fields?: object) => shared.push(fields),
      error: (_: string, fields?: object) => failed.push(fields),
    }
    return { shared, failed, share: createWalletSharing({ store, clock, processes: { readWallets: read }, log }) }
  }
  const set = (name: string) => {
    const source = { format: 'csv', urls: [], reach: 'public', intervalSeconds: 3_600 } as const
    return temporary.store.screeningLists.set({ name, ...source })
  }
  const READ = { token: null, validators: {}, nextDueAtSeconds: 9e9 }
  const found = (name: string) => temporary.store.lists.find(null, name)
  const addressesOf = async (name: string): Promise<string[]> => {
    const { lists, listBases } = temporary.store
    const addresses: string[] = []
    for await (const { key } of readEntries({ lists, bases: listBases }, (await found(name))?.id ?? '')) {
      addresses.push(addressOfKey(key))
    }
    return addresses
  }
  /** The publisher reports that the list has not changed. */
  const confirm = async (name: string): Promise<void> => {
    const list = await temporary.store.screeningLists.find(name)
    if (list === null) throw new Error('there is no such list')
    await temporary.store.screeningLists.confirm(list, 9e9)
  }

  test('a version that was stored before a crash is shared by the next process, and ages until then', async () => {
    const { store, clock } = temporary
    await listWallets(store, 'cut-off', [evmWallet(1), 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh'])
    await share()
    const sharedAtSeconds = clock.unixSeconds()
    expect(await addressesOf('cut_off')).toEqual([evmWallet(1)])
    clock.advance(3_600)
    // The process is killed here: the version is committed, its wallets are not shared, and the publisher responds with
    // 304 from then on.
    await listWallets(store, 'cut-off', [evmWallet(2), SOLANA_WALLET])
    clock.advance(3_600)
    await confirm('cut-off')
    expect(await found('cut_off')).toMatchObject({ keptBy: 'screening', confirmedAtSeconds: sharedAtSeconds })
    expect(await addressesOf('cut_off')).toEqual([evmWallet(1)])
    clock.advance(60)
    await share()
    expect(await addressesOf('cut_off')).toEqual([evmWallet(2), SOLANA_WALLET])
    // The age counts from the confirmation of the version, not from its write.
    expect(await found('cut_off')).toMatchObject({ confirmedAtSeconds: clock.unixSeconds() - 60 })
    await confirm('cut-off')
    expect(await found('cut_off')).toMatchObject({ confirmedAtSeconds: clock.unixSeconds() })
  })

  test('addresses that are not shared are counted', async () => {
    const bitcoin = 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh'
    await listWallets(temporary.store, 'counted', [evmWallet(1), SOLANA_WALLET, bitcoin, 'x'])
    const { shared, share } = sharingBy(readWallets)
    await share(() => true)
    expect(shared).toEqual([{ list: 'counted', shared: 2, skipped: 2 }])
  })

  test('a version without wallets empties an existing list, and creates no list', async () => {
    const { store } = temporary
    await listWallets(store, 'emptied', [evmWallet(1)])
    await share()
    await listWallets(store, 'emptied', [])
    await listWallets(store, 'never-any', [])
    await share()
    expect(await found('emptied')).toMatchObject({ entryCount: 0, keptBy: 'screening' })
    expect(await found('never_any')).toBeNull()
    expect(await store.screeningLists.unshared()).toEqual([])
  })

  test('a version that could not be shared is logged and retried after a minute', async () => {
    const { store, clock } = temporary
    await listWallets(store, 'failing', [evmWallet(1)])
    let fails = true
    const { failed, share } = sharingBy((packed) => (fails ? Promise.reject(new Error('killed')) : readWallets(packed)))
    await share(() => true)
    fails = false
    await share(() => true)
    expect(failed).toMatchObject([{ list: 'failing' }])
    expect(await found('failing')).toBeNull()
    clock.advance(60)
    await share(() => false)
    expect(await found('failing')).toBeNull()
    await share(() => true)
    expect(await addressesOf('failing')).toEqual([evmWallet(1)])
  })

  test('a version that was replaced while its wallets were read is not shared', async () => {
    const { store } = temporary
    await listWallets(store, 'overtaken', [evmWallet(1)])
    const late = sharingBy(async (packed) => {
      await listWallets(store, 'overtaken', [evmWallet(2)])
      await share()
      return readWallets(packed)
    })
    await late.share(() => true)
    expect(late.failed).toHaveLength(1)
    expect(await addressesOf('overtaken')).toEqual([evmWallet(2)])
  })

  test.each(['deny', 'allow', '1list', 'a'.repeat(65)])('no shared list can be named %s', async (name) => {
    await expect(set(name)).rejects.toMatchObject({ field: 'list' })
  })

  test('a list maintained by people is not overwritten, and no name gets two owners', async () => {
    const { store } = temporary
    const { organizationId } = await seedOrganization(store, 'ours')
    await store.lists.create({ owner: null, name: 'blocked_by_us' })
    await expect(set('blocked-by-us')).rejects.toMatchObject({ field: 'list' })
    expect(await store.screeningLists.find('blocked-by-us')).toBeNull()
    await set('reserved-one')
    await expect(store.lists.create({ owner: null, name: 'reserved_one' })).rejects.toMatchObject({ field: 'name' })
    // An organization's own list isn’t shared.
    await store.lists.create({ owner: organizationId, name: 'reserved_one' })
    await store.screeningLists.remove('reserved-one')
    expect((await store.lists.create({ owner: null, name: 'reserved_one' })).keptBy).toBe('people')
  })

  test.each([0, 1, 2, 3, 4])('if two writers claim a name at once, one gets it: round %d', async (round) => {
    const results = await Promise.allSettled([
      temporary.store.lists.create({ owner: null, name: `raced_${round}` }),
      set(`raced-${round}`),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('a list that was disabled keeps its wallets, which age; removed, it comes back with its list alone', async () => {
    const { store, clock } = temporary
    await listWallets(store, 'disabled', [evmWallet(1)])
    await share()
    const confirmedAtSeconds = clock.unixSeconds()
    await store.screeningLists.remove('disabled')
    clock.advance(86_400)
    await share()
    expect(await found('disabled')).toMatchObject({ keptBy: 'screening', isOfSanctioned: false, confirmedAtSeconds })
    const entry = { key: new Uint8Array(20), memo: '', author: 'ada', addedAtSeconds: 1, present: true }
    expect(await store.lists.edit(null, 'disabled', [entry])).toEqual({ status: 'kept-by-screening' })
    await listWallets(store, 'disabled', [evmWallet(2)])
    await share()
    expect(await addressesOf('disabled')).toEqual([evmWallet(2)])
    expect(await found('disabled')).toMatchObject({ isOfSanctioned: true, confirmedAtSeconds: clock.unixSeconds() })
    await store.lists.remove(null, 'disabled')
    await share()
    expect(await addressesOf('disabled')).toEqual([evmWallet(2)])
  })

  test('a file that people upload never becomes the content of a list that screening writes', async () => {
    const { store } = temporary
    await listWallets(store, 'ours-alone', [evmWallet(1)])
    await share()
    const list = await found('ours_alone')
    const baseId = await store.listBases.begin(list?.id ?? '')
    const activation = { listId: list?.id ?? '', baseId, ifVersion: null, confirmation: null }
    expect(await store.listBases.activate(activation)).toBe('changed-meanwhile')
    // A version of a different list does not either.
    const confirmation = { screeningList: 'ours-alone', versionId: 'sv_other' }
    expect(await store.listBases.activate({ ...activation, confirmation })).toBe('changed-meanwhile')
    expect(await addressesOf('ours_alone')).toEqual([evmWallet(1)])
  })

  test('a list that an earlier release created without a recorded writer is adopted', async () => {
    const { store } = temporary
    await listWallets(store, 'unmarked', [evmWallet(1)])
    await share()
    await store.database.execute("UPDATE lists SET screening_list = NULL WHERE name = 'unmarked'")
    await store.screeningLists.replace('unmarked', packEntries([]), READ)
    await share()
    expect(await found('unmarked')).toMatchObject({ keptBy: 'screening', entryCount: 0 })
  })
})
