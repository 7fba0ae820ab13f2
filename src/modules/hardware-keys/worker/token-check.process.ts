// Checks keys in the token. Runs in a separate process, because the vendor's code may hang or crash.
import { createHash } from 'node:crypto'
import { errorClassOf } from '../../../lib/named-error.ts'
import { SigningError } from '../../../signing/errors.ts'
import { loadNobleSecp256k1 } from '../../../signing/secp256k1-noble.ts'
import type { TokenFinding, TokenKeyReference } from '../../../signing/token-service.ts'
import type { TokenSettings } from '../../../signing/types.ts'
import { createToken } from '../token.ts'

export interface TokenQuestion {
  readonly settings: TokenSettings
  readonly keys: readonly TokenKeyReference[]
}

/** Signed to test a key. It isn't the hash of any statement, task or transaction. */
const PROBE = createHash('sha256').update('countersign: whether the key signs').digest()

process.once('message', (question: TokenQuestion) => {
  const { recover } = loadNobleSecp256k1()
  const token = createToken(question.settings, { monotonicMs: () => performance.now(), recover })
  const findings = question.keys.map((reference): TokenFinding => {
    try {
      const { address, isExtractable } = token.look(reference)
      token.sign(reference, PROBE)
      return { ok: true, address, isExtractable }
    } catch (error) {
      if (error instanceof SigningError) return { ok: false, name: error.name, detail: error.detail }
      const detail = `it failed (${errorClassOf(error)})`
      return { ok: false, name: 'TokenUnavailableError', detail }
    }
  })
  process.send?.(findings)
})
// The parent has the result, or has exited.
process.once('disconnect', () => process.exit(0))
