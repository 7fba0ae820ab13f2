// Messages between the service and the two processes of the decision index.
import type { ProvenLine } from '../../src/decision-log/located.ts'
import type { TallyQuestion, TallyRow } from '../../src/store/decision-index/tallies.ts'
import type { DecisionCount, DecisionFilter, DecisionPosition } from '../../src/store/decision-index/types.ts'
import type { ExportFormat } from './decision-export.ts'
import type { FoundDecisions } from './decision-finder.ts'
import type { IndexStatus } from './decision-index.ts'

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
  /** The next rows of an export. The first part starts with the header. */
  | {
      readonly operation: 'export'
      readonly filter: DecisionFilter
      readonly after: DecisionPosition | null
      readonly limit: number
      readonly format: ExportFormat
    }

export type BuildRequest = { readonly operation: 'status' } | { readonly operation: 'rebuild' }

export type IndexRequest = FindRequest | BuildRequest

export interface IndexResults {
  readonly search: FoundDecisions
  readonly find: (ProvenLine & { readonly withheld: boolean }) | null
  readonly count: DecisionCount
  readonly tally: readonly TallyRow[]
  readonly export: { readonly text: string; readonly next: DecisionPosition | null }
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
  /** Contains only the error's class, because the error's message may contain sensitive data. */
  | { readonly id: number; readonly ok: false; readonly errorClass: string }
  /** Notification without a request: the state of the index has changed. */
  | { readonly id: 0; readonly ok: true; readonly status: IndexStatus }
  /** Notification without a request: building failed and will be retried. */
  | { readonly id: 0; readonly ok: false; readonly errorClass: string }
