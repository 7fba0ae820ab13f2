// After a rejection, no wallet of the session or its persons is verified in the organization until the session is
// completed again; after a rejection by an operator or screening, until an operator completes it. No automatic
// completion overrides a linked rejection, revocation or hit. Random changes are compared with a model through the
// cache of standings.
import { expect, test } from 'bun:test'
import type { SessionStatus } from '../../src/domain/session.ts'
import { createStandings } from '../../src/identity/standing/standings.ts'
import { readNewest } from '../../src/store/changes.ts'
import { decodeSessionSubject } from '../../src/store/sessions/session-changes.ts'
import type { Store } from '../../src/store/store.ts'
import { openHit } from '../admin/support/open-hit.ts'
import { createRandom } from '../attack/random.ts'
import { markChecksMade } from '../support/made-checks.ts'
import { changesSince } from './changes-since.ts'
import { describeStores } from './dialects.ts'
import { createRejectionModel, isOpen, type ModelSession } from './rejection-model.ts'
import { connectWallet, documentRecord, OPERATOR, ORGANIZATION_KEY, register, walletAt } from './session-fixtures.ts'

const TYPES = ['kyc', 'kyb'] as const
const WALLETS = 4
const STEPS = 70
/** Few steps, because each rejection leaves fewer wallets to verify. */
const STEPS_AFTER_SHARED = 20
const SHARED_SESSIONS = 3
const RETRIES_MAX = 5
const ACTORS = [OPERATOR, OPERATOR, 'provider:webhook', 'policy:pol_1:1', 'key:test', 'screening'] as const
/** A change that is listed more often is made more often. */
/** Changes that are listed more often are made more often. */
const KINDS = [
  'register',
  'register',
  'connect',
  'disconnect',
  'disconnect',
  'share',
  'decide',
  'decide',
  'decide',
  'decide',
  'decide',
  'hit',
  'hit',
  'erase',
] as const

const failureOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  )

/**
 * Makes random changes in two organizations.
 * @param afterShared whether the second organization has shared sessions first, some with hits
 * @returns the operations that took place
 */
const play = async (store: Store, seed: number, afterShared: boolean): Promise<ReadonlySet<string>> => {
  const random = createRandom(seed)
  const model = createRejectionModel()
  const done: string[] = []
  const wallets = Array.from({ length: WALLETS }, (_, at) => walletAt(seed * 100 + at))
  const organizations: string[] = []
  for (const name of ['one', 'two']) {
    const { id } = await store.organizations.create({ slug: `${name}-${seed}`, name })
    await store.organizationKeys.add(id, ORGANIZATION_KEY)
    organizations.push(id)
  }
  const standings = createStandings({
    source: store.walletStandings,
    loadLevel: async () => 1,
    isUpToDate: () => true,
  })
  const idsOf = ({ organizationId, id }: ModelSession) => ({ organizationId, sessionId: id })

  const connect = async (session: ModelSession): Promise<void> => {
    const address = session.locked ?? random.pick(wallets)
    await connectWallet(store, idsOf(session), address)
    session.connected.add(address)
    session.removed.delete(address)
  }

  const share = async (session: ModelSession): Promise<void> => {
    await store.sessions.recordConsent({ ...idsOf(session), version: '2.en', actor: 'person' })
    model.share(session)
  }

  const [one = '', two = ''] = organizations

  const registerAny = async (organizationId = random.chance(0.8) ? one : two): Promise<void> => {
    const checkType = random.chance(0.85) ? 'kyc' : 'kyb'
    const walletAddress = random.chance(0.2) ? random.pick(wallets) : null
    const { session, created } = await register(store, organizationId, {
      environment: 'test',
      checkType,
      walletAddress,
    })
    const reusable = walletAddress === null ? undefined : model.findReusable(organizationId, checkType, walletAddress)
    expect([created, created ? undefined : session.id]).toEqual([reusable === undefined, reusable?.id])
    if (!created) return
    const registered: ModelSession = {
      organizationId,
      id: session.id,
      type: checkType,
      locked: walletAddress,
      connected: new Set(),
      removed: new Set(),
      status: 'pending',
      person: null,
      isConsented: false,
      isErased: false,
      retries: 0,
      hit: null,
      decided: null,
      wasCompletedByOperator: false,
    }
    model.sessions.push(registered)
    for (let count = random.below(4); count > 0; count--) await connect(registered)
  }

  const disconnect = async (session: ModelSession): Promise<void> => {
    const connected = (await store.sessions.find(session.organizationId, session.id))?.wallets ?? []
    if (connected.length === 0) return
    const { id: walletId, address } = random.pick(connected)
    await store.sessionWallets.remove({ ...idsOf(session), walletId, actor: 'person' })
    session.connected.delete(address)
    session.removed.add(address)
  }

  const erase = async (session: ModelSession): Promise<void> => {
    await store.evidence.addDocument(idsOf(session), documentRecord(), 1_000, 'person')
    await store.evidence.eraseAll(idsOf(session), OPERATOR)
    session.isErased = true
  }

  const decide = async (
    session: ModelSession,
    to: SessionStatus = random.pick(['completed', 'completed', 'completed', 'rejected', 'retry']),
  ): Promise<void> => {
    if (session.status === 'rejected' || (session.status === 'completed' && to === 'completed')) return
    if (to === 'retry' && session.retries === RETRIES_MAX) return
    const actor = random.pick(ACTORS)
    const change = (status: SessionStatus, by: string) =>
      store.sessions.changeStatus({ ...idsOf(session), to: status, actor: by, revoke: true, override: 'person' })
    if (to === 'completed' && isOpen(session)) {
      await change('submitted', 'person')
      session.status = 'submitted'
      await markChecksMade(store, session.organizationId, session.id)
    }
    const expected = to === 'completed' ? model.findRefusal(session, actor === OPERATOR) : null
    done.push(`${expected ?? to} by ${actor === OPERATOR ? 'an operator' : 'others'}`)
    expect(await failureOf(change(to, actor))).toBe(expected)
    if (expected !== null) return
    if (to === 'completed') model.complete(session, actor === OPERATOR)
    else if (to === 'rejected') model.reject(session, actor === OPERATOR || actor === 'screening')
    else model.sendBack(session)
  }

  /** Opens the session's only hit, or decides it. */
  const changeHit = async (session: ModelSession): Promise<void> => {
    if (session.isErased) return
    if (session.hit === null) {
      if (session.status !== 'submitted' && session.status !== 'completed') return
      await openHit(store, session.organizationId, session.id)
      session.hit = 'open'
      return
    }
    const state = random.chance(0.7) ? 'cleared' : 'confirmed'
    const [hit] = await store.screeningChecks.hits(session.organizationId, session.id)
    const decision = { state, by: 'ada', reason: 'A reason.' } as const
    await store.screeningChecks.decideHit({ ...idsOf(session), hitId: hit?.id ?? '' }, decision)
    session.hit = state
  }

  const act = async (): Promise<void> => {
    const kind = random.pick(KINDS)
    const isOfAny = kind === 'share' || kind === 'decide' || kind === 'hit'
    const among = model.sessions.filter((session) => isOfAny || isOpen(session))
    if (kind === 'register' || among.length === 0) return registerAny()
    const session = random.pick(among)
    done.push(`${kind} ${session.id} ${session.status}`)
    if (kind === 'connect') return connect(session)
    if (kind === 'disconnect') return disconnect(session)
    if (kind === 'decide') return decide(session)
    if (kind === 'hit') return changeHit(session)
    if (kind === 'erase') return random.chance(0.1) ? erase(session) : undefined
    return share(session)
  }

  for (let count = afterShared ? SHARED_SESSIONS : 0; count > 0; count--) {
    await registerAny(two)
    const session = model.sessions.at(-1)
    if (session === undefined || session.status !== 'pending') continue
    await connect(session)
    await share(session)
    await decide(session, 'completed')
    if (random.chance(0.5)) await changeHit(session)
  }
  let newest = await readNewest(store.database)
  for (let step = 0; step < (afterShared ? STEPS_AFTER_SHARED : STEPS); step++) {
    await act()
    for (const change of await changesSince(store.database, newest)) {
      newest = change
      if (change.topic === 'session') standings.sessionChanged(decodeSessionSubject(change.subjectId))
    }
    for (const organizationId of organizations) {
      for (const wallet of wallets) {
        for (const type of TYPES) {
          const { verifying } = await standings.find({ organizationId, environment: 'test' }, wallet, type, null)
          const isVerified = verifying !== null
          const place = { seed, step, organizationId, wallet, type }
          if (isVerified && model.isBlocked(organizationId, wallet)) {
            throw new Error(`a rejected wallet is verified: ${JSON.stringify({ ...place, done })}`)
          }
          if (isVerified !== model.isVerified(organizationId, wallet, type)) {
            throw new Error(`the model differs: ${JSON.stringify({ ...place, isVerified, done })}`)
          }
        }
      }
    }
  }
  return new Set(done)
}

describeStores((open, dialect) => {
  test('a rejected wallet or person is not verified until it is completed again, after any changes', async () => {
    const { store, remove } = await open()
    try {
      const reached = new Set<string>()
      const [rounds, roundsAfterShared] = dialect === 'SQLite' ? [25, 50] : [5, 5]
      for (let seed = 1; seed <= rounds + roundsAfterShared; seed++) {
        for (const operation of await play(store, seed, seed > rounds)) reached.add(operation)
      }
      const required = ['completed', 'rejected', 'retry'].flatMap((to) => [`${to} by an operator`, `${to} by others`])
      const rare = dialect === 'SQLite' ? ['LinkedSessionsError', 'HitConfirmedError'] : []
      required.push(...['RejectedBeforeError', 'HitOpenError', ...rare].map((name) => `${name} by others`))
      expect(required.filter((name) => !reached.has(name))).toEqual([])
    } finally {
      await remove()
    }
  })
})
