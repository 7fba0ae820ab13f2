// What a session is and what it refuses, written down a second time and as simply as possible: a session sent back takes only
// the parts that were requested, no decision holds for a session that has changed, and none completes a session with pending
// checks, an open hit or erased evidence. Random operations, one at a time and two at once, must do to a stored session what
// they do to this one; of two at once, in one order or the other.
import { isDeepStrictEqual } from 'node:util'
import { newIdentifier, newSessionId, newUuid } from '../../src/domain/identifier.ts'
import { NAME_CHECK } from '../../src/domain/screening-hit.ts'
import type { SessionStatus } from '../../src/domain/session.ts'
import type { Store } from '../../src/store/store.ts'
import { createRandom, type Random } from '../attack/random.ts'

const PARTS = ['identity-document', 'portrait'] as const
const ENTRIES = ['one', 'two'] as const
const KEY = { wrappedKey: new Uint8Array([1]), wrappedBy: 'a key of tests' }
const RETRIES_MAX = 5
const STEPS_PER_SESSION = 40

interface Hit {
  readonly entry: string
  readonly state: string
  readonly score: number
  /** The evidence was erased, and with it the name of the entry. */
  readonly isAnonymous: boolean
}

interface Model {
  readonly status: SessionStatus
  readonly sequence: number
  readonly retries: number
  /** At which the checks were queued that are still to be made. */
  readonly pending: number | null
  readonly hits: readonly Hit[]
  readonly corrections: { readonly parts: readonly string[]; readonly done: readonly string[] } | null
  readonly kept: readonly string[]
  readonly isErased: boolean
}

type Operation =
  | { readonly kind: 'give'; readonly part: string }
  | { readonly kind: 'check'; readonly sequence: number; readonly found: readonly (readonly [string, number])[] }
  | { readonly kind: 'made'; readonly sequence: number }
  | { readonly kind: 'judge'; readonly entry: string; readonly hitId: string; readonly state: 'cleared' | 'confirmed' }
  | {
      readonly kind: 'move'
      readonly to: SessionStatus
      readonly expected: number | null
      readonly corrections: readonly string[]
      readonly revoke: boolean
    }
  | { readonly kind: 'erase' }

/** The session afterwards, and the name of the error; or `done`, or `nothing`. */
type Result = readonly [Model, string]

const FRESH: Model = {
  status: 'pending',
  sequence: 1,
  retries: 0,
  pending: null,
  hits: [],
  corrections: null,
  kept: [],
  isErased: false,
}
const NEXT: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  pending: ['submitted', 'completed', 'rejected', 'retry'],
  retry: ['submitted', 'completed', 'rejected', 'retry'],
  submitted: ['completed', 'rejected', 'retry'],
  completed: ['retry', 'rejected'],
  rejected: [],
}
const added = (list: readonly string[], item: string): readonly string[] => [...new Set([...list, item])].sort()

const give = (model: Model, part: string): Result => {
  const { corrections, kept } = model
  if (model.status !== 'pending' && model.status !== 'retry') return [model, 'SessionClosedError']
  if (corrections !== null && !corrections.parts.includes(part) && kept.includes(part)) {
    return [model, 'PartNotRequestedError']
  }
  const asked = corrections && { parts: added(corrections.parts, part), done: added(corrections.done, part) }
  const sequence = model.sequence + 1
  return [{ ...model, sequence, corrections: asked, kept: [...kept, part].sort(), isErased: false }, 'done']
}

const check = (model: Model, found: readonly (readonly [string, number])[]): readonly Hit[] => {
  const scores = new Map(found)
  const known = model.hits.flatMap((hit): readonly Hit[] => {
    const score = hit.isAnonymous ? undefined : scores.get(hit.entry)
    if (score === undefined) return hit.state === 'open' ? [] : [hit]
    scores.delete(hit.entry)
    const isOpen = hit.state === 'open' || (hit.state === 'cleared' && score > hit.score)
    return [isOpen ? { ...hit, state: 'open', score } : hit]
  })
  return [...known, ...[...scores].map(([entry, score]) => ({ entry, score, state: 'open', isAnonymous: false }))]
}

const move = (model: Model, { to, expected, corrections, revoke }: Operation & { kind: 'move' }): Result => {
  const { status, sequence, retries } = model
  if (expected !== null && expected !== sequence) return [model, 'SessionChangedError']
  if (!NEXT[status].includes(to)) return [model, 'TransitionRefusedError']
  if (status === 'completed' && !revoke) return [model, 'TransitionRefusedError']
  if (to === 'retry' && retries >= RETRIES_MAX) return [model, 'RetriesExhaustedError']
  if (to === 'completed') {
    if (model.isErased) return [model, 'EvidenceErasedError']
    if (model.pending !== null) return [model, 'ChecksPendingError']
    if (model.hits.some(({ state }) => state === 'open')) return [model, 'HitOpenError']
  }
  const moved = { ...model, status: to, sequence: sequence + 1 }
  if (to === 'submitted') return [{ ...moved, pending: sequence + 1 }, 'done']
  const asked = to === 'retry' && corrections.length > 0 ? { parts: corrections, done: [] } : null
  return [{ ...moved, retries: retries + (to === 'retry' ? 1 : 0), corrections: asked }, 'done']
}

const erase = (model: Model): Model => {
  const hits = model.hits.flatMap((hit) => (hit.state === 'open' ? [] : [{ ...hit, score: 0, isAnonymous: true }]))
  if (model.kept.length === 0) return { ...model, hits }
  return { ...model, hits, kept: [], isErased: true, sequence: model.sequence + 1 }
}

const apply = (model: Model, operation: Operation): Result => {
  if (operation.kind === 'give') return give(model, operation.part)
  if (operation.kind === 'move') return move(model, operation)
  if (operation.kind === 'erase') return [erase(model), 'done']
  if (operation.kind === 'made') {
    return [operation.sequence === model.pending ? { ...model, pending: null } : model, 'done']
  }
  if (operation.kind === 'check') {
    if (operation.sequence !== model.sequence) return [model, 'nothing']
    return [{ ...model, hits: check(model, operation.found) }, 'done']
  }
  const judged = model.hits.find(({ entry }) => entry === operation.entry)
  if (judged === undefined) return [model, 'nothing']
  const hits = model.hits.map((hit) => (hit === judged ? { ...hit, state: operation.state } : hit))
  return [{ ...model, hits }, 'done']
}

interface Subject {
  readonly organizationId: string
  readonly sessionId: string
}

const perform = async (store: Store, subject: Subject, operation: Operation): Promise<unknown> => {
  const { organizationId, sessionId } = subject
  switch (operation.kind) {
    case 'give': {
      const record = {
        id: newIdentifier('evidence'),
        kind: operation.part,
        mediaType: 'image/png',
        byteLength: 1,
        storageName: newUuid(),
        sealedName: null,
        wrappedKey: new Uint8Array([2]),
        sealedUnder: KEY.wrappedKey,
        fieldNames: [],
        createdAtSeconds: 0,
      }
      return store.evidence.addDocument(subject, record, 1_000, 'person')
    }
    case 'check': {
      const hits = operation.found.map(([entry, score]) => ({
        ...{ list: 'list', entry, score, versionId: '1', name: entry, subject: 'person', why: [] },
        basis: entry,
      }))
      const made = { name: NAME_CHECK, outcome: 'passed', detail: {}, version: '1', settings: 's', hits }
      const { skipped } = await store.sessionChecks.replaceUnchanged(organizationId, 'lists', [
        { sessionId, sequence: operation.sequence, checks: [made] },
      ])
      return skipped === 0 ? {} : null
    }
    case 'made':
      await store.sessionChecks.markMade({ ...subject, sequence: operation.sequence })
      return {}
    case 'judge':
      return store.screeningChecks.decideHit(
        { ...subject, hitId: operation.hitId },
        { state: operation.state, by: 'operator:test', reason: 'of the test' },
      )
    case 'move':
      return store.sessions.changeStatus({
        ...subject,
        to: operation.to,
        actor: 'test',
        corrections: operation.corrections,
        revoke: operation.revoke,
        ...(operation.expected === null ? {} : { expectedSequence: operation.expected }),
      })
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

const comparable = (model: Model) => ({
  ...model,
  hits: model.hits
    .map(({ entry, state, score, isAnonymous }) => `${isAnonymous ? 'erased' : entry} ${state} ${score}`)
    .sort(),
})

const observe = async (store: Store, subject: Subject) => {
  const { organizationId, sessionId } = subject
  const [state, hits, corrections, evidence, [row]] = await Promise.all([
    store.sessions.find(organizationId, sessionId),
    store.screeningChecks.hits(organizationId, sessionId),
    store.portalProgress.findCorrections(organizationId, sessionId),
    store.evidence.list(subject),
    store.database.query<{ erased: number | null; pending: number | null }>(
      `SELECT evidence_erased_at_seconds AS erased, queue.sequence AS pending FROM sessions
       LEFT JOIN session_check_queue AS queue ON queue.session_id = sessions.id AND is_made = 0 WHERE sessions.id = ?`,
      [sessionId],
    ),
  ])
  if (state === null || row === undefined) throw new Error('the session is gone')
  const { status, sequence, retryCount: retries } = state.session
  const seen: ReturnType<typeof comparable> = {
    ...{ status, sequence, retries, pending: row.pending, isErased: row.erased !== null },
    hits: hits.map((hit) => `${hit.entry === hit.id ? 'erased' : hit.entry} ${hit.state} ${hit.score}`).sort(),
    corrections: corrections && { parts: corrections.parts.toSorted(), done: corrections.done.toSorted() },
    kept: evidence.map(({ kind }) => kind).sort(),
  }
  return { seen, hitIds: new Map(hits.map(({ entry, id }) => [entry, id])) }
}

const choose = (random: Random, model: Model, hitIds: ReadonlyMap<string, string>): Operation => {
  const some = <Item>(items: readonly Item[]): Item[] => items.filter(() => random.chance(0.4))
  const near = (sequence: number): number => sequence - (random.chance(0.2) ? 1 : 0)
  const kind = random.pick(['give', 'give', 'check', 'made', 'judge', 'submit', 'decide', 'decide', 'erase'] as const)
  if (kind === 'give') return { kind, part: random.pick(PARTS) }
  if (kind === 'made') return { kind, sequence: near(model.pending ?? model.sequence) }
  const check: Operation = {
    kind: 'check',
    sequence: near(model.sequence),
    found: some(ENTRIES).map((entry) => [entry, random.pick([80, 90])]),
  }
  if (kind === 'check') return check
  if (kind === 'judge') {
    const entry = random.pick(ENTRIES)
    // Nothing says any more which of the stored hits an erased one is.
    if (model.hits.some((hit) => hit.entry === entry && hit.isAnonymous)) return check
    return { kind, entry, hitId: hitIds.get(entry) ?? 'hit_none', state: random.pick(['cleared', 'confirmed']) }
  }
  if (kind === 'erase') return random.chance(0.25) ? { kind } : check
  if (kind === 'submit') return { kind: 'move', to: 'submitted', expected: null, corrections: [], revoke: false }
  return {
    kind: 'move',
    // Rejected is the end of a session.
    to: random.chance(0.05) ? 'rejected' : random.pick(['completed', 'retry']),
    expected: random.chance(0.3) ? null : near(model.sequence),
    corrections: some(PARTS).sort(),
    revoke: random.chance(0.8),
  }
}

const applyAll = (model: Model, operations: readonly Operation[]) => {
  let after = model
  const outcomes = operations.map((operation) => {
    const [next, outcome] = apply(after, operation)
    after = next
    return outcome
  })
  return { after, outcomes }
}

/**
 * @returns how often each operation had which outcome
 * @throws Error when a session is not what the model says; the message has the seed and what was done
 */
export const compareWithModel = async (
  store: Store,
  { seed, steps }: { readonly seed: number; readonly steps: number },
): Promise<ReadonlyMap<string, number>> => {
  const random = createRandom(seed)
  const { id: organizationId } = await store.organizations.create({ slug: `model-${seed}`, name: 'Model' })
  await store.organizationKeys.add(organizationId, KEY)
  const register = async (): Promise<Subject> => {
    const sessionId = newSessionId()
    const tokenHash = crypto.getRandomValues(new Uint8Array(32))
    await store.sessions.register({
      ...{ organizationId, sessionId, tokenHash, environment: 'live', checkType: 'kyc' },
      ...{ walletAddress: null, originUrl: null, provider: 'manual', actor: 'key:test' },
    })
    return { organizationId, sessionId }
  }
  const counts = new Map<string, number>()
  let subject = await register()
  let model = FRESH
  let hitIds: ReadonlyMap<string, string> = new Map()
  for (let step = 0; step < steps; step++) {
    if (model.status === 'rejected' || step % STEPS_PER_SESSION === STEPS_PER_SESSION - 1) {
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
      const expected = orders.map(({ after, outcomes: wanted }) => [wanted, comparable(after)])
      throw new Error(JSON.stringify({ seed, step, before: model, operations, outcomes, seen, expected }, null, 1))
    }
    for (const [at, { kind }] of operations.entries()) {
      const what = `${kind} ${outcomes[at]}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    model = order.after
    hitIds = seenIds
  }
  return counts
}
