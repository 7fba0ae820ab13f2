// From a text to an immutable revision and back to a policy that evaluates. The content hash names the text, byte for
// byte, in decisions and audits, so a stored revision is held against it before it decides anything.
import { createHash } from 'node:crypto'
import type { PolicyRevision } from '../domain/target.ts'
import { compilePolicy } from './compile.ts'
import { PolicyUnusableError } from './errors.ts'
import type { CompiledPolicy } from './types.ts'

/** SHA-256 of the text's UTF-8 bytes, lower-case hex. */
export const contentHashOf = (source: string): string => createHash('sha256').update(source, 'utf8').digest('hex')

/** A text that may be saved as a revision: the store adds the ids and the number. */
export interface RevisionDraft {
  readonly source: string
  readonly contentHash: string
  readonly compiled: CompiledPolicy
}

/**
 * Checks a text as a save does.
 * @throws PolicyInvalidError with every mistake.
 */
export const draftRevision = (source: string): RevisionDraft => ({
  source,
  contentHash: contentHashOf(source),
  compiled: compilePolicy(source),
})

/**
 * Compiles a stored revision.
 * @throws PolicyUnusableError when its text is not the one that was saved, or does not compile.
 */
export const compileRevision = ({ id, source, contentHash }: PolicyRevision): CompiledPolicy => {
  if (contentHashOf(source) !== contentHash) {
    throw new PolicyUnusableError(new Error(`revision ${id} does not match its content hash`))
  }
  try {
    return compilePolicy(source)
  } catch (error) {
    throw new PolicyUnusableError(error)
  }
}
