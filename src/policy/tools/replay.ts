// Evaluates a policy on recorded decisions. The outcome is unknown if a rule reads a fact that isn't in the record.
import type { DecisionRecord, RecordedFacts } from '../../decision-log/types.ts'
import type { WalletAddress } from '../../domain/address.ts'
import type { AttestationRequest } from '../../domain/attestation.ts'
import type { Chain } from '../../domain/chain.ts'
import type { OptionalField } from '../../domain/target.ts'
import type { Verdict } from '../../domain/verdict.ts'
import { ALLOW_LIST_RULE, DENY_LIST_RULE } from '../evaluate.ts'
import { PolicyEvaluationError } from '../evaluation-errors.ts'
import { FactUnavailableError } from '../fact-unavailable.ts'
import type { ListReader } from '../types/facts.ts'
import type { CompiledPolicy } from '../types/program.ts'
import { recordedAnswersOf } from './recorded-facts.ts'

export type ReplayableDecision = Pick<
  DecisionRecord,
  | 'kind'
  | 'uuid'
  | 'at'
  | 'revision'
  | 'chain'
  | 'from'
  | 'on_behalf'
  | 'to'
  | 'value'
  | 'data_size'
  | 'data'
  | 'requested'
  | 'facts'
  | 'compliant'
  | 'rule'
>

export type ReplayedDecision =
  | { readonly status: 'same' }
  | { readonly status: 'changed'; readonly verdict: Verdict }
  | { readonly status: 'unknown'; readonly fact: string }
  | { readonly status: 'failed'; readonly ruleId: string }
  | { readonly status: 'by-lists' }

export interface ReplayOptions {
  readonly chain: (name: string) => Chain | undefined
  /** Current lists, if the record has no lookup. */
  readonly lists: ListReader | null
  /** Optional request fields that a revision reads, by id. */
  readonly required: Readonly<Record<string, readonly OptionalField[]>>
}

const UNRECORDED_DATA = new FactUnavailableError('the call data')
const UNRECORDED_CLIENT = new FactUnavailableError('client.ip')
const UNKNOWN_CHAIN = new FactUnavailableError('the chain')

const readerOf = (recorded: RecordedFacts['lists'], current: ListReader | null): ListReader => {
  const find = (name: string) => (recorded !== undefined && Object.hasOwn(recorded, name) ? recorded[name] : undefined)
  return {
    ageSeconds: (name) => {
      const list = find(name)
      return list === undefined ? (current?.ageSeconds(name) ?? null) : list.age
    },
    contains: (name, address) => {
      const list = find(name)
      if (list?.in.includes(address)) return true
      if (list?.out.includes(address)) return false
      if (current === null || current.ageSeconds(name) === null) throw new FactUnavailableError(`list ${name}`)
      return current.contains(name, address)
    },
  }
}

/** Only the name is readable if the deployment no longer has the chain. */
const chainOf = (name: string, known: Chain | undefined): Chain =>
  known === undefined
    ? {
        name,
        get family(): 'solana' {
          throw UNKNOWN_CHAIN
        },
      }
    : { ...known, name }

/** Reading a field that the record doesn't contain throws. */
const requestOf = (decision: ReplayableDecision, known: Chain | undefined): AttestationRequest => {
  const { data, data_size, requested } = decision
  return {
    chain: chainOf(decision.chain, known),
    // Addresses in the log are canonical.
    from: decision.from as WalletAddress,
    onBehalf: (decision.on_behalf ?? '') as WalletAddress | '',
    to: decision.to as WalletAddress,
    value: decision.value,
    get data() {
      if (data !== undefined) return data
      if (data_size === 0) return '0x'
      throw UNRECORDED_DATA
    },
    get userIp(): string {
      throw UNRECORDED_CLIENT
    },
    nowSeconds: requested ?? Math.floor(decision.at / 1000),
  }
}

/**
 * Returns the field that the policy reads and the request may have omitted: the response would then be 400. Null if
 * there is none.
 */
const maybeOmitted = (
  { requires }: CompiledPolicy,
  { kind, revision, data_size: size, value }: ReplayableDecision,
  { required }: ReplayOptions,
): OptionalField | null => {
  // v1 tasks always contain the fields.
  if (kind === 'task') return null
  const isEmpty = { data: size === 0, msg_value: value === '0', user_ip: false }
  return requires.find((field) => isEmpty[field] && required[revision]?.includes(field) !== true) ?? null
}

/** @throws only errors that are bugs */
export const replayDecision = (
  policy: CompiledPolicy,
  decision: ReplayableDecision,
  options: ReplayOptions,
): ReplayedDecision => {
  if (decision.rule === DENY_LIST_RULE || decision.rule === ALLOW_LIST_RULE) return { status: 'by-lists' }
  const omitted = maybeOmitted(policy, decision, options)
  if (omitted !== null) {
    return { status: 'unknown', fact: `whether the request contained ${omitted} (without it, the response is 400)` }
  }
  try {
    const verdict = policy.evaluate({
      request: requestOf(decision, options.chain(decision.chain)),
      external: recordedAnswersOf(decision.facts ?? {}),
      lists: readerOf(decision.facts?.lists, options.lists),
    })
    const isSame = verdict.compliant === decision.compliant && verdict.ruleId === decision.rule
    return isSame ? { status: 'same' } : { status: 'changed', verdict }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) throw error
    const { reason, subject, ruleId } = error
    return reason === 'unavailable' ? { status: 'unknown', fact: subject } : { status: 'failed', ruleId }
  }
}

interface Outcome {
  readonly compliant: boolean
  readonly rule: string | null
}

export interface ReplayChange {
  readonly from: Outcome
  readonly to: Outcome
  readonly count: number
  readonly examples: readonly string[]
}

export interface ReplaySummary {
  readonly decisions: number
  readonly same: number
  readonly changes: readonly ReplayChange[]
  readonly unknown: readonly { readonly fact: string; readonly count: number }[]
  readonly failed: readonly { readonly rule: string; readonly count: number }[]
  readonly byLists: number
}

export const EXAMPLES = 3

const descending = (left: { readonly count: number }, right: { readonly count: number }): number =>
  right.count - left.count

export const createReplayTally = () => {
  let decisions = 0
  let same = 0
  let byLists = 0
  const changes = new Map<string, { from: Outcome; to: Outcome; count: number; examples: string[] }>()
  const unknown = new Map<string, number>()
  const failed = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)

  const addChange = ({ uuid, compliant, rule }: ReplayableDecision, verdict: Verdict): void => {
    const from = { compliant, rule }
    const to = { compliant: verdict.compliant, rule: verdict.ruleId }
    const key = JSON.stringify([from, to])
    const change = changes.get(key) ?? { from, to, count: 0, examples: [] }
    changes.set(key, change)
    change.count++
    if (change.examples.length < EXAMPLES) change.examples.push(uuid)
  }

  return {
    add: (decision: ReplayableDecision, replayed: ReplayedDecision): void => {
      decisions++
      if (replayed.status === 'same') same++
      else if (replayed.status === 'by-lists') byLists++
      else if (replayed.status === 'changed') addChange(decision, replayed.verdict)
      else if (replayed.status === 'unknown') count(unknown, replayed.fact)
      else count(failed, replayed.ruleId)
    },
    summary: (): ReplaySummary => ({
      decisions,
      same,
      changes: [...changes.values()].sort(descending),
      unknown: [...unknown].map(([fact, times]) => ({ fact, count: times })).sort(descending),
      failed: [...failed].map(([rule, times]) => ({ rule, count: times })).sort(descending),
      byLists,
    }),
  }
}
