// Compiles equivalent policies once per thread, because 10,000 programs would not fit in the processor's caches.
// Sharing is safe: evaluation is synchronous and binds each request.
import { createHash } from 'node:crypto'
import type { PolicyDocument } from './types/document.ts'
import type { PolicyProgram } from './types/program.ts'

const shared = new Map<string, WeakRef<PolicyProgram>>()
const forgotten = new FinalizationRegistry<string>((key) => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key)
})

/**
 * Returns a key that is equal for documents with the same decisions and denial texts; ignores names, descriptions and
 * tests.
 */
export const programKey = (document: PolicyDocument): string => {
  const { decides, constants, abi, idl, reads, rules } = document
  return createHash('sha256')
    .update(JSON.stringify([decides, constants, abi, idl, reads, rules, document.default]))
    .digest('base64')
}

export const findProgram = (key: string): PolicyProgram | undefined => shared.get(key)?.deref()

/** Compiling an equal document returns the program while it is referenced. */
export const shareProgram = (key: string, program: PolicyProgram): void => {
  shared.set(key, new WeakRef(program))
  forgotten.register(program, key)
}

/** Returns the cache weight of a text, with an allowance for surrounding objects. */
export const weightOf = (characters: number): number => characters + 1_024
