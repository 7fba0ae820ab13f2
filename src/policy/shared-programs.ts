// Policies that decide alike, compiled once a thread: a deployment's policies mostly begin as one template, and ten
// thousand programs are evaluated at the speed of main memory. Kept as long as somebody holds the program. Sharing is safe
// since evaluating is synchronous and binds the request anew each time.
import { createHash } from 'node:crypto'
import type { PolicyDocument } from './types/document.ts'
import type { PolicyProgram } from './types/program.ts'

const shared = new Map<string, WeakRef<PolicyProgram>>()
const forgotten = new FinalizationRegistry<string>((key) => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key)
})

/** Equal for documents that decide alike, in the same words: all but their names, descriptions and tests. */
export const programKey = (document: PolicyDocument): string => {
  const { constants, abi, idl, reads, rules } = document
  return createHash('sha256')
    .update(JSON.stringify([constants, abi, idl, reads, rules, document.default]))
    .digest('base64')
}

export const findProgram = (key: string): PolicyProgram | undefined => shared.get(key)?.deref()

/** Whoever compiles the same while this program is held is given it. */
export const shareProgram = (key: string, program: PolicyProgram): void => {
  shared.set(key, new WeakRef(program))
  forgotten.register(program, key)
}
