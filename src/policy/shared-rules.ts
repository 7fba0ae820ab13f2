// Rules that are the same in many policies, compiled once a thread: a deployment's policies mostly begin as one template,
// and ten thousand syntax trees are evaluated at the speed of main memory. Kept as long as a policy in use has them.
// Sharing is safe since evaluating is synchronous and binds the request anew each time.
import { createHash } from 'node:crypto'
import type { Evaluation } from './evaluation.ts'
import type { CompiledExpression } from './expression.ts'
import type { CompiledPolicy, PolicyDocument } from './types.ts'

/** What the rules' expressions of a policy compile to, in their order. */
export interface SharedRules {
  /** What the expressions read. */
  readonly evaluation: Evaluation
  readonly expressions: readonly CompiledExpression['evaluate'][]
  readonly requires: CompiledPolicy['requires']
  readonly needs: CompiledPolicy['needs']
}

const shared = new Map<string, WeakRef<SharedRules>>()
const forgotten = new FinalizationRegistry<string>((key) => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key)
})
const inUse = new WeakMap<CompiledPolicy, SharedRules>()

/** Equal for documents whose expressions mean the same: of the same text, over the same names. */
export const rulesKey = ({ constants, abi, idl, reads, rules }: PolicyDocument): string =>
  createHash('sha256')
    .update(JSON.stringify([constants, abi, idl, reads, rules.map(({ expression }) => expression)]))
    .digest('base64')

export const findSharedRules = (key: string): SharedRules | undefined => shared.get(key)?.deref()

/** Whoever compiles the same while the policy is in use is given the same rules. */
export const shareRules = (key: string, rules: SharedRules, policy: CompiledPolicy): void => {
  inUse.set(policy, rules)
  if (shared.get(key)?.deref() === rules) return
  shared.set(key, new WeakRef(rules))
  forgotten.register(rules, key)
}
