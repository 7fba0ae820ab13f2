// What the policy tests share: the facts of an ordinary request, and policies of one rule.
import type { Verdict } from '../../src/domain/verdict.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { PolicyInvalidError, type PolicyIssue } from '../../src/policy/issues.ts'
import type { PolicyDocument } from '../../src/policy/types/document.ts'
import type { EvaluationFacts } from '../../src/policy/types/facts.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import { chainOf, type RequestChanges, requestOf } from '../support/request.ts'

export const EVM_WALLET = '0xabababababababababababababababababababab'
export const EVM_ZERO = '0x0000000000000000000000000000000000000000'

/** The parts of a document that most tests have no use for. */
export const NO_PARTS: Pick<PolicyDocument, 'decides' | 'constants' | 'abi' | 'idl' | 'reads' | 'tests'> = {
  decides: 'requests',
  constants: [],
  abi: [],
  idl: null,
  reads: [],
  tests: [],
}

/** What a test changes of the ordinary request, and what it adds to it. */
export type FactChanges = RequestChanges & Omit<EvaluationFacts, 'request'>

export const SOLANA = { chain: chainOf('solana') } as const

/** 2026-01-01T00:00:00Z, a Thursday. */
const NOW_SECONDS = 1_767_225_600

export const facts = ({ external, lists, session, ...changes }: FactChanges = {}) => ({
  request: requestOf({ from: EVM_WALLET, to: EVM_ZERO, nowSeconds: NOW_SECONDS, ...changes }),
  external,
  lists,
  session,
})

/** A policy of one `allow` rule over an expression; none matching is a denial. */
export const policyOf = (expression: string): CompiledPolicy =>
  compilePolicy({
    name: 'Test',
    description: '',
    default: 'deny',
    quorum: 1,
    ...NO_PARTS,
    rules: [{ id: 'only', kind: 'allow', expression, code: null, message: null }],
  })

/** The value of an expression for a request. */
export const holds = (expression: string, changes: FactChanges = {}): boolean =>
  policyOf(expression).evaluate(facts(changes)).compliant

export const thrownBy = (action: () => unknown): unknown => {
  try {
    action()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

/** The mistakes that refuse a policy. */
export const issuesOf = (action: () => unknown): readonly PolicyIssue[] => {
  const error = thrownBy(action)
  if (error instanceof PolicyInvalidError) return error.issues
  throw error
}

/** The first mistake of an expression, for tables. */
export const refusalOf = (expression: string): string => issuesOf(() => policyOf(expression))[0]?.message ?? ''

export const verdictOf = (source: string, changes: FactChanges = {}): Verdict =>
  compilePolicy(source).evaluate(facts(changes))
