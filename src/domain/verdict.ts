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
