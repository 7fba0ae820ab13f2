// Wallet connections of the page: a requested message is signed with a real key and submitted once.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { parseEvmAddress, type WalletAddress } from '../../src/domain/address.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { SESSION_CHANGES_MAX, type Session } from '../../src/domain/session.ts'
import { WALLETS_OVER_TIME_MAX, WALLETS_PER_SESSION_MAX, walletOn } from '../../src/domain/wallet.ts'
import { type Connect, createConnect, NONCE_LIFETIME_SECONDS } from '../../src/identity/sessions/connect.ts'
import { createVerifyProof } from '../../src/identity/sessions/proof.ts'
import { evmChainName, walletChain } from '../../src/identity/sessions/wallet-chain.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import { changesSince } from '../store/changes-since.ts'
import { evmWallet, openIdentity, SOLANA_WALLET, type TestIdentity } from './support.ts'

const accountOf = (number: number) =>
  privateKeyToAccount(`0x${createHash('sha256').update(`countersign test key ${number}`).digest('hex')}`)
const account = accountOf(1)
const WALLET = parseEvmAddress(account.address) as WalletAddress
const chains = createChainTable()

let identity: TestIdentity
let ours: string
let connectOf: (portalUrl: string) => Connect
let connect: Connect

beforeEach(async () => {
  identity = await openIdentity()
  ours = await identity.createOrganization('ours')
  connectOf = (portalUrl) =>
    createConnect({
      nonces: identity.store.sessionNonces,
      changes: identity.changes,
      verifyProof: createVerifyProof(),
      chainName: (chainId) => evmChainName(chains, chainId),
      clock: identity.clock,
      portalUrl,
    })
  connect = connectOf('https://verify.example.com')
})
afterEach(() => identity.remove())

const newSession = async (wallet: WalletAddress | null = null): Promise<Session> =>
  (await identity.register(ours, { wallet })).session
const requestProof = (session: Session, address = WALLET, chainId = 1) =>
  connect.requestProof(session, 'Acme', walletOn(address, chainId))
const prove = async (session: Session, chainId = 1) => {
  const { nonce, message } = await requestProof(session, WALLET, chainId)
  return { nonce, signature: await account.signMessage({ message }) }
}
const invalid = { name: 'ProofInvalidError', code: 'INVALID_REQUEST' }
const targetOf = (session: Session) => ({ organizationId: ours, sessionId: session.id, actor: 'person' })

describe('a proof', () => {
  test('connects the wallet with the name of its chain, and is stored', async () => {
    const session = await newSession()
    const { wallets } = await connect.connect(session, await prove(session, 8453))
    expect(wallets).toMatchObject([{ chain: 'base', address: WALLET, addressText: account.address }])
    const rows = await identity.store.database.query<{ kind: string; message: string }>('SELECT * FROM wallet_proofs')
    expect(rows).toMatchObject([{ kind: 'eip191', organization_id: ours, session_id: session.id } as never])
    expect(rows[0]?.message).toContain(session.id)
    expect(rows[0]?.message).toContain('Acme')
  })

  test('is accepted once, even if it is submitted twice simultaneously', async () => {
    const session = await newSession()
    const proof = await prove(session)
    const outcomes = await Promise.allSettled([connect.connect(session, proof), connect.connect(session, proof)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(connect.connect(session, proof)).rejects.toMatchObject(invalid)
    expect((await identity.store.sessions.find(ours, session.id))?.wallets).toHaveLength(1)
  })

  test('is valid only for its wallet, chain and lifetime, even in the store', async () => {
    const session = await newSession()
    const { nonce: first } = await requestProof(session)
    const submit = (address: WalletAddress, chain: string, nonce = first) => {
      const proof = { kind: 'eip191', message: 'm', signature: '0x' } as const
      return identity.store.sessionWallets.connect({ ...targetOf(session), address, chain, nonce, proof })
    }
    await expect(submit(evmWallet(9), 'ethereum')).rejects.toMatchObject(invalid)
    await expect(submit(WALLET, 'base')).rejects.toMatchObject(invalid)
    expect((await submit(WALLET, 'ethereum'))?.wallets).toHaveLength(1)
    const late = await requestProof(session, WALLET, 8453)
    identity.clock.advance(NONCE_LIFETIME_SECONDS)
    await expect(submit(WALLET, 'base', late.nonce)).rejects.toMatchObject(invalid)
  })

  test('notifies other processes of the connected wallet', async () => {
    const session = await newSession()
    const proof = await prove(session)
    const { database } = identity.store
    const before = await readNewest(database)
    await connect.connect(session, proof)
    const changes = (await changesSince(database, before)).filter(({ topic }) => topic === 'session')
    expect(changes.map(({ subjectId }) => decodeSessionSubject(subjectId))).toMatchObject([
      { sessionId: session.id, sequence: 2, addresses: [WALLET] },
    ])
  })

  test('is valid for ten minutes', async () => {
    const session = await newSession()
    const [early, late] = [await prove(session), await prove(session, 8453)]
    const isStored = async () => (await identity.store.sessionNonces.find(ours, session.id, late.nonce)) !== null
    identity.clock.advance(NONCE_LIFETIME_SECONDS - 1)
    await connect.connect(session, early)
    expect(await isStored()).toBe(true)
    identity.clock.advance(1)
    expect(await isStored()).toBe(false)
    await expect(connect.connect(session, late)).rejects.toMatchObject(invalid)
    expect(await identity.store.sessionNonces.sweep()).toBe(1)
  })

  test('is valid only for its session and organization', async () => {
    const [one, two] = [await newSession(), await newSession()]
    const proof = await prove(one)
    await expect(connect.connect(two, proof)).rejects.toMatchObject(invalid)
    const theirs = await identity.createOrganization('theirs')
    await expect(connect.connect({ ...one, organizationId: theirs }, proof)).rejects.toMatchObject(invalid)
    await connect.connect(one, proof)
  })

  test('is valid only for the host of the page that requested it', async () => {
    const session = await newSession()
    const proof = await prove(session)
    await expect(connectOf('https://other.example').connect(session, proof)).rejects.toMatchObject(invalid)
    await connect.connect(session, proof)
  })

  test('with another key or another text is refused, and the nonce stays valid', async () => {
    const session = await newSession()
    const { nonce, message } = await requestProof(session)
    for (const signature of [
      await accountOf(2).signMessage({ message }),
      await account.signMessage({ message: message.replace('Acme', 'Other') }),
      '0x',
    ]) {
      await expect(connect.connect(session, { nonce, signature })).rejects.toMatchObject(invalid)
    }
    await connect.connect(session, { nonce, signature: await account.signMessage({ message }) })
  })

  test('with an unknown nonce is refused', async () => {
    const session = await newSession()
    await expect(connect.connect(session, { nonce: 'x'.repeat(22), signature: '0x' })).rejects.toMatchObject(invalid)
  })

  test('of the sandbox is accepted only for test sessions', async () => {
    const live = await newSession()
    const proof = { kind: 'sandbox', message: '', signature: '' } as const
    const sandboxed = (session: Session) =>
      identity.changes.connectWallet({ ...targetOf(session), chain: 'ethereum', address: WALLET, nonce: null, proof })
    await expect(sandboxed(live)).rejects.toMatchObject(invalid)
    const { session } = await identity.register(ours, { environment: 'test' })
    expect((await sandboxed(session)).wallets).toHaveLength(1)
  })

  test('expires if the session requests more than 50 messages', async () => {
    const session = await newSession()
    const first = await prove(session)
    identity.clock.advance(1)
    for (let count = 0; count < 50; count++) await requestProof(session)
    await expect(connect.connect(session, first)).rejects.toMatchObject(invalid)
  })
})

describe('a session’s wallets', () => {
  test('count one address on two chains twice, and the same wallet once', async () => {
    const session = await newSession()
    await connect.connect(session, await prove(session, 1))
    await connect.connect(session, await prove(session, 137))
    const again = await connect.connect(session, await prove(session, 1))
    expect(again.wallets.map(({ chain }) => chain)).toEqual(['ethereum', 'polygon'])
    expect(again.session.sequence).toBe(3)
  })

  test('of a session for one wallet are limited to that wallet, on any chain', async () => {
    const session = await newSession(WALLET)
    await expect(requestProof(session, evmWallet(5))).rejects.toMatchObject({ name: 'WalletLockedError' })
    await expect(identity.connect(ours, session.id, evmWallet(5))).rejects.toMatchObject({ name: 'WalletLockedError' })
    await connect.connect(session, await prove(session, 1))
    const { wallets } = await connect.connect(session, await prove(session, 8453))
    expect(wallets.map(({ chain }) => chain)).toEqual(['ethereum', 'base'])
  })

  test('are limited to 20, even if more are connected simultaneously, and a refused nonce remains valid', async () => {
    const session = await newSession()
    const outcomes = await Promise.allSettled(
      Array.from({ length: WALLETS_PER_SESSION_MAX + 5 }, (_, number) =>
        identity.connect(ours, session.id, evmWallet(number)),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ name: 'WalletLimitError' })
    }
    const state = await identity.store.sessions.find(ours, session.id)
    expect(state?.wallets).toHaveLength(20)
    const [left] = await identity.store.database.query<{ count: number }>(
      'SELECT COUNT(*) AS count FROM session_nonces',
    )
    expect(left?.count).toBe(5)
    // A connected wallet needs no additional slot.
    await identity.connect(ours, session.id, state?.wallets[0]?.address as WalletAddress)
  })

  test('are at most 100 over time, including removed wallets; a removed wallet can be connected again', async () => {
    const session = await newSession()
    const cycle = async (number: number): Promise<void> => {
      const { wallets } = await identity.connect(ours, session.id, evmWallet(number))
      await identity.changes.removeWallet({ ...targetOf(session), walletId: wallets.at(-1)?.id ?? '' })
    }
    for (let number = 0; number < WALLETS_OVER_TIME_MAX; number++) await cycle(number)
    await expect(cycle(WALLETS_OVER_TIME_MAX)).rejects.toMatchObject({
      name: 'WalletsOverTimeError',
      code: 'SESSION_CONFLICT',
      detail: expect.stringContaining('at most 100 wallets'),
    })
    await cycle(0)
    const [change] = await identity.store.database.query<{ subject_id: string }>(
      "SELECT subject_id FROM changes WHERE topic = 'session' ORDER BY sequence DESC LIMIT 1",
    )
    expect(decodeSessionSubject(change?.subject_id ?? '').addresses).toHaveLength(WALLETS_OVER_TIME_MAX)
  })

  test('and evidence and consent can only be removed once the session has 2,000 changes', async () => {
    const session = await newSession()
    const target = targetOf(session)
    const agree = (usesDetails: boolean) =>
      identity.store.portalProgress.recordAgreement({ ...target, version: '4.en', shares: true, usesDetails })
    const { wallets } = await identity.connect(ours, session.id, evmWallet(1))
    await agree(true)
    await identity.store.database.execute('UPDATE sessions SET sequence = ? WHERE id = ?', [
      SESSION_CHANGES_MAX,
      session.id,
    ])
    const refused = { name: 'SessionChangesLimitError', detail: expect.stringContaining('2000 times') }
    await expect(identity.connect(ours, session.id, evmWallet(2))).rejects.toMatchObject(refused)
    const change = { replacedId: null, changed: ['fullName'] }
    const { evidence } = identity.store
    await expect(evidence.replaceFields(target, {} as never, change, 'person')).rejects.toMatchObject(refused)
    await expect(evidence.addDocument(target, {} as never, 4, 'person')).rejects.toMatchObject(refused)
    await agree(false)
    await expect(agree(true)).rejects.toMatchObject(refused)
    const walletId = wallets[0]?.id ?? ''
    const { session: changed } = await identity.changes.removeWallet({ ...target, walletId })
    expect(changed.sequence).toBe(SESSION_CHANGES_MAX + 2)
  })

  test('the limit of 2,000 changes starts again after the evidence is erased', async () => {
    const session = await newSession()
    const { database } = identity.store
    const setSequence = (sequence: number) =>
      database.execute('UPDATE sessions SET sequence = ? WHERE id = ?', [sequence, session.id])
    await setSequence(SESSION_CHANGES_MAX)
    const connect = (number: number) => identity.connect(ours, session.id, evmWallet(number))
    await expect(connect(1)).rejects.toMatchObject({ name: 'SessionChangesLimitError' })
    await database.execute(
      `INSERT INTO session_events (organization_id, session_id, sequence, kind, status, actor, created_at_seconds)
       VALUES (?, ?, ?, 'evidence-erased', 'pending', 'person', 1)`,
      [ours, session.id, SESSION_CHANGES_MAX - 1],
    )
    await connect(1)
    await setSequence(2 * SESSION_CHANGES_MAX - 1)
    await expect(connect(2)).rejects.toMatchObject({ name: 'SessionChangesLimitError' })
    await database.execute('UPDATE session_events SET sequence = ? WHERE kind = ?', [3_000, 'evidence-erased'])
    await connect(2)
    await setSequence(2 * SESSION_CHANGES_MAX)
    await expect(connect(3)).rejects.toMatchObject({ name: 'SessionChangesLimitError' })
  })

  test('of both families are listed in the order of their connection', async () => {
    const session = await newSession()
    await identity.connect(ours, session.id, SOLANA_WALLET)
    const { wallets } = await identity.connect(ours, session.id, WALLET)
    expect(wallets.map(({ chain, addressText }) => [chain, addressText])).toEqual([
      ['solana', SOLANA_WALLET],
      ['ethereum', account.address],
    ])
  })

  test('can be removed with their proofs while the session is open', async () => {
    const session = await newSession()
    const { wallets } = await identity.connect(ours, session.id, WALLET)
    const target = { ...targetOf(session), walletId: wallets[0]?.id ?? '' }
    const theirs = await identity.createOrganization('theirs')
    const foreign = identity.changes.removeWallet({ ...target, organizationId: theirs })
    await expect(foreign).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await identity.changes.removeWallet(target)).wallets).toEqual([])
    expect(await identity.store.database.query('SELECT * FROM wallet_proofs')).toEqual([])
    expect(identity.changed.at(-1)?.addresses).toContain(WALLET)
    const events = await identity.store.sessions.listEvents(ours, session.id)
    expect(events.map(({ kind }) => kind)).toEqual(['created', 'wallet-connected', 'wallet-removed'])
    await expect(identity.changes.removeWallet(target)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each(['submitted', 'completed', 'rejected'] as const)('cannot change once the session is %s', async (status) => {
    const session = await newSession()
    const proof = await prove(session)
    const { wallets } = await identity.connect(ours, session.id, evmWallet(3))
    const { session: closed } = await identity.move(ours, session.id, status)
    const refused = { name: 'SessionClosedError', code: 'SESSION_CONFLICT' }
    await expect(requestProof(closed)).rejects.toMatchObject(refused)
    await expect(connect.connect(session, proof)).rejects.toMatchObject(refused)
    const target = { ...targetOf(session), walletId: wallets[0]?.id ?? '' }
    await expect(identity.changes.removeWallet(target)).rejects.toMatchObject(refused)
  })
})

describe('the name of a chain', () => {
  const own = createChainTable([{ name: 'my-rollup', family: 'evm', chainId: 4_294_967_291 }])

  test('comes from the table, then from viem, and defaults to the chain id', async () => {
    expect(await evmChainName(chains, 8453)).toBe('base')
    expect(await evmChainName(chains, 480)).toBe('worldchain')
    expect(await evmChainName(chains, 137)).toBe('polygon')
    expect(await evmChainName(chains, 4_294_967_291)).toBe('eip155:4294967291')
    expect(await evmChainName(own, 4_294_967_291)).toBe('my-rollup')
  })

  test('identifies the chain', async () => {
    for (const chainId of [8453, 480, 137, 4_294_967_291, 4_294_967_290])
      expect(await walletChain(own, await evmChainName(own, chainId))).toMatchObject({ family: 'evm', chainId })
    expect(await walletChain(own, 'solana')).toEqual({ name: 'solana', family: 'solana' })
    expect(await walletChain(own, 'toString')).toEqual({ name: 'toString' })
  })
})
