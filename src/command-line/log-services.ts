// Services with which modules extend commands on the decision log and the audit log.
import type { CheckedLogs, TreeReport } from '../decision-log/tree-report.ts'
import { serviceKey } from '../lib/service-key.ts'
import type { ShipTarget } from '../object-store/ship-target.ts'
import type { AuditTable } from '../store/audit.ts'
import type { Store } from '../store/store.ts'
import type { CommandDeployment } from './command-deployment.ts'
import type { CommandOutput } from './output.ts'

/** Compares a log with its signed tree. @throws CommandFailedError without a tree */
export type TreeCheck = (logs: CheckedLogs) => Promise<TreeReport>

export interface LogTree {
  /** @param checkpoints heads kept by third parties. @param archivedBefore ISO time; older lines may be archived */
  checkOf(deployment: CommandDeployment, checkpoints: readonly string[], archivedBefore: string | null): TreeCheck
  /** Returns the differences between the audit log and its signed heads. */
  auditHeadProblems(deployment: CommandDeployment, store: Store): Promise<readonly string[]>
}

export const LOG_TREE = serviceKey<LogTree>('the tree over the decision log')

export interface VerifyCopies extends CommandOutput {
  readonly target: ShipTarget
  readonly json: boolean
  readonly monotonicMs: () => number
  /** Null to check only hash chains. */
  readonly checkTree: TreeCheck | null
}

export interface AuditCopyReport {
  readonly ok: boolean
  /** Valid entries from the beginning of the copy. */
  readonly entries: number
  /** First missing or inconsistent entry of the copy. */
  readonly brokenAt: number | null
  /** Difference between store and copy; null if there is none. */
  readonly difference: string | null
  /** Entries of the store that the copy lacks: the last seconds, or more if the copy was truncated. */
  readonly behind: number
}

export interface LogCopies {
  /** Verifies the copies of all nodes' logs and prints a report. Returns the exit code. */
  verifyDecisions(command: VerifyCopies): Promise<number>
  /** Returns problems instead of throwing them. */
  verifyAudit(
    copy: { readonly target: ShipTarget; readonly deploymentId: string; readonly audit: Pick<AuditTable, 'listAfter'> },
    storeEntries: number,
  ): Promise<AuditCopyReport>
}

export const LOG_COPIES = serviceKey<LogCopies>('copies of the logs')
