// A verdict is data (invariant 1): a policy's decision and the deciding rule. Source: decisions §4.

export interface CompliantVerdict {
  readonly compliant: true
  /** Id of the deciding rule. Null if the document's default decided. */
  readonly ruleId: string | null
}

export interface DeniedVerdict {
  readonly compliant: false
  readonly ruleId: string | null
  /** Text of the deciding rule, if it has one. Nothing else is ever revealed to the caller. */
  readonly code?: string
  readonly message?: string
  /** For a policy that decides sessions: a person must decide. */
  readonly review?: true
}

export type Verdict = CompliantVerdict | DeniedVerdict

/** `different`: the verdict or the deciding rule of the shadow revision differs. `failed`: the shadow has no verdict. */
export const SHADOW_OUTCOMES = ['same', 'different', 'failed'] as const
export type ShadowOutcome = (typeof SHADOW_OUTCOMES)[number]

interface RecordedVerdict {
  readonly compliant: unknown
  readonly rule: unknown
}

/** Compares the shadow's verdict with the verdict of the active revision, as a decision record contains both. */
export const shadowOutcome = (verdict: RecordedVerdict, shadow: RecordedVerdict): ShadowOutcome => {
  if (shadow.compliant === null) return 'failed'
  return shadow.compliant === verdict.compliant && shadow.rule === verdict.rule ? 'same' : 'different'
}
