// Response times of verdicts: one histogram per organization and quarter-hour, shared by all processes.
import type { BucketCounts } from '../lib/histogram.ts'
import { integer, sql, text } from './columns.ts'
import { survivingCrashes, type TableScope } from './copy/table-scope.ts'
import { defineTable } from './table.ts'

/** Time zone offsets are multiples of a quarter-hour. */
const LATENCY_STEP_SECONDS = 900
/** Retention of nine days, because pages compare a day with the same weekday of the previous week, in any time zone. */
const KEPT_SECONDS = 9 * 86_400
const DURABILITY = { survives: 'process-crash' } as const

const encode = (counts: BucketCounts): string => [...counts].map(([bucket, count]) => `${bucket}:${count}`).join(' ')

const decodeInto = (sums: Map<number, number>, text: string): void => {
  for (const part of text === '' ? [] : text.split(' ')) {
    const [bucket = 0, count = 0] = part.split(':').map(Number)
    sums.set(bucket, (sums.get(bucket) ?? 0) + count)
  }
}

const LATENCIES = defineTable('answer_latencies', { organizationId: text, atSeconds: integer, counts: text }, (row) => {
  const counts = new Map<number, number>()
  decodeInto(counts, row.counts)
  return { atSeconds: row.atSeconds, counts }
})

export const createAnswerLatencyTable = (scope: TableScope) => ({
  add: (organizationId: string, counts: BucketCounts): Promise<void> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const place = [organizationId, nowSeconds - (nowSeconds % LATENCY_STEP_SECONDS)]
      // Inserts or locks the row, and reads the counts of other processes.
      const [row] = await transaction.query<{ counts: string }>(
        `INSERT INTO answer_latencies (organization_id, at_seconds, counts) VALUES (?, ?, '')
         ON CONFLICT (organization_id, at_seconds) DO UPDATE SET counts = answer_latencies.counts RETURNING counts`,
        place,
      )
      const sums = new Map(counts)
      decodeInto(sums, row?.counts ?? '')
      await transaction.execute('UPDATE answer_latencies SET counts = ? WHERE organization_id = ? AND at_seconds = ?', [
        encode(sums),
        ...place,
      ])
    }, DURABILITY),

  between: (organizationId: string, fromSeconds: number, untilSeconds: number) => {
    const until = sql`at_seconds < ${untilSeconds}`
    return LATENCIES.list(scope, { organizationId, atSeconds: sql`>= ${fromSeconds}` }, ['atSeconds'], until)
  },

  sweep: (): Promise<number> =>
    LATENCIES.sweep(
      survivingCrashes(scope),
      ['organizationId', 'atSeconds'],
      sql`at_seconds < ${scope.nowSeconds() - KEPT_SECONDS}`,
    ),
})
export type AnswerLatencyTable = ReturnType<typeof createAnswerLatencyTable>
