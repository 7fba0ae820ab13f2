// How long each organization waited for its verdicts, as a histogram for each quarter of an hour. Several processes add to
// the same row.
import type { BucketCounts } from '../lib/bucket-counts.ts'
import type { TableScope } from './copy/table-scope.ts'
import { sweepRows } from './sweep.ts'

/** A quarter of an hour, because time zones begin their days at any of the four. */
const LATENCY_STEP_SECONDS = 900
/** Nine days: pages compare a day with the same weekday a week before, in any time zone. */
const KEPT_SECONDS = 9 * 86_400
/** A power cut may lose the last minutes. */
const DURABILITY = { survives: 'process-crash' } as const

const encode = (counts: BucketCounts): string => [...counts].map(([bucket, count]) => `${bucket}:${count}`).join(' ')

const decodeInto = (sums: Map<number, number>, text: string): void => {
  for (const part of text === '' ? [] : text.split(' ')) {
    const [bucket = 0, count = 0] = part.split(':').map(Number)
    sums.set(bucket, (sums.get(bucket) ?? 0) + count)
  }
}

interface QuarterLatency {
  /** Beginning of the quarter of an hour, Unix seconds. */
  readonly atSeconds: number
  readonly counts: BucketCounts
}

export const createAnswerLatencyTable = (scope: TableScope) => ({
  /** Adds to the current quarter of an hour. */
  add: (organizationId: string, counts: BucketCounts): Promise<void> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const place = [organizationId, nowSeconds - (nowSeconds % LATENCY_STEP_SECONDS)]
      // Inserts or locks the row, and reads what other processes have added.
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

  /** Quarters that begin at or after `fromSeconds` and before `untilSeconds`, oldest first, without empty ones. */
  between: async (
    organizationId: string,
    fromSeconds: number,
    untilSeconds: number,
  ): Promise<readonly QuarterLatency[]> => {
    const rows = await scope.statements.query<{ at_seconds: number; counts: string }>(
      `SELECT at_seconds, counts FROM answer_latencies
       WHERE organization_id = ? AND at_seconds >= ? AND at_seconds < ? ORDER BY at_seconds`,
      [organizationId, fromSeconds, untilSeconds],
    )
    return rows.map(({ at_seconds: atSeconds, counts: text }) => {
      const counts = new Map<number, number>()
      decodeInto(counts, text)
      return { atSeconds, counts }
    })
  },

  /** Deletes a batch of quarters that are too old to be shown. @returns how many: call again until it is 0 */
  sweep: (): Promise<number> =>
    scope.write((transaction) => {
      const beforeSeconds = scope.nowSeconds() - KEPT_SECONDS
      return sweepRows(transaction, 'answer_latencies', 'organization_id, at_seconds', 'at_seconds < ?', beforeSeconds)
    }, DURABILITY),
})
export type AnswerLatencyTable = ReturnType<typeof createAnswerLatencyTable>
