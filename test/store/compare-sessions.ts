// Random operations must change a stored session like the model. Two simultaneous operations must have the effect
// of either order.
import { isDeepStrictEqual } from 'node:util'
import type { WalletAddress } from '../../src/domain/address.ts'
import { newUuid } from '../../src/domain/identifier.ts'
import { NAME_CHECK } from '../../src/domain/screening-hit.ts'
import type { Store } from '../../src/store/store.ts'
import { createRandom, type Random } from '../attack/random.ts'
import { connectWallet, createSession, documentRecord, ORGANIZATION_KEY } from './session-fixtures.ts'
import { applyAll, basisOf, comparable, FRESH, type Model, type Operation } from './session-model.ts'

const PARTS = ['identity-document', 'portrait'] as const
const CORRECTIONS = ['identity-document', 'portrait', 'wallets']
const ENTRIES = ['one', 'two'] as const
const SUBJECTS = ['Ivan', 'Anna'] as const

const WALLETS = 2
/** An operation that is listed more often is chosen more often. */
const KINDS = [
  'add-document',
  'add-document',
  'connect',
  'queue',
  'check',
  'mark-made',
  'mark-made',
  'decide-hit',
  'submit',
  'agree',
  'decide',
  'decide',
  'decide',
  'erase',
] as const
const STEPS_PER_SESSION = 40

interface Subject {
  readonly organizationId: string
  readonly sessionId: string
  /** One of its connected wallets. */
  wallet: WalletAddress | null
}

const perform = async (store: Store, subject: Subject, operation: Operation): Promise<unknown> => {
  const { organizationId, sessionId } = subject
  switch (operation.kind) {
    case 'add-document':
      return store.evidence.addDocument(subject, documentRecord(operation.part), 1_000, 'person')
    case 'connect': {
      const address = `0x${newUuid().replaceAll('-', '').padEnd(40, '0')}` as WalletAddress
      const state = await connectWallet(store, subject, address)
      subject.wallet = address
      return state
    }
    case 'queue':
      await store.sessions.queueMissingChecks(organizationId, sessionId)
      return {}
    case 'check': {
      const hits = operation.found.map(([entry, score]) => ({
        entry,
        score,
        name: entry,
        basis: basisOf({ subject: operation.subject, entry }),
        subjectBasis: operation.subject,
        list: 'list',
        versionId: '1',
        subject: 'person',
        why: [],
      }))
      const check = {
        name: NAME_CHECK,
        outcome: 'passed',
        detail: {},
        version: '1',
        settings: 's',
        hits,
        subjectBases: [operation.subject],
      }
      const { skipped } = await store.sessionChecks.replaceUnchanged(organizationId, 'lists', [
        { sessionId, sequence: operation.sequence, checks: [check] },
      ])
      return skipped === 0 ? {} : null
    }
    case 'mark-made':
      await store.sessionChecks.markMade({ ...subject, sequence: operation.sequence })
      return {}
    case 'decide-hit':
      return store.screeningChecks.decideHit(
        { ...subject, hitId: operation.hitId },
        { state: operation.state, by: 'operator:test', reason: 'of the test' },
      )
    case 'change-status':
      return store.sessions.changeStatus({
        ...subject,
        to: operation.to,
        actor: operation.byOperator ? 'operator:test' : 'test',
        corrections: operation.corrections,
        revoke: operation.revoke,
        ...(operation.override ? { override: 'person' } : {}),
        ...(operation.expected === null ? {} : { expectedSequence: operation.expected }),
      })
    case 'agree':
      await store.portalProgress.recordAgreement({
        ...subject,
        version: '2.en',
        shares: operation.shares,
        usesDetails: false,
      })
      return {}
    case 'erase':
      return store.evidence.eraseAll(subject, 'test')
  }
}

const outcomeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    return (await work) === null ? 'nothing' : 'done'
  } catch (error) {
    return error instanceof Error ? error.name : 'unknown'
  }
}

const observe = async (store: Store, subject: Subject) => {
  const { organizationId, sessionId, wallet } = subject
  const query = { organizationId, environment: 'test', level: 1 } as const
  const [[standing], state, agreement, hits, corrections, evidence, [row]] = await Promise.all([
    wallet === null ? [] : store.walletStandings.loadSessions(query, wallet),
    store.sessions.find(organizationId, sessionId),
    store.portalProgress.findAgreement(organizationId, sessionId),
    store.screeningChecks.hits(organizationId, sessionId),
    store.portalProgress.findCorrections(organizationId, sessionId),
    store.evidence.list(subject),
    store.database.query<{
      erased: number | null
      decided: number | null
      pending: number | null
      events: number
      consent: string | null
    }>(
      `SELECT evidence_erased_at_seconds AS erased, decided_sequence AS decided, queue.sequence AS pending,
         (SELECT COUNT(*) FROM session_events WHERE session_id = sessions.id) AS events,
         (SELECT kind FROM session_events WHERE session_id = sessions.id AND kind LIKE 'consent%'
          ORDER BY sequence DESC LIMIT 1) AS consent
       FROM sessions LEFT JOIN session_check_queue AS queue ON queue.session_id = sessions.id AND is_made = 0 WHERE sessions.id = ?`,
      [sessionId],
    ),
  ])
  if (state === null || row === undefined) throw new Error('the session is missing')
  const { status, sequence, retryCount: retries, consentedAtSeconds, completedAtSeconds } = state.session
  const isConsented = consentedAtSeconds !== null
  if (Number(row.events) !== sequence) throw new Error('the number of events is not the number of changes')
  if ((completedAtSeconds === null) === (status === 'completed'))
    throw new Error('the completion time is set only for completed sessions')
  if (isConsented !== (row.consent === 'consented'))
    throw new Error('the consent of the history differs from the session')
  const seen: ReturnType<typeof comparable> = {
    status,
    sequence,
    retries,
    pending: row.pending,
    isErased: row.erased !== null,
    isUnsettled:
      standing?.isUnsettled ??
      (row.pending !== null ||
        hits.some(({ state }) => state !== 'cleared') ||
        (row.decided !== null && status !== 'completed' && status !== 'rejected')),
    agrees: agreement?.shares ?? null,
    isConsented,
    hits: hits.map((hit) => `${hit.entry === hit.id ? 'erased' : hit.basis} ${hit.state} ${hit.score}`).sort(),
    corrections: corrections && { parts: corrections.parts.toSorted(), done: corrections.done.toSorted() },
    kept: evidence.map(({ kind }) => kind).sort(),
    wallets: state.wallets.length,
  }
  return { seen, hitIds: new Map(hits.map(({ basis, id }) => [basis, id])) }
}

const choose = (random: Random, model: Model, hitIds: ReadonlyMap<string, string>): Operation => {
  const some = <Item>(items: readonly Item[]): Item[] => items.filter(() => random.chance(0.4))
  const near = (sequence: number): number => sequence - (random.chance(0.2) ? 1 : 0)
  const kind = random.pick(KINDS)
  if (kind === 'add-document') return { kind, part: random.pick(PARTS) }
  if (kind === 'queue') return { kind }
  if (kind === 'connect') return { kind: model.wallets < WALLETS ? 'connect' : 'queue' }
  if (kind === 'mark-made') return { kind, sequence: near(model.pending ?? model.sequence) }
  const check: Operation = {
    kind: 'check',
    sequence: near(model.sequence),
    subject: random.pick(SUBJECTS),
    found: some(ENTRIES).map((entry) => [entry, random.pick([80, 90])]),
  }
  if (kind === 'check') return check
  if (kind === 'decide-hit') {
    const basis = basisOf({ subject: random.pick(SUBJECTS), entry: random.pick(ENTRIES) })
    return { kind, basis, hitId: hitIds.get(basis) ?? 'hit_none', state: random.pick(['cleared', 'confirmed']) }
  }
  if (kind === 'agree') return { kind, shares: random.chance(0.5) }
  if (kind === 'erase') return random.chance(0.25) ? { kind } : check
  if (kind === 'submit')
    return {
      kind: 'change-status',
      to: 'submitted',
      expected: null,
      corrections: [],
      revoke: random.chance(0.5),
      override: false,
      byOperator: false,
    }
  return {
    kind: 'change-status',
    // A rejection is final.
    to: random.chance(model.status === 'completed' ? 0.3 : 0.05) ? 'rejected' : random.pick(['completed', 'retry']),
    expected: random.chance(0.3) ? null : near(model.sequence),
    corrections: some(CORRECTIONS).sort(),
    revoke: random.chance(0.8),
    override: random.chance(0.8),
    byOperator: random.chance(0.6),
  }
}

/**
 * @returns the number of operations by kind and outcome
 * @throws Error if a session differs from the model; the message contains the seed and the operations
 */
export const compareWithModel = async (
  store: Store,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<ReadonlyMap<string, number>> => {
  const random = createRandom(seed)
  const { id: organizationId } = await store.organizations.create({ slug: `model-${seed}`, name: 'Model' })
  await store.organizationKeys.add(organizationId, ORGANIZATION_KEY)
  const register = async (): Promise<Subject> => ({
    ...(await createSession(store, organizationId, { environment: 'test' })),
    wallet: null,
  })
  const counts = new Map<string, number>()
  let subject = await register()
  let model = FRESH
  let hitIds: ReadonlyMap<string, string> = new Map()
  for (let step = 0; step < steps; step++) {
    if ((model.status === 'rejected' && random.chance(0.3)) || step % STEPS_PER_SESSION === STEPS_PER_SESSION - 1) {
      subject = await register()
      model = FRESH
      hitIds = new Map()
    }
    const operations = Array.from({ length: random.chance(0.7) ? 2 : 1 }, () => choose(random, model, hitIds))
    const outcomes = await Promise.all(operations.map((operation) => outcomeOf(perform(store, subject, operation))))
    const { seen, hitIds: seenIds } = await observe(store, subject)
    const orders = [applyAll(model, operations), applyAll(model, operations.toReversed())]
    const isOf = (order: (typeof orders)[number], at: number): boolean =>
      isDeepStrictEqual(at === 0 ? order.outcomes : order.outcomes.toReversed(), outcomes) &&
      isDeepStrictEqual(comparable(order.after), seen)
    const order = orders.find(isOf)
    if (order === undefined) {
      const expected = orders.map(({ after, outcomes: required }) => [required, comparable(after)])
      throw new Error(JSON.stringify({ seed, step, before: model, operations, outcomes, seen, expected }, null, 1))
    }
    for (const [at, { kind }] of operations.entries()) {
      const name = `${kind} ${outcomes[at]}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    model = order.after
    hitIds = seenIds
  }
  return counts
}
