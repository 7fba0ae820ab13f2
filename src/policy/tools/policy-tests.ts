// Runs a document's tests as requests for which sources return the test's facts.
import { finish, type Steps } from '../cel/steps.ts'
import { PolicyEvaluationError } from '../evaluation-errors.ts'
import { FactUnavailableError } from '../fact-unavailable.ts'
import type { PolicyTest, TestExpectation, TestList } from '../types/document.ts'
import type { ListReader } from '../types/facts.ts'
import type { CompiledPolicy } from '../types/program.ts'

export interface TestResult {
  readonly name: string
  /** Expected and actual outcome; null if the test passed. */
  readonly failure: string | null
}

interface Outcome {
  readonly outcome: TestExpectation['outcome']
  readonly ruleId: string | null
  readonly reason: string
}

/** Behaves like the workers' lists. */
export const readerOfLists = (lists: Readonly<Record<string, TestList>>): ListReader => {
  const sets = new Map(Object.entries(lists).map(([name, { addresses }]) => [name, new Set(addresses)]))
  return {
    contains: (name, address) => sets.get(name)?.has(address) === true,
    ageSeconds: (name) => (Object.hasOwn(lists, name) ? (lists[name]?.ageSeconds ?? null) : null),
  }
}

const evaluate = (policy: CompiledPolicy, test: PolicyTest): Outcome => {
  try {
    const verdict = policy.evaluate({ ...test, lists: readerOfLists(test.lists) })
    const outcome = verdict.compliant ? 'allow' : verdict.review === true ? 'review' : 'deny'
    return { outcome, ruleId: verdict.ruleId, reason: '' }
  } catch (error) {
    if (!(error instanceof PolicyEvaluationError)) throw error
    const { cause } = error
    const reason = cause instanceof FactUnavailableError ? `: ${cause.message}` : ''
    return { outcome: 'failure', ruleId: error.ruleId, reason }
  }
}

const inWords = (outcome: string, ruleId: string | null | undefined): string => {
  if (ruleId === undefined) return outcome
  return ruleId === null ? `${outcome} by default` : `${outcome} by rule ${ruleId}`
}

const run = (policy: CompiledPolicy, test: PolicyTest): TestResult => {
  const { expected, name } = test
  const { outcome, ruleId, reason } = evaluate(policy, test)
  const isAsExpected = outcome === expected.outcome && (expected.ruleId === undefined || expected.ruleId === ruleId)
  const wanted = inWords(expected.outcome, expected.ruleId)
  const failure = isAsExpected ? null : `${name}: expected ${wanted}, got ${inWords(outcome, ruleId)}${reason}`
  return { name, failure }
}

export function* testSteps(policy: CompiledPolicy): Steps<readonly TestResult[]> {
  const results: TestResult[] = []
  for (const test of policy.document.tests) {
    yield
    results.push(run(policy, test))
  }
  return results
}

export const runPolicyTests = (policy: CompiledPolicy): readonly TestResult[] => finish(testSteps(policy))
