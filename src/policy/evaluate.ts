// Evaluates rules in order: the first decisive rule wins, otherwise the default (decisions §4). A failed rule is an
// error, never a verdict (invariant 1). Within a rule, failures follow CEL: `a || b` is true if either side is true,
// even if the other fails; `&&`, `exists` and `all` behave accordingly.

import type { AttestationRequest } from '../domain/attestation.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { CallTable, IdentifiedCall } from './calls/call-table.ts'
import type { CompiledExpression } from './cel/expression.ts'
import { PolicyEvaluationError } from './evaluation-errors.ts'
import { FactAbsentError, type FactUnavailableError } from './fact-unavailable.ts'
import type { PolicyDocument, PolicyRule } from './types/document.ts'
import { ALLOW_LIST, DENY_LIST, type EvaluationFacts, type ListReader } from './types/facts.ts'
import type { PolicyProgram, RuleValue } from './types/program.ts'
import { AddressValue, Uint256 } from './values.ts'

const NOTHING: EvaluationFacts = {}
const NO_REQUEST = new FactAbsentError('the request')
const NOT_DECODED = new FactAbsentError('call.decoded')

/** Facts of one evaluation. Evaluation is synchronous and keeps no data of the request. */
export class Evaluation {
  facts: EvaluationFacts = NOTHING
  readonly #calls: CallTable | null
  // Created once, because several rules may read them.
  #wallet: AddressValue | null = null
  #represented: AddressValue | null = null
  #target: AddressValue | null = null
  #value: Uint256 | null = null
  #call: IdentifiedCall | null | undefined
  /** First unavailable fact read by the current rule. */
  unavailable: FactUnavailableError | null = null
  /** Whether the current rule read `call.decoded` of a malformed call. */
  isMalformed = false

  constructor(calls: CallTable | null) {
    this.#calls = calls
  }

  bind(facts: EvaluationFacts): void {
    this.facts = facts
    this.#wallet = null
    this.#represented = null
    this.#target = null
    this.#value = null
    this.#call = undefined
  }

  release(): void {
    this.bind(NOTHING)
  }

  noteUnavailable(error: FactUnavailableError): FactUnavailableError {
    this.unavailable ??= error
    return error
  }

  /** Rules of a saved session policy don't read the request. If one does, it fails. */
  get request(): AttestationRequest {
    const { request } = this.facts
    if (request === undefined) throw NO_REQUEST
    return request
  }

  get wallet(): AddressValue {
    this.#wallet ??= new AddressValue(this.request.from)
    return this.#wallet
  }

  /** The represented user, or else the wallet. */
  get represented(): AddressValue {
    const { onBehalf } = this.request
    if (onBehalf === '') return this.wallet
    this.#represented ??= new AddressValue(onBehalf)
    return this.#represented
  }

  get target(): AddressValue {
    this.#target ??= new AddressValue(this.request.to)
    return this.#target
  }

  get value(): Uint256 {
    this.#value ??= Uint256.ofCanonical(this.request.value)
    return this.#value
  }

  /** Null if the policy's abi or idl doesn't contain the function. */
  get call(): IdentifiedCall | null {
    if (this.#call === undefined) {
      const {
        chain: { family },
        data,
      } = this.request
      this.#call = this.#calls === null ? null : this.#calls.decode(family, data)
    }
    return this.#call
  }

  get isDecoded(): boolean {
    const { call } = this
    this.isMalformed = call !== null && call.values === null
    return call !== null && call.values !== null
  }
}

export interface EvaluableRule {
  readonly rule: PolicyRule
  readonly evaluate: CompiledExpression['evaluate']
}

const reviewBy = (ruleId: string | null): Verdict => Object.freeze({ compliant: false, ruleId, review: true })

/** `decisive`: value at which the rule decides. */
const decisionOf = ({ id, kind, code, message }: PolicyRule): { decisive: boolean; verdict: Verdict } => {
  if (kind === 'allow') return { decisive: true, verdict: Object.freeze({ compliant: true, ruleId: id }) }
  if (kind === 'review') return { decisive: true, verdict: reviewBy(id) }
  const words = { ...(code === null ? {} : { code }), ...(message === null ? {} : { message }) }
  return { decisive: kind === 'deny', verdict: Object.freeze({ compliant: false, ruleId: id, ...words }) }
}

export const createEvaluator = (
  rules: readonly EvaluableRule[],
  fallback: PolicyDocument['default'],
  evaluation: Evaluation,
): Pick<PolicyProgram, 'evaluate' | 'evaluateEach'> => {
  const steps = rules.map(({ rule, evaluate }) => ({ id: rule.id, evaluate, ...decisionOf(rule) }))
  const defaultVerdict: Verdict =
    fallback === 'review' ? reviewBy(null) : Object.freeze({ compliant: fallback === 'allow', ruleId: null })

  const evaluateStep = ({ evaluate, decisive, verdict }: (typeof steps)[number]): unknown => {
    evaluation.unavailable = null
    evaluation.isMalformed = false
    const value = evaluate()
    // Contracts can execute malformed calls, so `call.decoded` can deny them but must not let them pass.
    if (evaluation.isMalformed && (value === decisive) === verdict.compliant) throw NOT_DECODED
    return value
  }

  const firstDecision = (): Verdict => {
    for (const step of steps) {
      const { id, decisive, verdict } = step
      let value: unknown
      try {
        value = evaluateStep(step)
      } catch (error) {
        throw new PolicyEvaluationError(id, error, evaluation.unavailable)
      }
      if (value === decisive) return verdict
      // The type check guarantees this, but a verdict must not depend on that check alone.
      if (typeof value !== 'boolean')
        throw new PolicyEvaluationError(id, 'the rule returned a value that is not a boolean')
    }
    return defaultVerdict
  }

  const readValue = (step: (typeof steps)[number]): RuleValue => {
    try {
      return { value: evaluateStep(step) === true, failure: null }
    } catch (failure) {
      return { value: null, failure }
    }
  }

  const bound = <Result>(facts: EvaluationFacts, read: () => Result): Result => {
    evaluation.bind(facts)
    try {
      return read()
    } finally {
      evaluation.release()
    }
  }

  return {
    evaluate: (facts) => bound(facts, firstDecision),
    evaluateEach: (facts) => bound(facts, () => steps.map(readValue)),
  }
}

// Organization lists take precedence over policies, and deny over allow (decisions §4). On behalf of a user, a deny
// entry for either address denies. An allow entry must exist for both addresses, because an allowed relayer must not
// exempt an unlisted user from the policy, and vice versa.

/** No document's rule can have these ids. */
export const DENY_LIST_RULE = 'list:deny'
export const ALLOW_LIST_RULE = 'list:allow'

const DENIED: Verdict = Object.freeze({ compliant: false, ruleId: DENY_LIST_RULE })
const ALLOWED: Verdict = Object.freeze({ compliant: true, ruleId: ALLOW_LIST_RULE })

/**
 * Null if there is no decisive entry. @param onBehalf empty if there is none @throws the reader's error: no decision is
 * allowed
 */
export const listVerdict = (lists: ListReader, wallet: string, onBehalf: string): Verdict | null => {
  if (lists.contains(DENY_LIST, wallet)) return DENIED
  if (onBehalf === '') return lists.contains(ALLOW_LIST, wallet) ? ALLOWED : null
  if (lists.contains(DENY_LIST, onBehalf)) return DENIED
  return lists.contains(ALLOW_LIST, wallet) && lists.contains(ALLOW_LIST, onBehalf) ? ALLOWED : null
}
