// Leases, each of which makes one process the leader of a role. Another process takes over if the holder's beat stays
// unchanged for too long. Writes by leaders check the term in their transaction.

import type { LeaderRole } from '../domain/process-role.ts'
import { hidden, integer, sql, text } from './columns.ts'
import { reservedReads, reservedWrites, type TableScope } from './copy/table-scope.ts'
import type { Transaction } from './database.ts'
import { defineTable, type ItemOf } from './table.ts'

const LEASES = defineTable('leader_leases', {
  name: hidden(text),
  holder: text,
  term: integer,
  beat: integer,
})

export interface LeaderLease extends ItemOf<typeof LEASES> {}

/** Versions without roles know only `duties`; their leader must exclude this version's attestation leader. */
const NAMES: Readonly<Record<LeaderRole, string>> = { attestation: 'duties', identity: 'identity' }
const NEXT_BEAT = sql`beat + 1`

const createLease = (scope: TableScope, role: LeaderRole) => {
  const name = NAMES[role]
  return {
    read: (): Promise<LeaderLease | null> => LEASES.find(reservedReads(scope), { name }),

    /** Takes the lease if it still equals `seen`. Null if it has since been renewed or taken. */
    take: async (holder: string, seen: LeaderLease | null): Promise<LeaderLease | null> => {
      const first = { holder, term: 1, beat: 1 }
      if (seen === null) return (await LEASES.insertNew(scope, { name, ...first })) ? first : null
      const { holder: before, term, beat } = seen
      const values = { holder, term: sql`term + 1`, beat: NEXT_BEAT }
      return LEASES.update(scope, { name, holder: before, term, beat }, values)
    },

    /** Returns false if another process has taken the lease. */
    renew: async (holder: string, term: number): Promise<boolean> =>
      (await LEASES.updateAll(scope, { name, holder, term }, { beat: NEXT_BEAT })) === 1,

    release: async (holder: string, term: number): Promise<void> => {
      await LEASES.updateAll(scope, { name, holder, term }, { holder: '', beat: NEXT_BEAT })
    },

    /** If true, no other process can take the lease before the transaction ends. */
    holds: async (transaction: Transaction, holder: string, term: number): Promise<boolean> =>
      (await LEASES.updateAll(transaction, { name, holder, term }, { term: sql`term` })) === 1,
  }
}

export type LeaderLeaseTable = ReturnType<typeof createLease>

export const createLeaderLeases = (given: TableScope): Readonly<Record<LeaderRole, LeaderLeaseTable>> => {
  // A power loss may lose a renewal, but it also restarts every process.
  const scope = reservedWrites(given)
  return { attestation: createLease(scope, 'attestation'), identity: createLease(scope, 'identity') }
}
