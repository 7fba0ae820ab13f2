// What the policy tests share: the facts of an ordinary request, and policies of one rule.
import type { Verdict } from '../../src/domain/verdict.ts'
import { compilePolicy } from '../../src/policy/compile.ts'
import { PolicyInvalidError, type PolicyIssue } from '../../src/policy/errors.ts'
import type { PolicyDocument } from '../../src/policy/types/document.ts'
import type { EvaluationFacts } from '../../src/policy/types/facts.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'

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

export const facts = (changes: Partial<EvaluationFacts> = {}): EvaluationFacts => ({
  chainName: 'ethereum',
  chainFamily: 'evm',
  chainId: 1,
  from: EVM_WALLET,
  onBehalf: '',
  to: EVM_ZERO,
  value: '0',
  data: '0x',
  userIp: '',
  nowSeconds: 1_767_225_600, // 2026-01-01T00:00:00Z, a Thursday
  ...changes,
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
export const holds = (expression: string, changes: Partial<EvaluationFacts> = {}): boolean =>
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

export const verdictOf = (source: string, changes: Partial<EvaluationFacts> = {}): Verdict =>
  compilePolicy(source).evaluate(facts(changes))
