// Services of modules that extend the core's commands over the decision log and the audit log.
import type { CheckedLogs, TreeReport } from '../decision-log/tree-report.ts'
import { serviceKey } from '../lib/service-key.ts'
import type { ShipTarget } from '../object-store/ship-target.ts'
import type { AuditTable } from '../store/audit.ts'
import type { Store } from '../store/store.ts'
import type { CommandDeployment } from './command-deployment.ts'
import type { CommandOutput } from './output.ts'

/** Compares a log with the signed tree over it. @throws CommandFailedError if there is no tree */
export type TreeCheck = (logs: CheckedLogs) => Promise<TreeReport>

/** The signed tree over the decision log. */
export interface LogTree {
  /** @param checkpoints files with heads that a third party kept. @param archivedBefore an ISO time: older lines may be archived */
  checkOf(deployment: CommandDeployment, checkpoints: readonly string[], archivedBefore: string | null): TreeCheck
  /** Differences, in words, between the audit log and its signed heads. */
  auditHeadProblems(deployment: CommandDeployment, store: Store): Promise<readonly string[]>
}

export const LOG_TREE = serviceKey<LogTree>('the tree over the decision log')

export interface VerifyCopies extends CommandOutput {
  readonly target: ShipTarget
  readonly json: boolean
  readonly monotonicMs: () => number
  /** Null: checks the hash chains only. */
  readonly checkTree: TreeCheck | null
}

export interface AuditCopyReport {
  readonly ok: boolean
  /** Number of entries from the copy's beginning that are valid. */
  readonly entries: number
  /** The first entry of the copy that is missing or does not fit. */
  readonly brokenAt: number | null
  /** How the store and the copy differ, in words; null when they agree. */
  readonly difference: string | null
  /** Entries of the store that are missing from the copy: those of the last seconds, or more if the copy was cut. */
  readonly behind: number
}

/** Copies of the logs in a folder or bucket. */
export interface LogCopies {
  /** Verifies the copies of the decision logs of all nodes, and prints the report. @returns the exit code */
  verifyDecisions(command: VerifyCopies): Promise<number>
  /** Problems are returned, not thrown. */
  verifyAudit(
    copy: { readonly target: ShipTarget; readonly deploymentId: string; readonly audit: Pick<AuditTable, 'listAfter'> },
    storeEntries: number,
  ): Promise<AuditCopyReport>
}

export const LOG_COPIES = serviceKey<LogCopies>('copies of the logs')
