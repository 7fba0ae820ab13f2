// The table of the claim log: one row per commit, with claims that are numbered consecutively across all processes.

import type { TableScope } from '../copy/table-scope.ts'
import { sweepRows } from '../sweep.ts'

export interface ClaimGroup {
  readonly firstNumber: number
  readonly claims: Uint8Array
}

interface GroupRow {
  readonly first_number: number
  readonly claims: Uint8Array
}

const groupOf = ({ first_number: firstNumber, claims }: GroupRow): ClaimGroup => ({ firstNumber, claims })
const SINCE = 'SELECT first_number, claims FROM claim_groups WHERE first_number >= ? ORDER BY first_number LIMIT ?'
const AT = 'SELECT first_number, claims FROM claim_groups WHERE first_number <= ? ORDER BY first_number DESC LIMIT 1'
const APPEND = 'INSERT INTO claim_groups (first_number, keep_until_seconds, claims) VALUES (?, ?, ?)'
const DURABILITY = { survives: 'process-crash' } as const

export const createClaimGroupTable = (scope: TableScope) => ({
  /**
   * Changes when another connection of any process has committed. Only for transactions over SQLite. Source:
   * https://sqlite.org/pragma.html#pragma_data_version
   */
  readCommits: async (): Promise<number | null> =>
    (await scope.statements.query<{ data_version: number }>('PRAGMA data_version'))[0]?.data_version ?? null,

  listSince: async (number: number, limit: number): Promise<readonly ClaimGroup[]> =>
    (await scope.statements.query<GroupRow>(SINCE, [number, limit])).map(groupOf),

  /** Returns the group with this claim, unless it was deleted. */
  read: async (number: number): Promise<ClaimGroup | null> => {
    const [row] = await scope.statements.query<GroupRow>(AT, [number])
    return row === undefined ? null : groupOf(row)
  },

  append: async ({ firstNumber, claims }: ClaimGroup, keepUntilSeconds: number): Promise<void> => {
    await scope.execute(APPEND, [firstNumber, keepUntilSeconds, claims], DURABILITY)
  },

  sweep: (): Promise<number> =>
    scope.write((transaction) => {
      // Keeps the newest group: otherwise, numbers would restart while other processes remember earlier numbers.
      const condition = 'keep_until_seconds <= ? AND first_number < (SELECT MAX(first_number) FROM claim_groups)'
      return sweepRows(transaction, 'claim_groups', 'first_number', condition, scope.nowSeconds())
    }, DURABILITY),
})

export type ClaimGroupTable = ReturnType<typeof createClaimGroupTable>
