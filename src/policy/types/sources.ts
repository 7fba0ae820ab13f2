// The sources that are asked at most once per request, by kind of need: where the answer stands among the facts of a
// request, and its type.
import type { BaseFeeFacts, GeographyFacts, IdentityFacts } from './facts.ts'

export interface SourceTypes {
  readonly geography: { readonly part: 'geography'; readonly answer: GeographyFacts }
  readonly identity: { readonly part: 'identity'; readonly answer: IdentityFacts }
  /** The identity of the represented user, or of the wallet when it represents nobody. */
  readonly 'on-behalf-identity': { readonly part: 'onBehalfIdentity'; readonly answer: IdentityFacts }
  readonly 'base-fee': { readonly part: 'baseFee'; readonly answer: BaseFeeFacts }
}

export type SourceKind = keyof SourceTypes
export type PartOf<Kind extends SourceKind> = SourceTypes[Kind]['part']
export type AnswerOf<Kind extends SourceKind> = SourceTypes[Kind]['answer']

/** Null: the part was needed but can't be had. Left out: no policy needed it. */
export type SourceAnswers = {
  readonly [Kind in SourceKind as PartOf<Kind>]?: AnswerOf<Kind> | null
}
