// A verdict is data (invariant 1): what a policy decided, and by which rule. Source: decisions §4.

export interface CompliantVerdict {
  readonly compliant: true
  /** Id of the deciding rule; null when the document's default decided. */
  readonly ruleId: string | null
}

export interface DeniedVerdict {
  readonly compliant: false
  readonly ruleId: string | null
  /** The deciding rule's own words, where it has them. Nothing else is ever revealed to the caller. */
  readonly code?: string
  readonly message?: string
  /** Of a policy that decides sessions: a person is to decide. */
  readonly review?: true
}

export type Verdict = CompliantVerdict | DeniedVerdict
