// Verification with the real store: levels, persons, consent between organizations, environments, and the cache.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import type { SessionState } from '../../src/domain/session.ts'
import type { StandingSource } from '../../src/domain/standing.ts'
import { createVerifyWallet } from '../../src/identity/sessions/verify.ts'
import { createIdentityFacts, createStandings } from '../../src/identity/standing/standings.ts'
import { checksumAddress } from '../../src/lib/checksum-address.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from './support.ts'

const [W1, W2, W3] = [evmWallet(1), evmWallet(2), evmWallet(3)]

let identity: TestIdentity
let ours: string
let theirs: string
/** A third organization. */
let third: string

beforeEach(async () => {
  identity = await openIdentity()
  ours = await identity.createOrganization('ours')
  theirs = await identity.createOrganization('theirs')
  third = await identity.createOrganization('third')
})
afterEach(() => identity.remove())

const UNKNOWN = { address: W1, verified: false } as const
const verify = async (
  organizationId: string,
  address = W1,
  options: { environment?: 'live' | 'test'; checkType?: 'kyc' | 'kyb'; chain?: string } = {},
) => {
  const answer = await createVerifyWallet(identity.standings)(
    { organizationId, environment: options.environment ?? 'live' },
    { address, addressAsSent: address, checkType: options.checkType ?? null, chain: options.chain ?? null },
  )
  return answer as { verified: boolean; status?: string; userId?: string; wallets?: { address: string }[] }
}
const isVerified = async (organizationId: string, address = W1): Promise<boolean> =>
  (await verify(organizationId, address)).verified
const setLevel = async (organizationId: string, level: 1 | 2 | 3): Promise<void> => {
  await identity.store.organizations.setLevel(organizationId, level)
  identity.standings.organizationChanged(organizationId)
}
const caller = (organizationId = ours) => ({ organizationId, environment: 'live' }) as const
const standingsOver = (source: Partial<StandingSource>) =>
  createStandings({
    source: { ...identity.store.walletStandings, ...source },
    loadLevel: async () => 1,
    isUpToDate: () => true,
  })
/** Standings whose first read waits for `resume` with its result. */
const pausedStandings = () => {
  const { walletStandings } = identity.store
  const [read, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isFirst = true
  const loadSessions: StandingSource['loadSessions'] = async (query, address) => {
    const found = await walletStandings.loadSessions(query, address)
    if (!isFirst) return found
    isFirst = false
    read.resolve()
    await gate.promise
    return found
  }
  return { standings: standingsOver({ loadSessions }), read: read.promise, resume: () => gate.resolve() }
}
const addresses = (answer: { wallets?: { address: string }[] }): string[] =>
  (answer.wallets ?? []).map(({ address }) => address.toLowerCase())

describe('trust', () => {
  const trust = async (organizationId: string, trusted: readonly string[] | null): Promise<void> => {
    await identity.store.verificationTrust.set(organizationId, trusted)
    identity.standings.organizationChanged(organizationId)
  }
  const factsOf = (organizationId: string, address = W1) =>
    createIdentityFacts(identity.standings)(caller(organizationId), address, 'ethereum')

  test('defaults to all organizations, and can be limited to a list, for answers and for policies', async () => {
    await identity.complete(theirs, [W1, W2], { consent: true })
    const both = async () => [await isVerified(ours), (await factsOf(ours, W2)).verified]
    expect(await both()).toEqual([true, true])
    // Each is read twice: from the store, and then from the cache.
    for (const [trusted, verified] of [
      [[], false],
      [null, true],
      [[third], false],
      [[third, theirs], true],
      [[theirs], true],
      [[], false],
    ] as const) {
      await trust(ours, trusted)
      expect([trusted, await both(), await both()]).toEqual([trusted, [verified, verified], [verified, verified]])
    }
    // An organization's own sessions always count, and the trust of other organizations is unchanged.
    await identity.complete(ours, [W3])
    expect([await isVerified(ours, W3), await isVerified(third)]).toEqual([true, true])
    // Trust is not transitive.
    await trust(third, [ours])
    expect([await isVerified(third), await isVerified(third, W3)]).toEqual([false, false])
  })

  test('does not change levels, and determines which wallets of a person are listed', async () => {
    await setLevel(theirs, 2)
    await identity.complete(theirs, [W1, W2], { consent: true })
    await setLevel(ours, 3)
    await trust(ours, [theirs])
    expect(await isVerified(ours)).toBe(false)
    await setLevel(ours, 2)
    expect(addresses(await verify(ours))).toEqual([W1, W2])
    await identity.complete(ours, [W1, W3], { consent: true })
    expect(addresses(await verify(ours)).toSorted()).toEqual([W1, W2, W3].toSorted())
    await trust(ours, [])
    expect(addresses(await verify(ours)).toSorted()).toEqual([W1, W3].toSorted())
  })

  test('that changes during a lookup applies to the next one', async () => {
    await identity.complete(theirs, [W1], { consent: true })
    const { standings, read, resume } = pausedStandings()
    const early = Promise.resolve(standings.find(caller(), W1, null, null))
    await read
    await identity.store.verificationTrust.set(ours, [])
    standings.organizationChanged(ours)
    resume()
    expect((await early).verifying).not.toBeNull()
    expect((await standings.find(caller(), W1, null, null)).verifying).toBeNull()
  })
})

describe('levels', () => {
  test('an organization that raises its level ends verifications until a session at the new level', async () => {
    await identity.complete(ours, [W1])
    expect(await verify(ours)).toMatchObject({ verified: true, status: 'completed' })
    await setLevel(ours, 2)
    expect(await verify(ours)).toEqual({
      address: W1,
      verified: false,
      status: 'completed',
      userId: expect.any(String),
      checkType: null,
      verifiedAt: null,
      wallets: [],
    } as never)
    await identity.complete(ours, [W1])
    expect(await verify(ours)).toMatchObject({ verified: true })
  })

  test('a session of another organization verifies while it is completed, shared and at the caller’s level', async () => {
    await setLevel(theirs, 2)
    const shared = await identity.complete(theirs, [W1], { consent: true })
    const unshared = await identity.complete(theirs, [W2])
    expect(await verify(ours, W1)).toMatchObject({ verified: true, status: 'completed', checkType: 'kyc' } as never)
    expect(await verify(ours, W2)).toEqual({ address: W2, verified: false } as never)
    const target = { organizationId: theirs, sessionId: unshared.session.id }
    await identity.changes.recordConsent({ ...target, version: 'v1', actor: 'person' })
    expect(await isVerified(ours, W2)).toBe(true)
    await setLevel(ours, 2)
    expect(await verify(ours, W1)).toMatchObject({ verified: true })
    await setLevel(ours, 3)
    expect(await verify(ours, W1)).toEqual(UNKNOWN)
    await setLevel(ours, 1)
    await identity.move(theirs, shared.session.id, 'rejected', { revoke: true })
    expect(await verify(ours, W1)).toEqual(UNKNOWN)
  })
})

test('a session of another organization is not revealed while it is not completed, is rejected or is below the level', async () => {
  await setLevel(ours, 2)
  const { session } = await identity.register(theirs, { wallet: W1 })
  for (const status of ['submitted', 'retry', 'completed', 'rejected'] as const) {
    const target = { organizationId: theirs, sessionId: session.id, actor: 'test' }
    await identity.move(theirs, session.id, status, { revoke: true })
    await identity.changes.recordConsent({ ...target, version: 'v1' })
    expect(await verify(ours)).toEqual(UNKNOWN)
  }
})

describe('a person', () => {
  test('is the same in an organization’s sessions that share a wallet, with one user id', async () => {
    const first = await identity.complete(ours, [W1])
    const second = await identity.complete(ours, [W1, W2])
    expect(second.session.personId).toBe(first.session.personId ?? '')
    expect(second.session.userId).toBe(first.session.userId ?? '')
    const [one, two] = [await verify(ours, W1), await verify(ours, W2)]
    expect(one.userId).toBe(two.userId ?? '')
    expect(addresses(one)).toEqual([W1, W2])
    expect(addresses(two)).toEqual([W1, W2])
  })

  test('has a different user id in each organization', async () => {
    const mine = await identity.complete(ours, [W1], { consent: true })
    const other = await identity.complete(theirs, [W1], { consent: true })
    expect(other.session.personId).toBe(mine.session.personId ?? '')
    expect(other.session.userId).not.toBe(mine.session.userId ?? '')
    expect((await verify(ours)).userId).toBe(mine.session.userId ?? '')
    expect((await verify(theirs)).userId).toBe(other.session.userId ?? '')
    const seen = (await verify(third)).userId ?? ''
    expect(seen).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([mine.session.userId, other.session.userId]).not.toContain(seen)
  })

  test.each([
    ['a key', 'eip191', 'base', true],
    ['a contract', 'erc1271', 'base', false],
    ['a contract', 'erc1271', 'ethereum', true],
  ] as const)(
    'with the address of %s (%s), proven on ethereum and on %s, is the same: %p',
    async (_what, kind, chain, isSame) => {
      const completed = async (on: string) => {
        const { session } = await identity.register(ours)
        await identity.connect(ours, session.id, W1, on, kind)
        await identity.move(ours, session.id, 'submitted')
        return (await identity.move(ours, session.id, 'completed')).session.personId
      }
      const [one, two] = [await completed('ethereum'), await completed(chain)]
      expect(one === two).toBe(isSame)
    },
  )

  test('is a new person if the wallets belong to two persons', async () => {
    const one = await identity.complete(ours, [W1])
    const two = await identity.complete(ours, [W2])
    expect(two.session.personId).not.toBe(one.session.personId ?? '')
    const both = await identity.complete(ours, [W1, W2])
    expect([one.session.personId, two.session.personId]).not.toContain(both.session.personId)
  })

  test('of one check type is different from the person of the other type', async () => {
    const person = await identity.complete(ours, [W1])
    const business = await identity.complete(ours, [W1], { checkType: 'kyb' })
    expect(business.session.personId).not.toBe(person.session.personId ?? '')
    expect((await verify(ours, W1, { checkType: 'kyc' })).userId).toBe(person.session.userId ?? '')
    expect((await verify(ours, W1, { checkType: 'kyb' })).userId).toBe(business.session.userId ?? '')
    // Without a type, the newest session answers.
    expect((await verify(ours, W1)).userId).toBe(business.session.userId ?? '')
  })

  test('keeps the user id through a revocation and a new completion', async () => {
    const { session } = await identity.complete(ours, [W1])
    const retried = await identity.move(ours, session.id, 'retry', { revoke: true })
    expect(retried.session).toMatchObject({ userId: session.userId, completedAtSeconds: null })
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'retry', userId: session.userId } as never)
    const again = await identity.move(ours, session.id, 'completed', { actor: 'operator:ada' })
    expect(again.session.userId).toBe(session.userId ?? '')
  })

  test('lists the own and shared wallets at compatible levels', async () => {
    await setLevel(theirs, 3)
    await identity.complete(ours, [W1, W2], { consent: true })
    await identity.complete(theirs, [W1, W3], { consent: true })
    expect(addresses(await verify(ours))).toEqual(expect.arrayContaining([W1, W2, W3]))
    await setLevel(ours, 3)
    expect(addresses(await verify(ours)).sort()).toEqual([W1, W3].sort())
    expect(await verify(ours, W2)).toMatchObject({ verified: false, status: 'completed' })
  })
})

test('a rejected session and responses about its wallets have the person of the wallets', async () => {
  const { session } = await identity.complete(ours, [W1, W2])
  const { session: other } = await identity.register(ours)
  await identity.connect(ours, other.id, W1)
  const rejected = await identity.move(ours, other.id, 'rejected')
  expect(rejected.session.userId).toBe(session.userId ?? '')
  expect(await verify(ours, W2)).toMatchObject({ verified: false, status: 'rejected', userId: session.userId } as never)
})

test('sessions of test keys verify no wallets for live keys, and vice versa', async () => {
  await identity.complete(ours, [W1], { environment: 'test', consent: true })
  await identity.complete(ours, [W2], { consent: true })
  for (const organizationId of [ours, theirs]) {
    const answers = [W1, W2].flatMap((wallet) => [
      verify(organizationId, wallet),
      verify(organizationId, wallet, { environment: 'test' }),
    ])
    expect((await Promise.all(answers)).map(({ verified }) => verified)).toEqual([false, true, true, false])
  }
})

describe('the answer', () => {
  test('for a wallet that is named in a session but never connected has the status, and is not verified', async () => {
    const { session } = await identity.register(ours, { wallet: W1 })
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'pending', wallets: [] })
    await identity.move(ours, session.id, 'completed')
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'completed', wallets: [] })
  })

  test('lists Solana addresses as they are and EVM addresses with their checksum', async () => {
    await identity.complete(ours, [W1, SOLANA_WALLET])
    const { wallets } = await verify(ours, SOLANA_WALLET)
    expect<unknown>(wallets).toEqual([
      { address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/), chain: 'ethereum' },
      { address: SOLANA_WALLET, chain: 'solana' },
    ])
    expect(wallets?.[0]?.address).not.toBe(W1)
  })
})

describe('the cache', () => {
  test('does not keep a standing at a level that changed during the read', async () => {
    const read = Promise.withResolvers<1>()
    const levels: Promise<1 | 2>[] = [read.promise, Promise.resolve(2)]
    let loads = 0
    const standings = createStandings({
      source: identity.store.walletStandings,
      isUpToDate: () => true,
      loadLevel: () => levels[loads++] ?? Promise.resolve(2),
    })
    await identity.complete(ours, [W1])
    const early = Promise.resolve(standings.find(caller(), W1, null, null))
    standings.organizationChanged(ours)
    read.resolve(1)
    expect((await early).verifying).not.toBeNull()
    expect((await standings.find(caller(), W1, null, null)).verifying).toBeNull()
    expect(loads).toBe(2)
  })

  test('lists no other wallets of a person whose verification has ended', async () => {
    const { session } = await identity.complete(ours, [W1, W2])
    // W1 is in both sessions, so they have the same person.
    const other = await identity.complete(ours, [W1, W3])
    expect(other.session.personId).toBe(session.personId)
    await identity.move(ours, session.id, 'rejected', { revoke: true })
    expect(await verify(ours, W2)).toMatchObject({ verified: false, status: 'rejected', wallets: [] })
  })

  test('lists no other wallet that the organization has rejected, even if it was rejected later', async () => {
    await identity.complete(ours, [W1, W2])
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
    const { session } = await identity.register(ours, { checkType: 'kyb' })
    await identity.connect(ours, session.id, W2)
    await identity.move(ours, session.id, 'rejected')
    expect([await isVerified(ours, W1), await isVerified(ours, W2)]).toEqual([false, false])
    await identity.complete(ours, [W1])
    expect(addresses(await verify(ours, W1))).toEqual([W1])
    await identity.complete(ours, [W2])
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
  })

  test('lists no wallet of another organization’s session while the organization checks that wallet itself', async () => {
    await identity.complete(theirs, [W1, W2], { consent: true })
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
    const { session } = await identity.register(ours)
    await identity.connect(ours, session.id, W2)
    const target = { organizationId: ours, sessionId: session.id, actor: 'person' }
    await identity.changes.changeStatus({ ...target, to: 'submitted' })
    expect(addresses(await verify(ours, W1))).toEqual([W1])
  })

  test('answers without the store until a change is reported', async () => {
    let loads = 0
    const standings = standingsOver({
      loadSessions: (query, address) => {
        loads += 1
        return identity.store.walletStandings.loadSessions(query, address)
      },
    })
    expect((await standings.find(caller(), W1, null, null)).status).toBeNull()
    expect(standings.find(caller(), W1, 'kyc', null)).not.toBeInstanceOf(Promise)
    expect(loads).toBe(1)
    await identity.complete(ours, [W1])
    standings.sessionChanged({ environment: 'live', personId: null, addresses: [W1] })
    expect((await standings.find(caller(), W1, null, null)).status).toBe('completed')
    standings.sessionChanged({ environment: 'test', personId: null, addresses: [W1] })
    standings.sessionChanged({ environment: 'live', personId: 'person_other', addresses: [W2] })
    expect(standings.find(caller(), W1, null, null)).not.toBeInstanceOf(Promise)
    standings.clear()
    const again = standings.find(caller(), W1, null, null)
    expect(again).toBeInstanceOf(Promise)
    await again
  })

  test('drops every wallet of a person when one of their sessions changes', async () => {
    await identity.complete(ours, [W1, W2])
    expect(addresses(await verify(ours, W2))).toEqual([W1, W2])
    // W2 is not in this session, but its answer lists the person's wallets.
    await identity.complete(ours, [W1, W3])
    expect(addresses(await verify(ours, W2)).sort()).toEqual([W1, W2, W3].sort())
  })

  test('does not keep a standing that changed during the read', async () => {
    const { standings, read, resume } = pausedStandings()
    const early = standings.find(caller(), W1, null, null)
    await read
    await identity.complete(ours, [W1])
    standings.sessionChanged({ environment: 'live', personId: null, addresses: [W1] })
    resume()
    expect((await early).status).toBeNull()
    expect((await standings.find(caller(), W1, null, null)).status).toBe('completed')
  })

  test('is not used while changes are unknown: each standing is read from the store, or fails', async () => {
    let isUpToDate = true
    let isDown = false
    const { store } = identity
    const reading = <Value>(read: () => Promise<Value>): Promise<Value> =>
      isDown ? Promise.reject(new Error('down')) : read()
    const standings = createStandings({
      source: {
        ...store.walletStandings,
        loadSessions: (...query) => reading(() => store.walletStandings.loadSessions(...query)),
      },
      loadLevel: (id) => reading(async () => (await store.organizations.find(id))?.level ?? null),
      isUpToDate: () => isUpToDate,
    })
    const verified = async () => {
      const found = standings.find(caller(), W1, null, null)
      const facts = createIdentityFacts(standings)(caller(), W1, 'ethereum')
      const isCached = !(found instanceof Promise)
      const [{ verifying }, { verified }] = await Promise.all([found, facts])
      return { isCached, verified: [verifying !== null, verified] }
    }
    await identity.complete(ours, [W1])
    expect(await verified()).toEqual({ isCached: false, verified: [true, true] })
    expect(await verified()).toEqual({ isCached: true, verified: [true, true] })
    isUpToDate = false
    // The change of the level is not reported.
    await store.organizations.setLevel(ours, 3)
    expect(await verified()).toEqual({ isCached: false, verified: [false, false] })
    isDown = true
    await expect(verified()).rejects.toThrow('down')
    await store.organizations.setLevel(ours, 1)
    isDown = false
    expect(await verified()).toEqual({ isCached: false, verified: [true, true] })
    isUpToDate = true
    expect(await verified()).toEqual({ isCached: true, verified: [true, true] })
  })

  test('reads a few wallets of a person per turn of the event loop', async () => {
    await identity.complete(ours, [W1])
    const wallets = Array.from({ length: 100 }, (_, at) => ({ address: evmWallet(at + 10), chain: 'ethereum' }))
    let [ofTurn, highest, reads] = [0, 0, 0]
    const nextOf = (): void => {
      ofTurn = 0
      if (reads < wallets.length) setImmediate(nextOf)
    }
    const standings = standingsOver({
      loadPersonWallets: async () => wallets,
      loadSessions: async (...query) => {
        reads += 1
        ofTurn += 1
        highest = Math.max(highest, ofTurn)
        return identity.store.walletStandings.loadSessions(...query)
      },
    })
    nextOf()
    await standings.find(caller(), W1, null, null)
    expect(reads).toBe(wallets.length + 1)
    expect(highest).toBeLessThanOrEqual(20)
  })

  test('reports a failure of the store as an error, not as "not verified"', async () => {
    const standings = standingsOver({ loadSessions: () => Promise.reject(new Error('down')) })
    await expect(standings.find(caller(), W1, null, null)).rejects.toThrow('down')
  })
})

describe('a contract wallet', () => {
  /** Completes a session with a key wallet and the contract wallet. */
  const prove = async (organizationId: string, key: WalletAddress, chain: string): Promise<SessionState> => {
    const { session } = await identity.register(organizationId)
    await identity.connect(organizationId, session.id, key)
    await identity.connect(organizationId, session.id, CONTRACT, chain, 'erc1271')
    await identity.changes.recordConsent({ organizationId, sessionId: session.id, version: 'v1', actor: 'person' })
    return identity.move(organizationId, session.id, 'completed')
  }
  const CONTRACT = W3
  const on = (chain: string, address = CONTRACT) => verify(ours, address, { chain })

  test('is verified only on the chain of its proof, for answers and for policies, cached or not', async () => {
    const { session } = await prove(ours, W1, 'ethereum')
    const factsOn = async (chain: string) =>
      (await createIdentityFacts(identity.standings)(caller(), CONTRACT, chain)).verified
    for (let i = 0; i < 2; i++) {
      expect(await on('ethereum')).toMatchObject({ verified: true, userId: session.userId } as never)
      expect(await on('base')).toEqual({ address: CONTRACT, verified: false } as never)
      // A request without a chain is valid on every chain; the answer names the chain.
      expect(await verify(ours, CONTRACT)).toMatchObject({
        verified: true,
        wallets: [{ chain: 'ethereum' }, { address: checksumAddress(CONTRACT), chain: 'ethereum' }],
      } as never)
      expect([await factsOn('ethereum'), await factsOn('base')]).toEqual([true, false])
      // A key wallet is the same on every chain.
      for (const chain of ['ethereum', 'base']) {
        expect(addresses(await on(chain, W1))).toEqual([W1, CONTRACT])
      }
    }
    const chains = ['ethereum', 'base', null]
    const found = chains.map((chain) => identity.standings.find(caller(), CONTRACT, null, chain))
    expect(found.some((standing) => standing instanceof Promise)).toBe(false)
    await identity.move(ours, session.id, 'rejected', { revoke: true })
    expect(await on('ethereum')).toMatchObject({ verified: false, status: 'rejected' })
    await setLevel(ours, 2)
    expect((await on('ethereum')).status).toBe('rejected')
  })

  test('on another chain is another wallet with another person, but a rejection counts on every chain', async () => {
    const mine = await prove(ours, W1, 'ethereum')
    const theirsThere = await prove(theirs, W2, 'base')
    expect((await on('ethereum')).userId).toBe(mine.session.userId ?? '')
    const { userId, wallets = [] } = (await on('base')) as { userId?: string; wallets?: unknown[] }
    expect([userId === mine.session.userId, wallets]).toEqual([
      false,
      [
        { address: checksumAddress(CONTRACT), chain: 'base' },
        { address: checksumAddress(W2), chain: 'ethereum' },
      ],
    ])
    await identity.store.verificationTrust.set(ours, [])
    identity.standings.organizationChanged(ours)
    const verified = async () => [(await on('ethereum')).verified, (await on('base')).verified]
    expect(await verified()).toEqual([true, false])
    const refused = await prove(ours, W2, 'base')
    expect((await on('base')).verified).toBe(true)
    await identity.move(ours, refused.session.id, 'rejected', { revoke: true })
    expect(await verified()).toEqual([false, false])
    expect(addresses(await on('ethereum', W1))).toEqual([W1])
    expect(theirsThere.session.personId).not.toBe(mine.session.personId ?? '')
  })
})

test('a key wallet with a contract proof is the same wallet on every chain', async () => {
  const { session } = await identity.complete(ours, [W1])
  const { session: delegated } = await identity.register(ours)
  await identity.connect(ours, delegated.id, W1, 'base', 'erc1271')
  expect((await identity.move(ours, delegated.id, 'completed')).session.personId).toBe(session.personId ?? '')
  await identity.move(ours, delegated.id, 'rejected', { revoke: true })
  for (const chain of ['ethereum', 'base', 'arbitrum']) {
    expect([chain, (await verify(ours, W1, { chain })).verified]).toEqual([chain, false])
  }
})

test('policy facts follow the same rule, and change with the session', async () => {
  const factsOf = createIdentityFacts(identity.standings)
  const none = { verified: false, type: null, level: 0, verifiedAtSeconds: null }
  expect<unknown>(await factsOf(caller(), W1, 'ethereum')).toEqual(none)
  const { session } = await identity.complete(ours, [W1], { checkType: 'kyb' })
  const verifiedAtSeconds = identity.clock.unixSeconds()
  const verified = { verified: true, type: 'business', level: 1, verifiedAtSeconds } as const
  expect(await factsOf(caller(), W1, 'ethereum')).toEqual(verified)
  expect(factsOf(caller(), W1, 'ethereum')).toEqual(verified)
  await identity.move(ours, session.id, 'retry', { revoke: true })
  expect<unknown>(await factsOf(caller(), W1, 'ethereum')).toEqual(none)
})
