// A simple model of a session and of refused operations. A session in `retry` accepts only the requested parts. No
// decision applies to a changed session. Nothing completes a session with pending checks, an open hit, erased evidence,
// changes that were not submitted, or unchecked wallets. Only an operator completes it with a confirmed hit. It has no
// fields, so only an override completes it. It is shared as the person agreed at the last submission, and never after a
// later refusal.
import type { SessionStatus } from '../../src/domain/session.ts'

const RETRIES_MAX = 5

interface Hit {
  readonly entry: string
  /** The person's details. */
  readonly subject: string
  readonly state: string
  readonly score: number
  /** The evidence was erased, and with it the name of the entry. */
  readonly isAnonymous: boolean
}

export interface Model {
  readonly status: SessionStatus
  readonly sequence: number
  readonly retries: number
  /** Sequence number at which the pending checks were queued. */
  readonly pending: number | null
  readonly hits: readonly Hit[]
  readonly corrections: { readonly parts: readonly string[]; readonly done: readonly string[] } | null
  readonly kept: readonly string[]
  /** Number of connected wallets. */
  readonly wallets: number
  readonly isErased: boolean
  readonly wasSubmitted: boolean
  readonly wasDecided: boolean
  /** The evidence or the wallets changed after the last submission. */
  readonly isEdited: boolean
  /** Whether the person's newest agreement shares the result; null without an agreement. */
  readonly agrees: boolean | null
  readonly isConsented: boolean
  /** The wallets changed, without a submission, and their checks were not queued. */
  readonly isUnchecked: boolean
}

/** Entries with their scores. */
type Found = readonly (readonly [string, number])[]

export type Operation =
  | { readonly kind: 'add-document'; readonly part: string }
  | { readonly kind: 'connect' }
  | { readonly kind: 'queue' }
  | { readonly kind: 'check'; readonly sequence: number; readonly subject: string; readonly found: Found }
  | { readonly kind: 'mark-made'; readonly sequence: number }
  | {
      readonly kind: 'decide-hit'
      readonly basis: string
      readonly hitId: string
      readonly state: 'cleared' | 'confirmed'
    }
  | {
      readonly kind: 'change-status'
      readonly to: SessionStatus
      readonly expected: number | null
      readonly corrections: readonly string[]
      readonly revoke: boolean
      readonly override: boolean
      readonly byOperator: boolean
    }
  | { readonly kind: 'agree'; readonly shares: boolean }
  | { readonly kind: 'erase' }

/** The session after the operation, and the name of the error, `done`, or `nothing`. */
type Result = readonly [Model, string]

export const FRESH: Model = {
  status: 'pending',
  sequence: 1,
  retries: 0,
  pending: null,
  hits: [],
  corrections: null,
  kept: [],
  wallets: 0,
  isErased: false,
  wasSubmitted: false,
  wasDecided: false,
  isEdited: false,
  agrees: null,
  isConsented: false,
  isUnchecked: false,
}
const NEXT: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  pending: ['submitted', 'completed', 'rejected', 'retry'],
  retry: ['submitted', 'completed', 'rejected', 'retry'],
  submitted: ['completed', 'rejected', 'retry'],
  completed: ['retry', 'rejected'],
  rejected: [],
}
const added = (list: readonly string[], item: string): readonly string[] => [...new Set([...list, item])].sort()

const isOpen = ({ status }: Model): boolean => status === 'pending' || status === 'retry'

/** The session after it accepted a part, without the part. */
const take = (model: Model, part: string, isGiven: boolean): Result => {
  const { corrections } = model
  if (!isOpen(model)) return [model, 'SessionClosedError']
  if (corrections !== null && !corrections.parts.includes(part) && isGiven) return [model, 'PartNotRequestedError']
  const requested = corrections && { parts: added(corrections.parts, part), done: added(corrections.done, part) }
  return [{ ...model, sequence: model.sequence + 1, corrections: requested }, 'done']
}

const addDocument = (model: Model, part: string): Result => {
  const [taken, outcome] = take(model, part, model.kept.includes(part))
  if (outcome !== 'done') return [model, outcome]
  return [{ ...taken, kept: [...model.kept, part].sort(), isErased: false, isEdited: true }, outcome]
}

const connect = (model: Model): Result => {
  const [taken, outcome] = take(model, 'wallets', model.wallets > 0)
  if (outcome !== 'done') return [model, outcome]
  const changes = model.wasSubmitted ? { isEdited: true } : { isUnchecked: true }
  return [{ ...taken, ...changes, wallets: model.wallets + 1 }, outcome]
}

/** An operator tried to complete the session. */
const queue = (model: Model): Result => {
  if (!isOpen(model) || model.isEdited || !model.isUnchecked) return [model, 'done']
  return [{ ...model, pending: model.sequence, isUnchecked: false }, 'done']
}

export const basisOf = ({ subject, entry }: Pick<Hit, 'subject' | 'entry'>): string => `${subject} ${entry}`

/** A hit ends if the list changed. An open hit also ends if its entry has an open hit with at least the same score. */
const check = (model: Model, subject: string, found: Found): readonly Hit[] => {
  const scores = new Map(found)
  const isSame = (hit: Hit): boolean => !hit.isAnonymous && hit.subject === subject
  const isDecided = (entry: string): boolean =>
    model.hits.some((hit) => isSame(hit) && hit.entry === entry && hit.state !== 'open')
  const known = model.hits.flatMap((hit): readonly Hit[] => {
    const score = hit.isAnonymous ? undefined : scores.get(hit.entry)
    if (!isSame(hit)) {
      const isReplaced = score !== undefined && score >= hit.score && !isDecided(hit.entry)
      return hit.state === 'open' && isReplaced ? [] : [hit]
    }
    if (score === undefined) return []
    const isOpened = hit.state === 'open' || (hit.state === 'cleared' && score > hit.score)
    return [isOpened ? { ...hit, state: 'open', score } : hit]
  })
  const isNew = ([entry]: readonly [string, number]): boolean =>
    !model.hits.some((hit) => isSame(hit) && hit.entry === entry)
  const added = found
    .filter(isNew)
    .map(([entry, score]) => ({ entry, subject, score, state: 'open', isAnonymous: false }))
  return [...known, ...added]
}

const consent = (model: Model, isConsented: boolean): Model =>
  model.isConsented === isConsented ? model : { ...model, isConsented, sequence: model.sequence + 1 }

const agree = (model: Model, shares: boolean): Model => {
  const agreed = { ...model, agrees: shares }
  return shares ? agreed : consent(agreed, false)
}

const changeStatus = (model: Model, operation: Operation & { kind: 'change-status' }): Result => {
  const { to, expected, corrections, revoke, override, byOperator } = operation
  const { status, sequence, retries } = model
  if (expected !== null && expected !== sequence) return [model, 'SessionChangedError']
  if (!NEXT[status].includes(to)) return [model, 'TransitionRefusedError']
  if (status === 'completed' && !revoke) return [model, 'TransitionRefusedError']
  if (to === 'retry' && retries >= RETRIES_MAX) return [model, 'RetriesExhaustedError']
  if (to === 'completed') {
    if (model.isErased) return [model, 'EvidenceErasedError']
    if (!override) return [model, 'SessionIncompleteError']
    if (model.isEdited) return [model, 'ChangesUnsubmittedError']
    if (model.pending !== null || model.isUnchecked) return [model, 'ChecksPendingError']
    if (model.hits.some(({ state }) => state === 'open')) return [model, 'HitOpenError']
    if (!byOperator && model.hits.some(({ state }) => state === 'confirmed')) return [model, 'HitConfirmedError']
  }
  if (to === 'submitted') {
    const agreed = consent(model, model.agrees ?? model.isConsented)
    const submitted = agreed.sequence + 1
    const checked = { isEdited: false, isUnchecked: false, wasSubmitted: true }
    return [{ ...agreed, ...checked, status: to, sequence: submitted, pending: submitted }, 'done']
  }
  const wasDecided = model.wasDecided || to !== 'retry'
  const moved = { ...model, status: to, sequence: sequence + 1, wasDecided }
  const requested = to === 'retry' && corrections.length > 0 ? { parts: corrections, done: [] } : null
  return [{ ...moved, retries: retries + (to === 'retry' ? 1 : 0), corrections: requested }, 'done']
}

const erase = (model: Model): Model => {
  const hits = model.hits.map((hit) => ({ ...hit, score: 0, isAnonymous: true }))
  if (model.kept.length === 0) return { ...model, hits }
  return { ...model, hits, kept: [], isErased: true, sequence: model.sequence + 1 }
}

const apply = (model: Model, operation: Operation): Result => {
  if (operation.kind === 'add-document') return addDocument(model, operation.part)
  if (operation.kind === 'connect') return connect(model)
  if (operation.kind === 'queue') return queue(model)
  if (operation.kind === 'change-status') return changeStatus(model, operation)
  if (operation.kind === 'agree') return [agree(model, operation.shares), 'done']
  if (operation.kind === 'erase') return [erase(model), 'done']
  if (operation.kind === 'mark-made') {
    return [operation.sequence === model.pending ? { ...model, pending: null } : model, 'done']
  }
  if (operation.kind === 'check') {
    if (operation.sequence !== model.sequence) return [model, 'nothing']
    return [{ ...model, hits: check(model, operation.subject, operation.found) }, 'done']
  }
  const decided = model.hits.find((hit) => !hit.isAnonymous && basisOf(hit) === operation.basis)
  if (decided === undefined) return [model, 'nothing']
  const hits = model.hits.map((hit) => (hit === decided ? { ...hit, state: operation.state } : hit))
  return [{ ...model, hits }, 'done']
}

/** The compared state: without members that no table stores, with sorted hits, and whether the session is unsettled. */
export const comparable = ({ isEdited: _, isUnchecked: __, wasSubmitted: ___, wasDecided, ...model }: Model) => ({
  ...model,
  isUnsettled:
    model.pending !== null ||
    model.hits.some(({ state }) => state === 'open' || state === 'confirmed') ||
    (wasDecided && model.status !== 'completed' && model.status !== 'rejected'),
  hits: model.hits.map((hit) => `${hit.isAnonymous ? 'erased' : basisOf(hit)} ${hit.state} ${hit.score}`).sort(),
})

export const applyAll = (model: Model, operations: readonly Operation[]) => {
  let after = model
  const outcomes = operations.map((operation) => {
    const [next, outcome] = apply(after, operation)
    after = next
    return outcome
  })
  return { after, outcomes }
}
