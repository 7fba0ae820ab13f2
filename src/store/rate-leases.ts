// Each API key's rate-limit tokens that no process holds. A process settles and leases tokens for many keys at once,
// never while a request waits. Tokens refill by the processes' shared time.

import { integer, json, sql, text } from './columns.ts'
import { survivingCrashes, type TableScope } from './copy/table-scope.ts'
import type { Transaction } from './database.ts'
import { chunkRows } from './row-fields.ts'
import { defineTable, type ItemOf } from './table.ts'

interface LeaseRequest {
  readonly keyId: string
  readonly requestsPerSecond: number
  readonly burst: number
  /** Tokens spent beyond the lease, always deducted. Negative for returned tokens. */
  readonly owed: number
  readonly wanted: number
}

interface LeaseAnswer {
  readonly keyId: string
  readonly leased: number
  /** Tokens left for all processes. Negative after overspending, until tokens are refilled. */
  readonly balance: number
  /** Processes that recently settled this key, including this one. */
  readonly holders: number
}

interface LeaseExchange {
  readonly answers: readonly LeaseAnswer[]
  readonly clockMs: number
}

const BALANCES = defineTable('rate_balances', {
  keyId: text,
  millitokens: integer,
  atMs: integer,
  holders: json<Readonly<Record<string, number>>>(),
})
type Balance = ItemOf<typeof BALANCES>

/** Time without a settlement after which a process gets no share. */
const HOLDER_MS = 2_000
/** Limits refill within hours, so a balance of this age is full. */
const KEEP_MS = 86_400_000
const DURABILITY = { survives: 'process-crash' } as const

const places = (count: number): string => Array.from({ length: count }, () => '(?, ?, ?, ?)').join(', ')

/** Locks rows in an order that all processes share, so that transactions never deadlock. */
const lockBalances = async (
  transaction: Transaction,
  requests: readonly LeaseRequest[],
  nowMs: number,
): Promise<readonly Balance[]> =>
  BALANCES.toItems(
    await transaction.query<object>(
      `INSERT INTO rate_balances (key_id, millitokens, at_ms, holders) VALUES ${places(requests.length)}
       ON CONFLICT (key_id) DO UPDATE SET holders = rate_balances.holders RETURNING ${BALANCES.columns}`,
      requests.flatMap(({ keyId, burst }) => [keyId, Math.round(burst * 1_000), nowMs, '{}']),
    ),
  )

const settle = (processId: string, request: LeaseRequest, row: Balance, nowMs: number) => {
  const { keyId, requestsPerSecond, burst, owed, wanted } = request
  const atMs = Math.max(nowMs, row.atMs)
  const refilled = Math.min(burst, row.millitokens / 1_000 + ((atMs - row.atMs) / 1_000) * requestsPerSecond)
  const left = Math.min(burst, refilled - owed)
  const leased = Math.max(0, Math.min(wanted, left))
  const balance = left - leased
  const holders = Object.fromEntries(Object.entries(row.holders).filter(([, at]) => atMs - at < HOLDER_MS))
  holders[processId] = atMs
  const written = { keyId, millitokens: Math.round(balance * 1_000), atMs, holders }
  return { answer: { keyId, leased, balance, holders: Object.keys(holders).length }, atMs, written }
}

export const createRateLeaseTable = (scope: TableScope) => ({
  /** @param nowMs the processes' shared time, as known to the caller @param requests each key at most once */
  exchange: (processId: string, nowMs: number, requests: readonly LeaseRequest[]): Promise<LeaseExchange> =>
    scope.write(async (transaction) => {
      const answers: LeaseAnswer[] = []
      let clockMs = Math.round(nowMs)
      const inOrder = requests.toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1))
      for (const chunk of chunkRows(inOrder)) {
        const rows = new Map((await lockBalances(transaction, chunk, clockMs)).map((row) => [row.keyId, row] as const))
        const settled = chunk.flatMap((request) => {
          const row = rows.get(request.keyId)
          return row === undefined ? [] : [settle(processId, request, row, clockMs)]
        })
        const written = settled.map((each) => each.written)
        await BALANCES.putAll(transaction, ['keyId'], written)
        for (const { answer, atMs } of settled) {
          answers.push(answer)
          clockMs = Math.max(clockMs, atMs)
        }
      }
      return { answers, clockMs }
    }, DURABILITY),

  sweep: (nowMs: number): Promise<number> =>
    BALANCES.sweep(survivingCrashes(scope), ['keyId'], sql`at_ms < ${Math.round(nowMs) - KEEP_MS}`),
})
