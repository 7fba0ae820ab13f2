// Services of modules that extend the core's commands on the decision log and the audit log.
import type { CheckedLogs, TreeReport } from '../decision-log/tree-report.ts'
import { serviceKey } from '../lib/service-key.ts'
import type { ShipTarget } from '../object-store/ship-target.ts'
import type { AuditTable } from '../store/audit.ts'
import type { Store } from '../store/store.ts'
import type { CommandDeployment } from './command-deployment.ts'
import type { CommandOutput } from './output.ts'

/** Compares a log with its signed tree. @throws CommandFailedError if there is no tree */
export type TreeCheck = (logs: CheckedLogs) => Promise<TreeReport>

export interface LogTree {
  /**
   * @param checkpoints files with heads kept by a third party. @param archivedBefore ISO time; older lines may be
   * archived
   */
  checkOf(deployment: CommandDeployment, checkpoints: readonly string[], archivedBefore: string | null): TreeCheck
  /** Returns descriptions of the differences between the audit log and its signed heads. */
  auditHeadProblems(deployment: CommandDeployment, store: Store): Promise<readonly string[]>
}

export const LOG_TREE = serviceKey<LogTree>('the tree over the decision log')

export interface VerifyCopies extends CommandOutput {
  readonly target: ShipTarget
  readonly json: boolean
  readonly monotonicMs: () => number
  /** Null to check only the hash chains. */
  readonly checkTree: TreeCheck | null
}

export interface AuditCopyReport {
  readonly ok: boolean
  /** Number of valid entries from the beginning of the copy. */
  readonly entries: number
  /** First missing or inconsistent entry of the copy. */
  readonly brokenAt: number | null
  /** Description of the difference between store and copy; null if there is none. */
  readonly difference: string | null
  /**
   * Number of entries in the store that the copy lacks: the entries of the last seconds, or more if it was truncated.
   */
  readonly behind: number
}

/** Copies of the logs in a folder or bucket. */
export interface LogCopies {
  /** Verifies the copies of all nodes' decision logs and prints the report. @returns the exit code */
  verifyDecisions(command: VerifyCopies): Promise<number>
  /** Verifies a copy of the audit log. Returns problems instead of throwing them. */
  verifyAudit(
    copy: { readonly target: ShipTarget; readonly deploymentId: string; readonly audit: Pick<AuditTable, 'listAfter'> },
    storeEntries: number,
  ): Promise<AuditCopyReport>
}

export const LOG_COPIES = serviceKey<LogCopies>('copies of the logs')
