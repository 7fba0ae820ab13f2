// A verdict is data (invariant 1). Source: decisions §4.

export interface CompliantVerdict {
  readonly compliant: true
  /** Deciding rule; null if the document's default decided. */
  readonly ruleId: string | null
}

export interface DeniedVerdict {
  readonly compliant: false
  readonly ruleId: string | null
  /** Text of the deciding rule, if any; nothing else is revealed to the caller. */
  readonly code?: string
  readonly message?: string
  /** A person must decide; only for session policies. */
  readonly review?: true
}

export type Verdict = CompliantVerdict | DeniedVerdict

/** `different`: another verdict or deciding rule. `failed`: the shadow has no verdict. */
export const SHADOW_OUTCOMES = ['same', 'different', 'failed'] as const
export type ShadowOutcome = (typeof SHADOW_OUTCOMES)[number]

interface RecordedVerdict {
  readonly compliant: unknown
  readonly rule: unknown
}

export const shadowOutcome = (verdict: RecordedVerdict, shadow: RecordedVerdict): ShadowOutcome => {
  if (shadow.compliant === null) return 'failed'
  return shadow.compliant === verdict.compliant && shadow.rule === verdict.rule ? 'same' : 'different'
}
