// The sources that are asked at most once a request, by the kind of a policy's need for them: where the answer stands among
// the facts of a request, and what it is.
import type { BaseFeeFacts, GeographyFacts, IdentityFacts } from './facts.ts'

export interface SourceTypes {
  readonly geography: { readonly part: 'geography'; readonly answer: GeographyFacts }
  readonly identity: { readonly part: 'identity'; readonly answer: IdentityFacts }
  /** Of the represented user, or of the wallet when it represents nobody. */
  readonly 'on-behalf-identity': { readonly part: 'onBehalfIdentity'; readonly answer: IdentityFacts }
  readonly 'base-fee': { readonly part: 'baseFee'; readonly answer: BaseFeeFacts }
}

export type SourceKind = keyof SourceTypes
export type PartOf<Kind extends SourceKind> = SourceTypes[Kind]['part']
export type AnswerOf<Kind extends SourceKind> = SourceTypes[Kind]['answer']

/** Null: it was asked for and can't be had; left out: nobody asked. */
export type SourceAnswers = {
  readonly [Kind in SourceKind as PartOf<Kind>]?: AnswerOf<Kind> | null
}
