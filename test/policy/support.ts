// Fixtures of the policy tests: the facts of an ordinary request, and policies with one rule.
import type { Verdict } from '../../src/domain/verdict.ts'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { PolicyInvalidError, type PolicyIssue } from '../../src/policy/issues.ts'
import type { PolicyDocument } from '../../src/policy/types/document.ts'
import type { EvaluationFacts } from '../../src/policy/types/facts.ts'
import type { CompiledPolicy } from '../../src/policy/types/program.ts'
import { chainOf, type RequestChanges, requestOf } from '../support/request.ts'

export const EVM_WALLET = '0xabababababababababababababababababababab'
export const EVM_ZERO = '0x0000000000000000000000000000000000000000'

/** The optional parts of a document, empty. */
export const NO_PARTS: Pick<PolicyDocument, 'decides' | 'constants' | 'abi' | 'idl' | 'reads' | 'tests'> = {
  decides: 'requests',
  constants: [],
  abi: [],
  idl: null,
  reads: [],
  tests: [],
}

/** Changes to the ordinary request, and additional facts. */
export type FactChanges = RequestChanges & Omit<EvaluationFacts, 'request'>

export const SOLANA = { chain: chainOf('solana') } as const

/** 2026-01-01T00:00:00Z, a Thursday. */
const NOW_SECONDS = 1_767_225_600

export const facts = ({ external, lists, session, ...changes }: FactChanges = {}) => {
  const request = requestOf({ from: EVM_WALLET, to: EVM_ZERO, nowSeconds: NOW_SECONDS, ...changes })
  return { request, external, lists, session }
}

/** A policy that allows requests for which an expression is true. */
export const policyOf = (expression: string): CompiledPolicy => {
  const rules = [{ id: 'only', kind: 'allow', expression, code: null, message: null }] as const
  return compilePolicy({ name: 'Test', description: '', default: 'deny', quorum: 1, ...NO_PARTS, rules })
}

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

/** The mistakes of a refused policy. */
export const issuesOf = (action: () => unknown): readonly PolicyIssue[] => {
  const error = thrownBy(action)
  if (error instanceof PolicyInvalidError) return error.issues
  throw error
}

/** The first mistake of an expression. */
export const refusalOf = (expression: string): string => issuesOf(() => policyOf(expression))[0]?.message ?? ''

export const verdictOf = (source: string, changes: FactChanges = {}): Verdict =>
  compilePolicy(source).evaluate(facts(changes))
