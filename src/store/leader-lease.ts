// The lease that makes one process of the deployment its leader: a row with a beat that the holder increments. Another
// process takes the lease over when it has seen the same beat for long enough by its own clock, so that differing
// clocks never make two leaders. A write that a former leader must not make checks the term in its own transaction
// (`holdsLease`).

import type { TableScope } from './copy/table-scope.ts'
import type { Transaction } from './database.ts'

export interface LeaderLease {
  /** The process's id; '' when nobody holds it. */
  readonly holder: string
  /** Rises with each change of the holder. */
  readonly term: number
  /** Rises with each renewal. */
  readonly beat: number
}

/** The only lease so far; a deployment could have several. */
const NAME = 'duties'
/** A power cut may lose a renewal: every process starts again then anyway. */
const DURABILITY = { survives: 'process-crash' } as const

export const createLeaderLeaseTable = (scope: TableScope) => ({
  /** Null before anyone ever held it. */
  read: async (): Promise<LeaderLease | null> => {
    const [row] = await scope.statements.query<LeaderLease>(
      'SELECT holder, term, beat FROM leader_leases WHERE name = ?',
      [NAME],
    )
    return row ?? null
  },

  /** Takes the lease if it is still as `seen`. Null when it was renewed or taken since. */
  take: (holder: string, seen: LeaderLease | null): Promise<LeaderLease | null> =>
    scope.write(async (transaction) => {
      const [row] =
        seen === null
          ? await transaction.query<LeaderLease>(
              `INSERT INTO leader_leases (name, holder, term, beat) VALUES (?, ?, 1, 1)
               ON CONFLICT DO NOTHING RETURNING holder, term, beat`,
              [NAME, holder],
            )
          : await transaction.query<LeaderLease>(
              `UPDATE leader_leases SET holder = ?, term = term + 1, beat = beat + 1
               WHERE name = ? AND holder = ? AND term = ? AND beat = ? RETURNING holder, term, beat`,
              [holder, NAME, seen.holder, seen.term, seen.beat],
            )
      return row ?? null
    }, DURABILITY),

  /** False when another process has taken the lease: the caller leads no more. */
  renew: (holder: string, term: number): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          'UPDATE leader_leases SET beat = beat + 1 WHERE name = ? AND holder = ? AND term = ?',
          [NAME, holder, term],
        )) === 1,
      DURABILITY,
    ),

  /** Releases the lease, so that nobody waits for it. */
  release: (holder: string, term: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        "UPDATE leader_leases SET holder = '', beat = beat + 1 WHERE name = ? AND holder = ? AND term = ?",
        [NAME, holder, term],
      )
    }, DURABILITY),
})

export type LeaderLeaseTable = ReturnType<typeof createLeaderLeaseTable>

/**
 * Checks within a transaction whether the lease is still held: no other process takes it before the transaction has
 * ended. When true, the statement has only locked the row.
 */
export const holdsLease = async (transaction: Transaction, holder: string, term: number): Promise<boolean> =>
  (await transaction.execute('UPDATE leader_leases SET term = term WHERE name = ? AND holder = ? AND term = ?', [
    NAME,
    holder,
    term,
  ])) === 1
