// Copies the tree to another database. The logs can't restore it, because only the tree has the order of its leaves.
import { rm } from 'node:fs/promises'
import type { LogTreeTables } from '../../../store/copy/log-tree-tables.ts'
import { type CatalogTable, LOG_TREE_PREFIX } from '../../../store/copy/table-catalog.ts'
import { COPY_LIMIT_MS, copyTable, readSnapshot } from '../../../store/copy/table-copy.ts'
import type { Database, Statements, Transaction } from '../../../store/database.ts'
import { StoreUnusableError } from '../../../store/errors.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { openTreeDatabase } from './open.ts'
import { AUDIT_HEAD } from './reader.ts'
import { createDecisionTree, hasDecisionTree } from './tables.ts'

const table = (name: string, columns: string, ...key: readonly string[]): CatalogTable => ({
  name: LOG_TREE_PREFIX + name,
  columns: columns.split(' ').sort(),
  key,
})

const TABLES: readonly CatalogTable[] = [
  table('head', 'id size root signed_size checkpoint', 'id'),
  table('tiles', 'level number hashes', 'level', 'number'),
  table('segments', 'id node slot segment taken_bytes', 'id'),
  table('spans', 'segment_id start_byte end_byte first_leaf leaves', 'segment_id', 'start_byte'),
  table('pending', 'segment_id start_byte end_byte hashes', 'segment_id', 'start_byte'),
]
/** Copied last, after deleting the rows inserted with the target's tables. */
const META = table('meta', 'name value', 'name')

const open = (target: StoreTarget): Promise<Database> => openTreeDatabase(target, COPY_LIMIT_MS)

/**
 * Copies the tree in the target's transaction. @throws StoreUnusableError if the target has a tree, or the copied rows
 * differ
 */
const copyDecisionTree = async (
  source: StoreTarget,
  target: Pick<Database, 'schemaWords' | 'dialect'>,
  transaction: Transaction,
): Promise<void> => {
  const from = await open(source)
  try {
    if (!(await hasDecisionTree(from, from))) return
    if (await hasDecisionTree(target, transaction)) {
      throw new StoreUnusableError('the target is not empty: it contains the tree of a decision log')
    }
    await createDecisionTree(target, transaction)
    await transaction.execute('DELETE FROM decision_tree_meta')
    await readSnapshot(from, async (statements: Statements) => {
      for (const each of [...TABLES, META]) await copyTable(statements, transaction, each)
    })
  } finally {
    await from.close()
  }
}

const fill = async (source: StoreTarget, path: string): Promise<boolean> => {
  const target = await open({ kind: 'sqlite', path })
  try {
    await target.transaction((transaction) => copyDecisionTree(source, target, transaction))
    return await hasDecisionTree(target, target)
  } finally {
    await target.close()
  }
}

const copyDecisionTreeToFile = async (source: StoreTarget, path: string): Promise<boolean> => {
  let isFilled = false
  try {
    isFilled = await fill(source, path)
    return isFilled
  } finally {
    if (!isFilled) for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true })
  }
}

/** Call for a tree from a backup, because its audit log may be from another time. */
const forgetAuditHead = async (target: StoreTarget): Promise<void> => {
  const database = await open(target)
  try {
    if (!(await hasDecisionTree(database, database))) return
    await database.transaction(async (transaction) => {
      await transaction.execute('DELETE FROM decision_tree_meta WHERE name = ?', [AUDIT_HEAD])
    })
  } finally {
    await database.close()
  }
}

export const TREE_TABLES: LogTreeTables = {
  copy: copyDecisionTree,
  copyToFile: copyDecisionTreeToFile,
  forgetAuditHead,
}
