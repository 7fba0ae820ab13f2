import type { AskToken } from '../signing/token-service.ts'
import type { TokenAttester } from '../store/sqlite/sqlite-snapshot.ts'

/** A line of the report of `countersign doctor`; the detail states the remedy. */
export interface Finding {
  readonly check: string
  readonly subject: string
  /** `problem`: a part fails, or will soon. `note`: information only. */
  readonly result: 'ok' | 'note' | 'problem'
  readonly detail: string
}

/** Requests a signature from each key. @param ask null if no module connects to a token */
export const inspectTokenKeys = async (
  attesters: readonly TokenAttester[],
  ask: AskToken | null,
): Promise<Finding[]> => {
  const findings = (await ask?.(attesters)) ?? []
  return attesters.map(({ address, key }, index): Finding => {
    const finding = findings[index]
    const found = { check: 'token', subject: address } as const
    if (finding?.ok !== true) {
      const why =
        ask === null ? 'this deployment runs without hardware keys' : (finding?.detail ?? 'the token does not respond')
      return { ...found, result: 'problem', detail: `${key} can’t sign: ${why}; see pkcs11-module` }
    }
    if (!finding.isExtractable) return { ...found, result: 'ok', detail: `${key} signs and can’t be extracted` }
    const detail = `${key} signs but can be extracted (CKA_EXTRACTABLE): add a key that can’t be extracted, and retire this one`
    return { ...found, result: 'note', detail }
  })
}
