// Copies the tables of the decision log's tree for backups and migrations. Provided by a module.
import { serviceKey } from '../../lib/service-key.ts'
import type { Database, Transaction } from '../database.ts'
import type { StoreTarget } from '../store-address.ts'

export interface LogTreeTables {
  /** Copies the tree, if any, in the target's transaction. @throws StoreUnusableError */
  copy(source: StoreTarget, target: Pick<Database, 'schemaWords' | 'dialect'>, transaction: Transaction): Promise<void>
  copyToFile(source: StoreTarget, path: string): Promise<boolean>
  /** Deletes the stored head of the audit log, which may not match a restored tree. */
  forgetAuditHead(target: StoreTarget): Promise<void>
}

export const LOG_TREE_TABLES = serviceKey<LogTreeTables>('tables of the tree over the decision log')
