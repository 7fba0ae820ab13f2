// Connected wallets against real lists of the store and a screener over real HTTP: when a person submits, when a list
// changes, and when the screener is unavailable.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import { addressKey } from '../../src/domain/address-key.ts'
import type { ScreeningSettings } from '../../src/domain/screening-hit.ts'
import type { SessionStatus, StatusChange } from '../../src/domain/session.ts'
import { createServedLists } from '../../src/facts/lists/serve-lists.ts'
import { createScreener } from '../../src/facts/screener.ts'
import { parseScreenerSettings } from '../../src/facts/screener-settings.ts'
import { createScreeningService, type ScreeningService } from '../../src/modules/screening/screening-service.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from '../identity/support.ts'
import { listWallets, shareWallets } from '../support/sanctioned-wallets.ts'
import { until } from '../support/until.ts'
import { checkRunnerOf, clearHits, fail, LEAD, moveUnchecked, SLOW } from './support.ts'

const log = createLogger({ write: () => true })

let identity: TestIdentity
let organizationId = ''
let service: ScreeningService
let lists: ReturnType<typeof createServedLists>
let screener: ReturnType<typeof Bun.serve>
/** The screener’s answer; null if it is broken. */
let verdictOf: (address: string, chain: string) => object | null = () => ({ flagged: false })
let asked = 0
let runDue: () => Promise<number>

beforeAll(async () => {
  identity = await openIdentity()
  const { store, clock } = identity
  organizationId = await identity.createOrganization('wallets')
  screener = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      asked += 1
      const [, chain = '', address = ''] = new URL(request.url).pathname.split('/')
      const verdict = verdictOf(address, chain)
      return verdict === null ? new Response('broken', { status: 500 }) : Response.json(verdict)
    },
  })
  lists = createServedLists({
    clock,
    lists: store.lists,
    bases: store.listBases,
    publish: () => undefined,
    onError: fail,
  })
  await lists.load()
  const [settings] = parseScreenerSettings({
    stub: {
      url: `http://127.0.0.1:${screener.port}/\${chain}/\${address}`,
      reach: 'loopback',
      answer: { flagged: { at: '/flagged', optional: true }, score: { at: '/score', optional: true } },
      'cache-seconds': 0,
    },
  }).values()
  if (settings === undefined) throw new Error('no screener')
  // No names are compared here, and `sanction` shares wallets itself.
  const screeningLists = { ...store.screeningLists, list: async () => [], unshared: async () => [] }
  service = createScreeningService({
    store: { ...store, screeningLists },
    clock,
    log,
    everyMs: 20,
    storeAgain: identity.storeChecks,
    othersEveryMs: 20,
    evidence: { screenedFieldsOf: async () => async () => ({}), screenedZonesOf: async () => async () => [] },
    wallets: {
      lists: lists.memberships,
      screeners: new Map([['stub', createScreener(settings, { clock, environment: {}, onError: () => undefined })]]),
      chainOf: async (name) => ({ name, family: 'evm', chainId: 1 }),
    },
  })
  service.leaderTask.start(LEAD)
  runDue = checkRunnerOf(identity, service.parts)
})
afterAll(async () => {
  await service.leaderTask.stop()
  await screener.stop(true)
  lists.stop()
  await identity.remove()
})

const edit = async (
  owner: string | null,
  name: string,
  addresses: readonly WalletAddress[],
  changed: { readonly memo?: string; readonly present?: boolean } = {},
): Promise<void> => {
  const { store } = identity
  const there = (await store.lists.find(owner, name)) ?? (await store.lists.create({ owner, name }))
  const entry = { present: true, memo: '', author: 'test', addedAtSeconds: 1, ...changed }
  await store.lists.edit(
    owner,
    name,
    addresses.map((address) => ({ ...entry, key: addressKey(address) })),
  )
  lists.changed(there.id, there.organizationId)
  await lists.settled()
}
const list = (owner: string | null, name: string, ...addresses: readonly WalletAddress[]): Promise<void> =>
  edit(owner, name, addresses)

/** The shared list of sanctioned people's wallets. */
const sanction = async (addresses: readonly WalletAddress[], entry = '1'): Promise<void> => {
  const { store, clock } = identity
  await listWallets(store, 'ofac-sdn', addresses, entry)
  await shareWallets(store, clock)
  lists.changed((await store.lists.find(null, 'ofac_sdn'))?.id ?? '', null)
  await lists.settled()
}

const move = (sessionId: string, to: SessionStatus, change: Partial<StatusChange> = {}) =>
  moveUnchecked(identity, { organizationId, sessionId }, to, change)
const complete = async (sessionId: string) => (await move(sessionId, 'completed')).session.status
const clear = (sessionId: string) => clearHits(identity, organizationId, sessionId)
/** Submits the session and makes its checks. */
const submit = async (sessionId: string) => {
  await move(sessionId, 'submitted')
  await runDue()
}
const register = async () => (await identity.register(organizationId)).session.id
const handIn = async (...wallets: readonly WalletAddress[]): Promise<string> => {
  const id = await register()
  for (const wallet of wallets) await identity.connect(organizationId, id, wallet)
  await submit(id)
  return id
}
/** Registers a session with a wallet. @returns the session, and how the person disconnects the wallet */
const connect = async (address: WalletAddress, chain: string) => {
  const sessionId = await register()
  const { wallets } = await identity.connect(organizationId, sessionId, address, chain)
  const wallet = { organizationId, sessionId, walletId: wallets[0]?.id ?? '', actor: 'person' }
  return { id: sessionId, disconnect: () => identity.store.sessionWallets.remove(wallet) }
}
/** Changes the settings. @returns the previous settings */
const set = async (changes: Partial<ScreeningSettings>): Promise<ScreeningSettings> => {
  const { screeningSettings } = identity.store
  const settings = await screeningSettings.read(organizationId)
  await screeningSettings.set(organizationId, { ...settings, ...changes })
  return settings
}

const checksOf = (sessionId: string) => identity.store.sessionChecks.list(organizationId, sessionId)

const outcomesOf = async (sessionId: string) =>
  Object.fromEntries((await checksOf(sessionId)).map(({ name, outcome }) => [name, outcome]))
const hitsOf = async (sessionId: string) =>
  (await identity.store.screeningChecks.hits(organizationId, sessionId)).map(({ check, list, entry, state, why }) => ({
    check,
    list,
    state,
    entry: entry.toLowerCase(),
    why: why.map(({ detail }) => detail).join(),
  }))
const isHit = (sessionId: string) => until(async () => (await hitsOf(sessionId)).length > 0, SLOW)
describe('the wallets of a session', () => {
  test('are looked up in the shared lists of sanctioned people and the organization’s deny list, and a listed wallet is a hit', async () => {
    await sanction([evmWallet(1), SOLANA_WALLET])
    // Other shared lists don't count.
    await list(null, 'partners', evmWallet(3))
    await list(organizationId, 'deny', evmWallet(2))
    await list(organizationId, 'allow', evmWallet(3))
    await list(await identity.createOrganization('another'), 'deny', evmWallet(3))
    const listed = await handIn(evmWallet(1), evmWallet(3))
    const denied = await handIn(evmWallet(2), SOLANA_WALLET)
    const clean = await handIn(evmWallet(3))
    const found = { check: 'wallets.lists', state: 'open', why: 'the address is on the list' } as const
    expect(await hitsOf(listed)).toEqual([{ ...found, list: 'ofac_sdn', entry: evmWallet(1) }])
    expect((await hitsOf(denied)).map((hit) => hit.list).sort()).toEqual(['deny', 'ofac_sdn'])
    expect(await outcomesOf(listed)).toEqual({ 'wallets.lists': 'look', 'wallets.screeners.stub': 'passed' })
    expect(await outcomesOf(clean)).toEqual({ 'wallets.lists': 'passed', 'wallets.screeners.stub': 'passed' })
    await expect(complete(listed)).rejects.toThrow(/hit is open/)
    await clear(listed)
    expect(await outcomesOf(listed)).toMatchObject({ 'wallets.lists': 'passed' })
    expect(await complete(listed)).toBe('completed')
  })

  test('are sent to the screeners, and are hits if flagged or if the score reaches a threshold', async () => {
    verdictOf = (address) => ({ flagged: address.toLowerCase() === evmWallet(5), score: 40 })
    const flagged = await handIn(evmWallet(5), evmWallet(6))
    expect(await hitsOf(flagged)).toEqual([
      { check: 'wallets.screeners.stub', list: 'stub', state: 'open', entry: evmWallet(5), why: 'flagged, score 40' },
    ])
    const settings = await set({ screenerScore: 40 })
    expect(await hitsOf(await handIn(evmWallet(6)))).toMatchObject([{ why: 'score 40', entry: evmWallet(6) }])
    // A flag counts with any score.
    verdictOf = () => ({ flagged: true, score: 1 })
    expect(await hitsOf(await handIn(evmWallet(16)))).toMatchObject([{ why: 'flagged, score 1', entry: evmWallet(16) }])
    // A response without a flag and with a lower score is no hit.
    verdictOf = () => ({})
    const unsaid = await handIn(evmWallet(7))
    expect(await outcomesOf(unsaid)).toMatchObject({ 'wallets.screeners.stub': 'not-done' })
    await set(settings)
    verdictOf = () => ({ flagged: false })
    identity.clock.advance(6)
    await runDue()
    expect(await outcomesOf(unsaid)).toMatchObject({ 'wallets.screeners.stub': 'passed' })
  })

  test.each([
    ['ethereum', 'base'],
    ['base', 'ethereum'],
  ])('are queried on every chain: %s, then %s', async (first, second) => {
    verdictOf = (address, chain) => ({ flagged: chain === 'ethereum' && address.toLowerCase() === evmWallet(50) })
    const { id } = await connect(evmWallet(50), first)
    await identity.connect(organizationId, id, evmWallet(50), second)
    await submit(id)
    expect(await hitsOf(id)).toMatchObject([{ check: 'wallets.screeners.stub', entry: evmWallet(50) }])
  })

  test.each([
    ['the wallet on another chain', 57, 'ethereum'],
    ['another wallet', 58, 'base'],
  ])(
    'keep an open hit of a chain on which the person has disconnected the wallet, to connect %s',
    async (_, at, next) => {
      const flagged = evmWallet(at)
      verdictOf = (address, chain) => ({ flagged: chain === 'base' && address.toLowerCase() === flagged })
      const { id, disconnect } = await connect(flagged, 'base')
      await submit(id)
      expect(await hitsOf(id)).toMatchObject([{ state: 'open', why: 'flagged' }])
      await move(id, 'retry')
      await disconnect()
      await identity.connect(organizationId, id, next === 'base' ? evmWallet(59) : flagged, next)
      await submit(id)
      const why = 'flagged,the wallet is not connected on base'
      expect(await hitsOf(id)).toMatchObject([{ state: 'open', entry: flagged, why }])
      // The screener withdraws its flag for the chain.
      verdictOf = () => ({ flagged: false })
      await move(id, 'retry')
      await submit(id)
      expect(await hitsOf(id)).toEqual([])
    },
  )

  test('keep an open hit of a chain that is not queried again, regardless of the screener’s reports about another chain', async () => {
    verdictOf = (_, chain) => ({ flagged: true, score: chain === 'base' ? 9 : 1 })
    const { id, disconnect } = await connect(evmWallet(56), 'base')
    await submit(id)
    await move(id, 'retry')
    await disconnect()
    // As an earlier version stored it.
    await identity.store.database.execute("UPDATE session_removed_wallets SET chains = '[]' WHERE session_id = ?", [id])
    await submit(id)
    const earlier = 'flagged, score 9,found in data that the person has since changed'
    const other = 'flagged, score 1,the wallet is not connected on ethereum'
    const found = (await hitsOf(id)).map(({ state, why }) => `${state} ${why}`)
    expect(found.sort()).toEqual([`open ${earlier}`, `open ${other}`].sort())
    verdictOf = () => ({ flagged: false })
  })

  test('keep an undecided hit while the screener is unavailable', async () => {
    verdictOf = () => ({ flagged: true })
    const id = await handIn(evmWallet(30))
    expect(await hitsOf(id)).toHaveLength(1)
    verdictOf = () => null
    await move(id, 'retry')
    await move(id, 'submitted')
    expect(await outcomesOf(id)).toEqual({})
    await runDue()
    expect(await hitsOf(id)).toHaveLength(1)
    expect(await outcomesOf(id)).toMatchObject({ 'wallets.screeners.stub': 'look' })
    verdictOf = () => ({ flagged: false })
    identity.clock.advance(6)
    await runDue()
    expect(await hitsOf(id)).toEqual([])
  })

  test('are queried again if the screener is unavailable, and no session is rejected after the last attempt', async () => {
    verdictOf = () => null
    const id = await handIn(evmWallet(8))
    expect(await outcomesOf(id)).toEqual({ 'wallets.lists': 'passed', 'wallets.screeners.stub': 'not-done' })
    const { store, clock } = identity
    for (let attempt = 1; attempt <= 3; attempt++) {
      expect(await store.sessionChecks.isPending(organizationId, id)).toBe(true)
      clock.advance(301)
      await runDue()
    }
    expect(await store.sessionChecks.isPending(organizationId, id)).toBe(false)
    expect(await outcomesOf(id)).toEqual({ 'wallets.lists': 'passed', 'wallets.screeners.stub': 'not-done' })
    expect(await hitsOf(id)).toEqual([])
    expect(await complete(id)).toBe('completed')
    clock.advance(11)
    verdictOf = () => ({ flagged: false })
  })

  test('are looked up in the lists that the organization names, and a missing list is reported', async () => {
    await list(organizationId, 'mixers', evmWallet(9))
    const settings = await set({ addressLists: ['mixers'], screeners: [] })
    const id = await handIn(evmWallet(9), evmWallet(1))
    expect(await hitsOf(id)).toMatchObject([{ list: 'mixers', entry: evmWallet(9) }])
    expect(await outcomesOf(id)).toEqual({ 'wallets.lists': 'look' })
    await set({ addressLists: ['gone'], screeners: ['gone'] })
    const untold = await handIn(evmWallet(9))
    expect(await outcomesOf(untold)).toEqual({ 'wallets.lists': 'not-done', 'wallets.screeners.gone': 'not-done' })
    await set(settings)
  })
})

describe('when a list changes', () => {
  test('verified wallets are looked up again; one that is taken off it takes its undecided hit along', async () => {
    const id = await handIn(evmWallet(20))
    await complete(id)
    const before = asked
    await sanction([evmWallet(1), evmWallet(20)])
    await isHit(id)
    expect(await outcomesOf(id)).toMatchObject({ 'wallets.lists': 'look' })
    expect((await identity.store.sessions.find(organizationId, id))?.session.status).toBe('completed')
    await sanction([evmWallet(1)])
    await until(async () => (await hitsOf(id)).length === 0, SLOW)
    expect(await outcomesOf(id)).toMatchObject({ 'wallets.lists': 'passed' })
    // Screeners are queried again only if the organization has enabled it.
    expect(asked).toBe(before)
    verdictOf = (address) => ({ flagged: address.toLowerCase() === evmWallet(20) })
    await set({ screenersAgain: true })
    await isHit(id)
    expect(await hitsOf(id)).toMatchObject([{ check: 'wallets.screeners.stub', entry: evmWallet(20) }])
  })
})

test('an open hit of a disabled sanctions list waits for a person, even if another list is enabled under its name', async () => {
  await sanction([evmWallet(70)])
  const id = await handIn(evmWallet(70))
  const versionOf = async () => (await checksOf(id)).find(({ name }) => name === 'wallets.lists')?.version
  const before = await versionOf()
  await identity.store.screeningLists.remove('ofac-sdn')
  await sanction([evmWallet(71)])
  await until(async () => (await versionOf()) !== before, SLOW)
  expect(await hitsOf(id)).toMatchObject([{ list: 'ofac_sdn', state: 'open' }])
})

describe('a wallet whose hit was cleared', () => {
  const statesOf = async (id: string) => (await hitsOf(id)).map(({ state }) => state).sort()
  /** Waits until the lists have been compared again. */
  const isState = (id: string, ...states: readonly string[]) =>
    until(async () => (await statesOf(id)).join() === states.join(), SLOW)

  test('is a new hit if it is removed and listed again, or listed for another reason', async () => {
    const denied = (changed: Parameters<typeof edit>[3]) => edit(organizationId, 'deny', [evmWallet(60)], changed)
    const id = await handIn(evmWallet(60))
    await denied({ memo: 'a mistake' })
    await isState(id, 'open')
    await clear(id)
    await denied({ present: false })
    await isState(id)
    await denied({ memo: 'a mistake' })
    await isState(id, 'open')
    await clear(id)
    // It is removed and listed again between two comparisons.
    await denied({ memo: 'laundering' })
    await isState(id, 'cleared', 'open')
  })

  test('is a new hit if it is listed again while the list is not in use', async () => {
    await list(organizationId, 'deny', evmWallet(66))
    const id = await handIn(evmWallet(66))
    await clear(id)
    const settings = await set({ addressLists: [], screeners: [] })
    await until(async () => Object.keys(await outcomesOf(id)).length === 0, SLOW)
    await edit(organizationId, 'deny', [evmWallet(66)], { present: false })
    await list(organizationId, 'deny', evmWallet(66))
    await set(settings)
    await isState(id, 'open')
  })

  test('is a new hit if its first memo is the name of the list', async () => {
    const denied = (memo: string) => edit(organizationId, 'deny', [evmWallet(64)], { memo })
    await denied('deny')
    const id = await handIn(evmWallet(64))
    await clear(id)
    await denied('laundering')
    await isState(id, 'cleared', 'open')
  })

  test('is a new hit if another entry of the sanctions list names it', async () => {
    await sanction([evmWallet(62)])
    const id = await handIn(evmWallet(62))
    await clear(id)
    await sanction([evmWallet(62)], '2')
    await isState(id, 'cleared', 'open')
  })

  test('is a new hit if the screener withdraws its flag and flags it again', async () => {
    verdictOf = () => ({ flagged: true })
    const id = await handIn(evmWallet(63))
    await clear(id)
    const again = async () => {
      await move(id, 'retry')
      await submit(id)
      return statesOf(id)
    }
    expect(await again()).toEqual(['cleared'])
    verdictOf = () => ({ flagged: false })
    expect(await again()).toEqual([])
    verdictOf = () => ({ flagged: true })
    expect(await again()).toEqual(['open'])
    verdictOf = () => ({ flagged: false })
  })
})

test('without any list of the organization, no wallet is looked up, and open hits wait for a person', async () => {
  const former = organizationId
  organizationId = await identity.createOrganization('last-list')
  await set({ addressLists: [], screeners: ['stub'] })
  verdictOf = () => ({ flagged: true })
  const id = await handIn(evmWallet(40))
  expect(await outcomesOf(id)).toEqual({ 'wallets.screeners.stub': 'look' })
  await set({ addressLists: ['last'] })
  await list(organizationId, 'last', evmWallet(40))
  await until(async () => (await hitsOf(id)).length === 2, SLOW)
  await set({ addressLists: [], screeners: [] })
  await until(async () => Object.keys(await outcomesOf(id)).length === 0, SLOW)
  expect(await hitsOf(id)).toHaveLength(2)
  await expect(complete(id)).rejects.toThrow('is open')
  await clear(id)
  expect(await complete(id)).toBe('completed')
  await move(id, 'rejected', { revoke: true })
  organizationId = former
  verdictOf = () => ({ flagged: false })
})
