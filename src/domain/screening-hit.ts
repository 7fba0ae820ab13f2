// A hit: what a check found on a list or was told by a screener, for a person to clear or confirm.

export const HIT_STATES = ['open', 'cleared', 'confirmed'] as const
export type HitState = (typeof HIT_STATES)[number]

export interface FoundHit {
  /** Name of the list. */
  readonly list: string
  readonly entry: string
  /** Of the list when it was found. */
  readonly versionId: string
  readonly name: string
  /** Whose name it is like: `person`, `business` or `owner 1`. */
  readonly subject: string
  readonly score: number
  readonly why: readonly { readonly part: string; readonly points: number; readonly detail: string }[]
}
