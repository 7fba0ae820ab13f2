// Compiles policies that decide alike only once per thread. Most policies of a deployment start from the same template,
// and ten thousand separate programs would be evaluated at the speed of main memory. A program is kept as long as
// somebody holds it. Sharing is safe, because evaluating is synchronous and binds the request anew each time.
import { createHash } from 'node:crypto'
import type { PolicyDocument } from './types/document.ts'
import type { PolicyProgram } from './types/program.ts'

const shared = new Map<string, WeakRef<PolicyProgram>>()
const forgotten = new FinalizationRegistry<string>((key) => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key)
})

/**
 * Equal for documents that decide alike and word their denials alike: everything but names, descriptions and tests
 * counts.
 */
export const programKey = (document: PolicyDocument): string => {
  const { decides, constants, abi, idl, reads, rules } = document
  return createHash('sha256')
    .update(JSON.stringify([decides, constants, abi, idl, reads, rules, document.default]))
    .digest('base64')
}

export const findProgram = (key: string): PolicyProgram | undefined => shared.get(key)?.deref()

/** Registers a program: while somebody holds it, compiling an equal document returns this program. */
export const shareProgram = (key: string, program: PolicyProgram): void => {
  shared.set(key, new WeakRef(program))
  forgotten.register(program, key)
}
