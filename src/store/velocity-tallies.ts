// Request counts per wallet and process, written as totals, so that reading a row twice is harmless.
import type { VelocityTally } from '../domain/velocity.ts'
import { columnsOf, hidden, integer, sql, text } from './columns.ts'
import type { TableScope } from './copy/table-scope.ts'
import { defineTable, type ItemOf } from './table.ts'

const TALLIES = defineTable('velocity_tallies', {
  ...columnsOf<VelocityTally>()(
    'organizationId projectId environment wallet chainName windowSeconds part count value expiresAtSeconds',
  ),
  sequence: integer,
  processId: hidden(text),
})
const KEY = [
  'processId',
  'organizationId',
  'projectId',
  'environment',
  'wallet',
  'chainName',
  'windowSeconds',
  'part',
] as const
const WRITERS = defineTable('velocity_writers', {
  processId: text,
  sequence: integer,
  expiresAtSeconds: hidden(integer),
})

export const VELOCITY_WRITE_MAX = 500
/** Size of a page. Exceeds the rows of one write, so that each page reaches a new number. */
const PAGE = 2 * VELOCITY_WRITE_MAX
const DURABILITY = { survives: 'process-crash' } as const

export const createVelocityTallyTable = (scope: TableScope) => ({
  /** @param sequence the process's next number @param tallies at most VELOCITY_WRITE_MAX, each at most once */
  write: (processId: string, sequence: number, tallies: readonly VelocityTally[]): Promise<void> =>
    scope.write(async (transaction) => {
      if (tallies.length > VELOCITY_WRITE_MAX) throw new RangeError(`at most ${VELOCITY_WRITE_MAX} tallies at a time`)
      const rows = tallies.map((tally) => ({ ...tally, processId, sequence }))
      await TALLIES.putAll(transaction, KEY, rows)
      const expiresAtSeconds = Math.max(...tallies.map((tally) => tally.expiresAtSeconds))
      await transaction.execute(
        `INSERT INTO velocity_writers (process_id, sequence, expires_at_seconds) VALUES (?, ?, ?)
         ON CONFLICT (process_id) DO UPDATE SET sequence = excluded.sequence, expires_at_seconds =
           CASE WHEN excluded.expires_at_seconds > velocity_writers.expires_at_seconds
             THEN excluded.expires_at_seconds ELSE velocity_writers.expires_at_seconds END`,
        [processId, sequence, expiresAtSeconds],
      )
    }, DURABILITY),

  /** Returns the processes with rows that may still count. */
  writers: (): Promise<readonly ItemOf<typeof WRITERS>[]> => WRITERS.list(scope.statements, {}, ['processId']),

  /** Reads a page for all organizations, possibly with repeated rows. Continue with its `sequence` until null. */
  readAfter: async (
    processId: string,
    sequence: number,
  ): Promise<{ readonly sequence: number; readonly tallies: readonly VelocityTally[] } | null> => {
    const later = { processId, sequence: sql`> ${sequence}` }
    const rows = await TALLIES.everywhere.list(scope.statements, later, { by: ['sequence'], limit: PAGE })
    const last = rows.at(-1)
    if (last === undefined) return null
    return {
      // More rows may have the last number of a full page, so read it again.
      sequence: rows.length < PAGE ? last.sequence : last.sequence - 1,
      tallies: rows.map(({ sequence: _written, ...tally }) => tally),
    }
  },

  /** Deletes a batch of tallies of past windows. Returns their number; call again until it is 0. */
  sweep: (): Promise<number> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      await WRITERS.removeAll(transaction, { expiresAtSeconds: sql`<= ${nowSeconds}` })
      return TALLIES.sweep(transaction, KEY, sql`expires_at_seconds <= ${nowSeconds}`)
    }, DURABILITY),
})
