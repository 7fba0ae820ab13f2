// Table of the claim log: one row per commit. Claims are numbered consecutively across all processes.

import { bytes, hidden, integer, sql } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import { createDeploymentTable } from '../deployment.ts'
import { defineTable } from '../table.ts'

export interface ClaimGroup {
  readonly firstNumber: number
  readonly claims: Uint8Array
}

const GROUPS = defineTable('claim_groups', { firstNumber: integer, claims: bytes, keepUntilSeconds: hidden(integer) })

export const createClaimGroupTable = (scope: TableScope) => ({
  /** Changes when another connection commits. SQLite only: https://sqlite.org/pragma.html#pragma_data_version */
  readCommits: async (): Promise<number | null> =>
    (await scope.statements.query<{ data_version: number }>('PRAGMA data_version'))[0]?.data_version ?? null,

  listSince: (number: number, limit: number): Promise<readonly ClaimGroup[]> =>
    GROUPS.list(scope.statements, { firstNumber: sql`>= ${number}` }, { by: ['firstNumber'], limit }),

  read: async (number: number): Promise<ClaimGroup | null> => {
    const newest = { by: ['firstNumber'], descending: true, limit: 1 } as const
    const [group = null] = await GROUPS.list(scope.statements, { firstNumber: sql`<= ${number}` }, newest)
    return group
  },

  append: async ({ firstNumber, claims }: ClaimGroup, keepUntilSeconds: number): Promise<void> => {
    await GROUPS.insert(survivingCrashes(scope), { firstNumber, claims, keepUntilSeconds })
  },

  sweep: (nowSeconds = scope.nowSeconds()): Promise<number> => {
    // Keep the newest group: numbers must not restart while other processes remember earlier numbers.
    const isOld = sql`first_number < (SELECT MAX(first_number) FROM claim_groups)`
    const condition = sql`keep_until_seconds <= ${nowSeconds} AND ${isOld}`
    return GROUPS.sweep(survivingCrashes(scope), ['firstNumber'], condition)
  },
})

export type ClaimGroupTable = ReturnType<typeof createClaimGroupTable>

/** Decision log that contains the outcomes of the claims from `firstNumber` on. */
export interface ClaimLogOwner {
  readonly node: string
  readonly firstNumber: number
}

const OWNER_NAME = 'claim_log_owner'

const parseOwner = (text: string): ClaimLogOwner => {
  const [firstNumber, node = ''] = text.split(' ')
  return { node, firstNumber: Number(firstNumber) }
}

/** Returns null if the claims were made by an earlier version. */
export const readClaimLogOwner = async (scope: TableScope): Promise<ClaimLogOwner | null> => {
  const text = await createDeploymentTable(scope).read(OWNER_NAME)
  return text === null ? null : parseOwner(text)
}

/**
 * Makes this node the owner from `next` on, unless it owns the log. The node takes over claims of an earlier version.
 */
export const ownClaimLog = async (scope: TableScope, node: string, next: number): Promise<ClaimLogOwner> => {
  const owner = await readClaimLogOwner(scope)
  if (owner?.node === node) return owner
  const own = { node, firstNumber: owner === null ? 0 : next }
  await createDeploymentTable(scope).replace(OWNER_NAME, `${own.firstNumber} ${node}`)
  return own
}
