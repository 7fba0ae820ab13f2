// What the service and the processes of the decision index say to each other, over the channels between parent and children:
// one builds the index, the other finds by it.
import type { ProvenLine } from '../../src/decisions/located.ts'
import type { TallyQuestion, TallyRow } from '../../src/store/decision-index/tallies.ts'
import type { DecisionCount, DecisionFilter, DecisionPosition } from '../../src/store/decision-index/types.ts'
import type { ExportFormat } from './decision-export.ts'
import type { FoundDecisions } from './decision-finder.ts'
import type { IndexStatus } from './decision-index.ts'

/** Of the one that finds. */
export type FindRequest =
  | {
      readonly operation: 'search'
      readonly filter: DecisionFilter
      readonly after: DecisionPosition | null
      readonly limit: number
    }
  | { readonly operation: 'find'; readonly organizationId: string; readonly uuid: string }
  | { readonly operation: 'count'; readonly filter: DecisionFilter }
  | { readonly operation: 'tally'; readonly question: TallyQuestion }
  /** The next rows of a file; the first ones come with the header. */
  | {
      readonly operation: 'export'
      readonly filter: DecisionFilter
      readonly after: DecisionPosition | null
      readonly limit: number
      readonly format: ExportFormat
    }

/** Of the one that builds. */
export type BuildRequest = { readonly operation: 'status' } | { readonly operation: 'rebuild' }

export type IndexRequest = FindRequest | BuildRequest

export interface ExportPart {
  readonly text: string
  readonly rows: number
  /** Null: that was all. */
  readonly next: DecisionPosition | null
}

export interface IndexResults {
  readonly search: FoundDecisions
  readonly find: (ProvenLine & { readonly withheld: boolean }) | null
  readonly count: DecisionCount
  readonly tally: readonly TallyRow[]
  readonly export: ExportPart
  readonly status: IndexStatus
  readonly rebuild: null
}

export type FindOperation = FindRequest['operation']
export type BuildOperation = BuildRequest['operation']
export type IndexOperation = FindOperation | BuildOperation

export interface IndexQuestion {
  readonly id: number
  readonly request: IndexRequest
}

export type IndexReply =
  | { readonly id: number; readonly ok: true; readonly result: IndexResults[IndexOperation] }
  /** Of what went wrong only the class: its text may hold anything. */
  | { readonly id: number; readonly ok: false; readonly errorClass: string }
  /** Not an answer: how the index stands, whenever that changed. */
  | { readonly id: 0; readonly ok: true; readonly status: IndexStatus }
  /** Nor this: something failed between two questions, and is tried again. */
  | { readonly id: 0; readonly ok: false; readonly errorClass: string }
