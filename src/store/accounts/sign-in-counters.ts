// Counts recent sign-in attempts across all nodes with the generic cell rate algorithm (ITU-T I.371).
import { NamedError } from '../../lib/named-error.ts'
import { integer, sql } from '../columns.ts'
import { survivingCrashes, type TableScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { defineTable } from '../table.ts'

export interface CounterTake {
  readonly slot: number
  readonly free: number
  readonly secondsEach: number
}

type TakeResult =
  | { readonly taken: true }
  /** Nothing was counted. `slot` permits another attempt after `retryAfterSeconds`. */
  | { readonly taken: false; readonly slot: number; readonly retryAfterSeconds: number }

/** The latest attempts may be lost in a power loss. */
const DURABILITY = { survives: 'process-crash' } as const

const COUNTERS = defineTable('sign_in_counters', { slot: integer, clearAtSeconds: integer })

class CounterFullError extends NamedError {
  readonly slot: number
  readonly retryAfterSeconds: number
  constructor(slot: number, retryAfterSeconds: number) {
    super('the counter is full')
    this.slot = slot
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const takeOne = async (transaction: Transaction, take: CounterTake, nowSeconds: number): Promise<void> => {
  const { slot, free, secondsEach } = take
  const highest = nowSeconds + (free - 1) * secondsEach
  const impossible = nowSeconds + 2 * free * secondsEach
  // Count, then check. The WHERE applies to the locked row, so a concurrent attempt sees this write.
  const counted = await transaction.execute(
    `INSERT INTO sign_in_counters (slot, clear_at_seconds) VALUES (?, ?)
     ON CONFLICT (slot) DO UPDATE SET clear_at_seconds = ? + CASE
       WHEN sign_in_counters.clear_at_seconds < ? THEN ?
       WHEN sign_in_counters.clear_at_seconds > ? THEN ?
       ELSE sign_in_counters.clear_at_seconds END
     WHERE sign_in_counters.clear_at_seconds <= ? OR sign_in_counters.clear_at_seconds > ?`,
    [slot, nowSeconds + secondsEach, secondsEach, nowSeconds, nowSeconds, impossible, highest, highest, impossible],
  )
  if (counted === 1) return
  const counter = await COUNTERS.find(transaction, { slot })
  throw new CounterFullError(slot, Math.max(1, (counter?.clearAtSeconds ?? 0) - highest))
}

export const createSignInCounterTable = (scope: TableScope) => ({
  /** Counts one attempt in all slots, or in none if a slot is full. */
  take: async (takes: readonly CounterTake[]): Promise<TakeResult> => {
    // A fixed order prevents deadlocks.
    const inOrder = takes.toSorted((one, other) => one.slot - other.slot)
    try {
      await scope.write(async (transaction) => {
        for (const take of inOrder) await takeOne(transaction, take, scope.nowSeconds())
      }, DURABILITY)
      return { taken: true }
    } catch (error) {
      if (!(error instanceof CounterFullError)) throw error
      return { taken: false, slot: error.slot, retryAfterSeconds: error.retryAfterSeconds }
    }
  },

  /** Reverses one counted attempt per slot, and deletes the counters in `forgiven`. */
  giveBack: (takes: readonly CounterTake[], forgiven: readonly number[] = []): Promise<void> =>
    scope.write(async (transaction) => {
      for (const { slot, secondsEach } of takes.toSorted((one, other) => one.slot - other.slot)) {
        const reduced = { clearAtSeconds: sql`clear_at_seconds - ${secondsEach}` }
        if (forgiven.includes(slot)) await COUNTERS.removeAll(transaction, { slot })
        else await COUNTERS.updateAll(transaction, { slot }, reduced)
      }
    }, DURABILITY),

  sweep: (): Promise<number> =>
    COUNTERS.sweep(survivingCrashes(scope), ['slot'], sql`clear_at_seconds <= ${scope.nowSeconds()}`),
})

export type SignInCounterTable = ReturnType<typeof createSignInCounterTable>
