// Limits the entries of an organization's lists, because each process keeps them in memory. Shared lists are unlimited.
import { ListLimitError } from '../../domain/list.ts'
import type { TransactionScope } from '../copy/table-scope.ts'
import { lockOrganization } from '../row-locks.ts'

const sumOf = async (own: TransactionScope, statement: string, organizationId: string): Promise<number> => {
  const [row] = await own.query<{ readonly count: number | null }>(statement, [organizationId])
  return Number(row?.count ?? 0)
}

/** Call in the transaction of a change, before it. @param added negative if the list shrinks @throws ListLimitError */
export const requireRoomForEntries = async (
  own: TransactionScope,
  organizationId: string | null,
  added: number,
): Promise<void> => {
  if (organizationId === null || added <= 0) return
  await lockOrganization(own, organizationId)
  const statement = 'SELECT SUM(entry_count) AS count FROM lists WHERE organization_id = ?'
  const { listEntriesMax } = own.limits
  if ((await sumOf(own, statement, organizationId)) + added > listEntriesMax) {
    throw new ListLimitError('list entries', listEntriesMax)
  }
}

/** Call after extending the lifetime of a base that awaits approval, in the same transaction. @throws ListLimitError */
export const requireRoomForStaged = async (own: TransactionScope, baseId: string): Promise<void> => {
  const [list] = await own.query<{ readonly organizationId: string | null }>(
    `SELECT lists.organization_id AS "organizationId" FROM list_bases JOIN lists ON lists.id = list_bases.list_id
     WHERE list_bases.id = ?`,
    [baseId],
  )
  const organizationId = list?.organizationId ?? null
  if (organizationId === null) return
  await lockOrganization(own, organizationId)
  const statement = `SELECT SUM(list_bases.evm_count + list_bases.solana_count) AS count
    FROM lists JOIN list_bases ON list_bases.list_id = lists.id
    WHERE lists.organization_id = ? AND list_bases.retired_at_seconds IS NULL
      AND (lists.base_id IS NULL OR lists.base_id <> list_bases.id)`
  const { listEntriesMax } = own.limits
  if ((await sumOf(own, statement, organizationId)) > listEntriesMax) {
    throw new ListLimitError('list entries awaiting approval', listEntriesMax)
  }
}
