// Verification over the real store: levels, persons, consent between organizations, environments, and the cache.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { WalletAddress } from '../../src/domain/address.ts'
import type { SessionState } from '../../src/domain/session.ts'
import type { StandingSource } from '../../src/domain/standing.ts'
import { createVerifyWallet } from '../../src/identity/sessions/verify.ts'
import { createIdentityFacts, createStandings } from '../../src/identity/standing/standings.ts'
import { checksumAddress } from '../../src/lib/checksum-address.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from './support.ts'

const [W1, W2, W3] = [evmWallet(1), evmWallet(2), evmWallet(3)]

let identity: TestIdentity
let ours: string
let theirs: string

beforeEach(async () => {
  identity = await openIdentity()
  ours = await identity.createOrganization('ours')
  theirs = await identity.createOrganization('theirs')
})
afterEach(() => identity.remove())

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
const setLevel = async (organizationId: string, level: 1 | 2 | 3): Promise<void> => {
  await identity.store.organizations.setLevel(organizationId, level)
  identity.standings.organizationChanged(organizationId)
}
const caller = (organizationId = ours) => ({ organizationId, environment: 'live' }) as const
/** Waits with what it has read the first time, until it is let go. */
const heldSource = () => {
  const { walletStandings } = identity.store
  const [read, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let held = false
  const loadSessions: StandingSource['loadSessions'] = async (query, address) => {
    const found = await walletStandings.loadSessions(query, address)
    if (held) return found
    held = true
    read.resolve()
    await gate.promise
    return found
  }
  return { source: { ...walletStandings, loadSessions }, read: read.promise, letGo: () => gate.resolve() }
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

  test('is in everyone unless said otherwise; then in the listed ones or nobody, for answers and for policies', async () => {
    const third = await identity.createOrganization('third')
    await identity.complete(theirs, [W1, W2], { consent: true })
    // Several wallets: the first look after a change reads anew, the next ones must not find what was kept before it.
    const both = async () => [(await verify(ours)).verified, (await factsOf(ours, W2)).verified]
    expect(await both()).toEqual([true, true])
    // Asked twice each: what is at hand from before the change says nothing after it.
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
    // One's own count always, and nobody else's trust is touched.
    await identity.complete(ours, [W3])
    expect((await verify(ours, W3)).verified).toBe(true)
    expect((await verify(third, W1)).verified).toBe(true)
    // What another organization is trusted for is its own sessions, not those that it trusts itself.
    await trust(third, [ours])
    expect((await verify(third, W1)).verified).toBe(false)
    expect((await verify(third, W3)).verified).toBe(false)
  })

  test('leaves levels as they are, and decides which of a person’s wallets are listed', async () => {
    await setLevel(theirs, 2)
    await identity.complete(theirs, [W1, W2], { consent: true })
    await setLevel(ours, 3)
    await trust(ours, [theirs])
    expect((await verify(ours)).verified).toBe(false)
    await setLevel(ours, 2)
    expect(addresses(await verify(ours))).toEqual([W1, W2])
    await identity.complete(ours, [W1, W3], { consent: true })
    expect(addresses(await verify(ours)).toSorted()).toEqual([W1, W2, W3].toSorted())
    await trust(ours, [])
    expect(addresses(await verify(ours)).toSorted()).toEqual([W1, W3].toSorted())
  })

  test('that changes while a wallet is looked up is not overtaken by what was read before', async () => {
    await identity.complete(theirs, [W1], { consent: true })
    const { source, read, letGo } = heldSource()
    const standings = createStandings({ source, loadLevel: async () => 1, isUpToDate: () => true })
    const early = Promise.resolve(standings.find(caller(), W1, null, null))
    await read
    await identity.store.verificationTrust.set(ours, [])
    standings.organizationChanged(ours)
    letGo()
    expect((await early).verifying).not.toBeNull()
    expect((await standings.find(caller(), W1, null, null)).verifying).toBeNull()
  })
})

describe('levels', () => {
  test('raising one’s own ends the verification at once, and a session at the new level brings it back', async () => {
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

  test('a wallet verified elsewhere shows up only at the caller’s level, and only when shared', async () => {
    await setLevel(theirs, 2)
    await identity.complete(theirs, [W1], { consent: true })
    await identity.complete(theirs, [W2])
    expect(await verify(ours, W1)).toMatchObject({ verified: true, status: 'completed', checkType: 'kyc' } as never)
    expect(await verify(ours, W2)).toEqual({ address: W2, verified: false } as never)
    await setLevel(ours, 2)
    expect(await verify(ours, W1)).toMatchObject({ verified: true })
    await setLevel(ours, 3)
    expect(await verify(ours, W1)).toEqual({ address: W1, verified: false } as never)
  })

  test('consent given later counts from then on', async () => {
    const { session } = await identity.complete(theirs, [W1])
    expect((await verify(ours)).verified).toBe(false)
    const target = { organizationId: theirs, sessionId: session.id }
    await identity.changes.recordConsent({ ...target, version: 'v1', actor: 'person' })
    expect((await verify(ours)).verified).toBe(true)
  })
})

describe('what another organization’s sessions give away', () => {
  test('nothing while they are not completed, are rejected or below the level', async () => {
    await setLevel(ours, 2)
    const { session } = await identity.register(theirs, { wallet: W1 })
    const unknown = { address: W1, verified: false }
    for (const status of ['submitted', 'retry', 'completed', 'rejected'] as const) {
      const target = { organizationId: theirs, sessionId: session.id, actor: 'test' }
      await identity.move(theirs, session.id, status, { revoke: true })
      await identity.changes.recordConsent({ ...target, version: 'v1' })
      expect<unknown>(await verify(ours)).toEqual(unknown)
    }
  })

  test('a revocation there ends the verification here', async () => {
    const { session } = await identity.complete(theirs, [W1], { consent: true })
    expect((await verify(ours)).verified).toBe(true)
    await identity.move(theirs, session.id, 'rejected', { revoke: true })
    expect<unknown>(await verify(ours)).toEqual({ address: W1, verified: false })
  })
})

describe('persons', () => {
  test('are one within an organization when a wallet connects their sessions, and have one user id', async () => {
    const first = await identity.complete(ours, [W1])
    const second = await identity.complete(ours, [W1, W2])
    expect(second.session.personId).toBe(first.session.personId ?? '')
    expect(second.session.userId).toBe(first.session.userId ?? '')
    const [one, two] = [await verify(ours, W1), await verify(ours, W2)]
    expect(one.userId).toBe(two.userId ?? '')
    expect(addresses(one)).toEqual([W1, W2])
    expect(addresses(two)).toEqual([W1, W2])
  })

  test('have another user id in each organization', async () => {
    const mine = await identity.complete(ours, [W1], { consent: true })
    const other = await identity.complete(theirs, [W1], { consent: true })
    expect(other.session.personId).toBe(mine.session.personId ?? '')
    expect(other.session.userId).not.toBe(mine.session.userId ?? '')
    expect((await verify(ours)).userId).toBe(mine.session.userId ?? '')
    expect((await verify(theirs)).userId).toBe(other.session.userId ?? '')
    const third = await identity.createOrganization('third')
    const seen = (await verify(third)).userId ?? ''
    expect(seen).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect([mine.session.userId, other.session.userId]).not.toContain(seen)
  })

  test('are not linked across organizations without consent on both sides', async () => {
    const mine = await identity.complete(ours, [W1])
    const other = await identity.complete(theirs, [W1], { consent: true })
    expect(other.session.personId).not.toBe(mine.session.personId ?? '')
    const third = await identity.createOrganization('third')
    const without = await identity.complete(third, [W1])
    expect(without.session.personId).not.toBe(other.session.personId ?? '')
  })

  test.each([
    ['a key', 'eip191', 'base', true],
    ['a contract', 'erc1271', 'base', false],
    ['a contract', 'erc1271', 'ethereum', true],
  ] as const)(
    'are one by the address of %s (%s), proven on ethereum and on %s: %p',
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

  test('are never merged: with two candidates the person is new', async () => {
    const one = await identity.complete(ours, [W1])
    const two = await identity.complete(ours, [W2])
    expect(two.session.personId).not.toBe(one.session.personId ?? '')
    const both = await identity.complete(ours, [W1, W2])
    expect([one.session.personId, two.session.personId]).not.toContain(both.session.personId)
  })

  test('of one check type are not those of the other', async () => {
    const person = await identity.complete(ours, [W1])
    const business = await identity.complete(ours, [W1], { checkType: 'kyb' })
    expect(business.session.personId).not.toBe(person.session.personId ?? '')
    expect((await verify(ours, W1, { checkType: 'kyc' })).userId).toBe(person.session.userId ?? '')
    expect((await verify(ours, W1, { checkType: 'kyb' })).userId).toBe(business.session.userId ?? '')
    // Without a type the newest one answers.
    expect((await verify(ours, W1)).userId).toBe(business.session.userId ?? '')
  })

  test('keep their user id through a revocation and a new completion', async () => {
    const { session } = await identity.complete(ours, [W1])
    const retried = await identity.move(ours, session.id, 'retry', { revoke: true })
    expect(retried.session).toMatchObject({ userId: session.userId, completedAtSeconds: null })
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'retry', userId: session.userId } as never)
    const again = await identity.move(ours, session.id, 'completed', { actor: 'operator:ada' })
    expect(again.session.userId).toBe(session.userId ?? '')
  })

  test('the wallets listed are those at compatible levels, one’s own and shared ones', async () => {
    await setLevel(theirs, 3)
    await identity.complete(ours, [W1, W2], { consent: true })
    await identity.complete(theirs, [W1, W3], { consent: true })
    expect(addresses(await verify(ours))).toEqual(expect.arrayContaining([W1, W2, W3]))
    await setLevel(ours, 3)
    expect(addresses(await verify(ours)).sort()).toEqual([W1, W3].sort())
    expect(await verify(ours, W2)).toMatchObject({ verified: false, status: 'completed' })
  })
})

describe('a rejection', () => {
  test('of an older session ends the verification by a newer one, in the same second too', async () => {
    const { session: older } = await identity.register(ours)
    await identity.connect(ours, older.id, W1)
    await identity.complete(ours, [W1])
    expect((await verify(ours)).verified).toBe(true)
    await identity.move(ours, older.id, 'rejected')
    expect((await verify(ours)).verified).toBe(false)
    // Completed anew, the wallet is verified again; all of it happened within one second.
    await identity.complete(ours, [W1])
    expect((await verify(ours)).verified).toBe(true)
  })

  test('ends what other organizations rely on, until its organization completes the wallet again', async () => {
    const { session: older } = await identity.register(theirs)
    await identity.connect(theirs, older.id, W1)
    await identity.complete(theirs, [W1, W2], { consent: true })
    expect((await verify(ours)).verified).toBe(true)
    await identity.move(theirs, older.id, 'rejected')
    expect([(await verify(theirs)).verified, (await verify(ours)).verified]).toEqual([false, false])
    expect((await verify(ours, W2)).verified).toBe(false)
    await identity.complete(theirs, [W1], { consent: true })
    expect([(await verify(ours)).verified, (await verify(ours, W2)).verified]).toEqual([true, false])
  })

  test.each(['completed before', 'never completed', 'left without the wallet'])(
    'of a session that was %s ends the verification of all wallets of its person, for everybody',
    async (kind) => {
      const { session: first } = await identity.complete(theirs, [W1, W2], { consent: true })
      await identity.complete(theirs, [W3], { consent: true })
      const { session } = await identity.register(theirs)
      const { wallets } = await identity.connect(theirs, session.id, W1)
      if (kind === 'completed before') await identity.move(theirs, session.id, 'completed')
      const verifiedAt = async (organizationId: string) => [
        (await verify(organizationId, W1)).verified,
        (await verify(organizationId, W2)).verified,
        (await verify(organizationId, W3)).verified,
      ]
      expect([await verifiedAt(theirs), await verifiedAt(ours)]).toEqual([
        [true, true, true],
        [true, true, true],
      ])
      if (kind === 'left without the wallet') {
        const removal = { organizationId: theirs, sessionId: session.id, walletId: wallets[0]?.id ?? '' }
        await identity.changes.removeWallet({ ...removal, actor: 'person' })
      }
      const rejected = await identity.move(theirs, session.id, 'rejected', { revoke: true })
      expect(rejected.session.userId).toBe(first.userId ?? '')
      expect([await verifiedAt(theirs), await verifiedAt(ours)]).toEqual([
        [false, false, true],
        [false, false, true],
      ])
      expect(await verify(theirs, W2)).toMatchObject({ status: 'rejected', userId: first.userId } as never)
      await identity.complete(theirs, [W2], { consent: true })
      expect([await verifiedAt(theirs), await verifiedAt(ours)]).toEqual([
        [false, true, true],
        [false, true, true],
      ])
    },
  )
})

describe('test keys', () => {
  test('verify nothing for live ones, nor the other way round', async () => {
    await identity.complete(ours, [W1], { environment: 'test', consent: true })
    await identity.complete(ours, [W2], { consent: true })
    for (const organizationId of [ours, theirs]) {
      expect((await verify(organizationId, W1)).verified).toBe(false)
      expect((await verify(organizationId, W1, { environment: 'test' })).verified).toBe(true)
      expect((await verify(organizationId, W2)).verified).toBe(true)
      expect((await verify(organizationId, W2, { environment: 'test' })).verified).toBe(false)
    }
  })
})

describe('the answer', () => {
  test('of a wallet for which a session was made, but which never connected, has its status and is not verified', async () => {
    const { session } = await identity.register(ours, { wallet: W1 })
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'pending', wallets: [] })
    await identity.move(ours, session.id, 'completed')
    expect(await verify(ours)).toMatchObject({ verified: false, status: 'completed', wallets: [] })
  })

  test('lists a Solana wallet as it is and an EVM one with its checksum', async () => {
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
  test('at a level that was read before it changed is not answered again', async () => {
    const read = Promise.withResolvers<1>()
    const levels: Promise<1 | 2>[] = [read.promise, Promise.resolve(2)]
    let asked = 0
    const standings = createStandings({
      source: identity.store.walletStandings,
      isUpToDate: () => true,
      loadLevel: () => levels[asked++] ?? Promise.resolve(2),
    })
    await identity.complete(ours, [W1])
    const early = Promise.resolve(standings.find(caller(), W1, null, null))
    standings.organizationChanged(ours)
    read.resolve(1)
    expect((await early).verifying).not.toBeNull()
    expect((await standings.find(caller(), W1, null, null)).verifying).toBeNull()
    expect(asked).toBe(2)
  })

  test('of a wallet whose verification has ended lists none of its person’s other wallets', async () => {
    const { session } = await identity.complete(ours, [W1, W2])
    // The same person, by the wallet that both sessions have.
    const other = await identity.complete(ours, [W1, W3])
    expect(other.session.personId).toBe(session.personId)
    await identity.move(ours, session.id, 'rejected', { revoke: true })
    expect(await verify(ours, W2)).toMatchObject({ verified: false, status: 'rejected', wallets: [] })
  })

  test('of a wallet lists no other wallet that the organization has rejected, also if it was rejected later', async () => {
    await identity.complete(ours, [W1, W2])
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
    const { session } = await identity.register(ours, { checkType: 'kyb' })
    await identity.connect(ours, session.id, W2)
    await identity.move(ours, session.id, 'rejected')
    expect([(await verify(ours, W1)).verified, (await verify(ours, W2)).verified]).toEqual([false, false])
    await identity.complete(ours, [W1])
    expect(addresses(await verify(ours, W1))).toEqual([W1])
    await identity.complete(ours, [W2])
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
  })

  test('of a wallet lists no wallet of another organization’s session whose own check is pending', async () => {
    await identity.complete(theirs, [W1, W2], { consent: true })
    expect(addresses(await verify(ours, W1))).toEqual([W1, W2])
    const { session } = await identity.register(ours)
    await identity.connect(ours, session.id, W2)
    await identity.changes.changeStatus({
      organizationId: ours,
      sessionId: session.id,
      to: 'submitted',
      actor: 'person',
    })
    expect(addresses(await verify(ours, W1))).toEqual([W1])
  })

  test('answers again without the store, until something changes', async () => {
    let loads = 0
    const source: StandingSource = {
      ...identity.store.walletStandings,
      loadSessions: (query, address) => {
        loads += 1
        return identity.store.walletStandings.loadSessions(query, address)
      },
    }
    const standings = createStandings({ source, loadLevel: async () => 1, isUpToDate: () => true })
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

  test('forgets every wallet of a person when one of their sessions changes', async () => {
    await identity.complete(ours, [W1, W2])
    expect(addresses(await verify(ours, W2))).toEqual([W1, W2])
    // W2 took no part in this session, but the answer about it lists the person's wallets.
    await identity.complete(ours, [W1, W3])
    expect(addresses(await verify(ours, W2)).sort()).toEqual([W1, W2, W3].sort())
  })

  test('drops a wallet of two persons when one of them is rejected', async () => {
    await identity.complete(ours, [W1, W2])
    await identity.complete(ours, [W3])
    await identity.complete(ours, [W1, W3])
    const { database } = identity.store
    const before = await readNewest(database)
    expect((await verify(ours)).verified).toBe(true)
    const { session } = await identity.register(ours)
    await identity.connect(ours, session.id, W2)
    await identity.move(ours, session.id, 'rejected')
    for (const { subjectId } of await changesSince(database, before)) {
      identity.standings.sessionChanged(decodeSessionSubject(subjectId))
    }
    expect((await verify(ours)).verified).toBe(false)
  })

  test('a load that overlaps a change is used once and not kept', async () => {
    const { source, read, letGo } = heldSource()
    const standings = createStandings({ source, loadLevel: async () => 1, isUpToDate: () => true })
    const early = standings.find(caller(), W1, null, null)
    await read
    await identity.complete(ours, [W1])
    standings.sessionChanged({ environment: 'live', personId: null, addresses: [W1] })
    letGo()
    expect((await early).status).toBeNull()
    expect((await standings.find(caller(), W1, null, null)).status).toBe('completed')
  })

  test('is not used while changes are unknown: every standing is then read from the store, or can’t be had', async () => {
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
      const [found, facts] = [
        standings.find(caller(), W1, null, null),
        createIdentityFacts(standings)(caller(), W1, 'ethereum'),
      ]
      const isCached = !(found instanceof Promise)
      const [{ verifying }, { verified }] = await Promise.all([found, facts])
      return { isCached, verified: [verifying !== null, verified] }
    }
    await identity.complete(ours, [W1])
    expect(await verified()).toEqual({ isCached: false, verified: [true, true] })
    expect(await verified()).toEqual({ isCached: true, verified: [true, true] })
    isUpToDate = false
    // Neither the change of the level nor one of a session is reported.
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

  test('the wallets of a person are read a few per turn of the event loop, so that other requests proceed', async () => {
    await identity.complete(ours, [W1])
    const wallets = Array.from({ length: 100 }, (_, at) => ({ address: evmWallet(at + 10), chain: 'ethereum' }))
    let [ofTurn, highest, reads] = [0, 0, 0]
    const nextOf = (): void => {
      ofTurn = 0
      if (reads < wallets.length) setImmediate(nextOf)
    }
    const source: StandingSource = {
      ...identity.store.walletStandings,
      loadPersonWallets: async () => wallets,
      loadSessions: async (...query) => {
        reads += 1
        ofTurn += 1
        highest = Math.max(highest, ofTurn)
        return identity.store.walletStandings.loadSessions(...query)
      },
    }
    const standings = createStandings({ source, loadLevel: async () => 1, isUpToDate: () => true })
    nextOf()
    await standings.find(caller(), W1, null, null)
    expect(reads).toBe(wallets.length + 1)
    expect(highest).toBeLessThanOrEqual(20)
  })

  test('a store that is down is an error, never "not verified"', async () => {
    const loadSessions = () => Promise.reject(new Error('down'))
    const source = { ...identity.store.walletStandings, loadSessions }
    const standings = createStandings({ source, loadLevel: async () => 1, isUpToDate: () => true })
    await expect(standings.find(caller(), W1, null, null)).rejects.toThrow('down')
  })
})

describe('a contract wallet', () => {
  /** A completed session with a key's wallet and a contract's. */
  const prove = async (organizationId: string, key: WalletAddress, chain: string): Promise<SessionState> => {
    const { session } = await identity.register(organizationId)
    await identity.connect(organizationId, session.id, key)
    await identity.connect(organizationId, session.id, CONTRACT, chain, 'erc1271')
    await identity.changes.recordConsent({ organizationId, sessionId: session.id, version: 'v1', actor: 'person' })
    return identity.move(organizationId, session.id, 'completed')
  }
  const CONTRACT = W3
  const on = (chain: string, address = CONTRACT) => verify(ours, address, { chain })

  test('is verified on the chain on which it was proven, for answers and for policies, however often it is asked', async () => {
    const { session } = await prove(ours, W1, 'ethereum')
    const factsOn = async (chain: string) =>
      (await createIdentityFacts(identity.standings)(caller(), CONTRACT, chain)).verified
    for (let i = 0; i < 2; i++) {
      expect(await on('ethereum')).toMatchObject({ verified: true, userId: session.userId } as never)
      expect(await on('base')).toEqual({ address: CONTRACT, verified: false } as never)
      // The specified request names no chain; the answer does.
      expect(await verify(ours, CONTRACT)).toMatchObject({
        verified: true,
        wallets: [{ chain: 'ethereum' }, { address: checksumAddress(CONTRACT), chain: 'ethereum' }],
      } as never)
      expect([await factsOn('ethereum'), await factsOn('base')]).toEqual([true, false])
      // A key's wallet is the same on every chain.
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

  test('is another wallet on another chain: its owner there is another person, whose rejection ends the address alone', async () => {
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
    expect([(await on('ethereum')).verified, (await on('base')).verified]).toEqual([true, false])
    const refused = await prove(ours, W2, 'base')
    expect((await on('base')).verified).toBe(true)
    await identity.move(ours, refused.session.id, 'rejected', { revoke: true })
    expect([(await on('ethereum')).verified, (await on('base')).verified]).toEqual([false, false])
    expect(addresses(await on('ethereum', W1))).toEqual([W1])
    expect(theirsThere.session.personId).not.toBe(mine.session.personId ?? '')
  })
})

test('a key that is proven as a contract is the same wallet on every chain', async () => {
  const { session } = await identity.complete(ours, [W1])
  const { session: delegated } = await identity.register(ours)
  await identity.connect(ours, delegated.id, W1, 'base', 'erc1271')
  expect((await identity.move(ours, delegated.id, 'completed')).session.personId).toBe(session.personId ?? '')
  await identity.move(ours, delegated.id, 'rejected', { revoke: true })
  for (const chain of ['ethereum', 'base', 'arbitrum']) {
    expect([chain, (await verify(ours, W1, { chain })).verified]).toEqual([chain, false])
  }
})

describe('policy facts', () => {
  test('follow the same rule, and change with the session', async () => {
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
})
