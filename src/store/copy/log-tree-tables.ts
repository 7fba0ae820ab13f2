// Copies of the decision log tree's tables, for backups and migrations. Provided by a module.
import { serviceKey } from '../../lib/service-key.ts'
import type { Database, Transaction } from '../database.ts'
import type { StoreTarget } from '../store-address.ts'

export interface LogTreeTables {
  /** Copies the tree, if any, within the target's transaction. @throws StoreUnusableError */
  copy(source: StoreTarget, target: Pick<Database, 'schemaWords' | 'dialect'>, transaction: Transaction): Promise<void>
  /** Copies the tree to a new SQLite file. @returns false if there is no tree */
  copyToFile(source: StoreTarget, path: string): Promise<boolean>
  /** Deletes the head of the audit log, which may be older or newer than a restored tree. */
  forgetAuditHead(target: StoreTarget): Promise<void>
}

export const LOG_TREE_TABLES = serviceKey<LogTreeTables>('tables of the tree over the decision log')
