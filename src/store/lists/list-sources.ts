// Sources of lists, with schedules and latest results. Results with the token of an outdated lease are discarded.
import { randomBase62 } from '../../domain/identifier.ts'
import type { ListFormat, Reach } from '../../domain/list.ts'
import { CLOCK_DIFFERENCE_SECONDS } from '../../lib/time.ts'
import { recordChange } from '../changes.ts'
import { computed, flag, hidden, integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope, TransactionScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { lockList } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

const COLUMNS = {
  listId: text,
  location: text,
  format: typed<ListFormat>(),
  reach: typed<Reach>(),
  /** If false, the whole file is rejected if any line is invalid. */
  skipsBadLines: flag,
  intervalSeconds: integer,
  dueAtSeconds: integer,
  attemptedAtSeconds: nullable(integer),
  failure: nullable(text),
  /** Last time the whole content was read and accepted. */
  confirmedAtSeconds: nullable(integer),
  fileSha256: nullable(text),
  fileBytes: nullable(integer),
  skippedCount: nullable(integer),
  token: text,
  leasedUntilSeconds: hidden(integer),
}

export const LIST_SOURCES = defineTable('list_sources', COLUMNS)
const NAMED = defineTable('list_sources', {
  ...COLUMNS,
  name: computed(text, '(SELECT lists.name FROM lists WHERE lists.id = list_sources.list_id)'),
})

export interface ListSource extends ItemOf<typeof LIST_SOURCES> {}

const NOT_LEASED = { leasedUntilSeconds: 0 }

const newToken = (): string => randomBase62(16)

type TakenSource = Pick<ListSource, 'listId' | 'token'>

/** Returns false if the source was changed or leased again. */
export const confirmSource = async (
  own: TransactionScope,
  { listId, token }: TakenSource,
  found: Pick<ListSource, 'dueAtSeconds'> & Partial<Pick<ListSource, 'fileSha256' | 'fileBytes' | 'skippedCount'>>,
): Promise<boolean> => {
  const now = own.nowSeconds()
  const values = { ...found, ...NOT_LEASED, attemptedAtSeconds: now, confirmedAtSeconds: now, failure: null }
  return (await LIST_SOURCES.updateAll(own, { listId, token }, values)) > 0
}

export const createListSourceTable = (scope: TableScope) => {
  const announce = async (transaction: Transaction, listId: string) => {
    const [list] = await transaction.query<{ organization_id: string | null }>(
      'SELECT organization_id FROM lists WHERE id = ?',
      [listId],
    )
    if (list === undefined) return
    const change = { topic: 'list', subjectId: listId, organizationId: list.organization_id } as const
    await recordChange(transaction, change, scope.nowSeconds())
  }
  const lease = (seconds: number) => ({ leasedUntilSeconds: scope.nowSeconds() + seconds, token: newToken() })

  return {
    /** Drops confirmations of a previous source. The new source is due immediately. */
    set: (
      listId: string,
      source: Pick<ListSource, 'location' | 'format' | 'reach' | 'skipsBadLines' | 'intervalSeconds'>,
    ): Promise<ListSource> =>
      scope.write(async (own) => {
        await lockList(own, listId)
        await LIST_SOURCES.removeAll(own, { listId })
        const { location, format, reach, skipsBadLines, intervalSeconds } = source
        const row = { listId, location, format, reach, skipsBadLines, intervalSeconds }
        const due = { dueAtSeconds: scope.nowSeconds(), ...NOT_LEASED, token: newToken() }
        const kept = await LIST_SOURCES.insert(own, { ...row, ...due })
        await announce(own, listId)
        return kept
      }),

    /** Keeps the content for manual maintenance. Returns false if the list has no source. */
    remove: (listId: string): Promise<boolean> =>
      scope.write(async (own) => {
        await lockList(own, listId)
        const removed = await LIST_SOURCES.removeAll(own, { listId })
        if (removed > 0) await announce(own, listId)
        return removed > 0
      }),

    find: (listId: string): Promise<ListSource | null> => LIST_SOURCES.find(scope, { listId }),

    listAll: (): Promise<readonly ListSource[]> => LIST_SOURCES.list(scope, {}, ['listId']),

    listOf: async (organizationId: string): Promise<readonly (ListSource & { readonly name: string })[]> => {
      const ofOrganization = sql`IN (SELECT id FROM lists WHERE organization_id = ${organizationId})`
      const sources = await NAMED.list(scope, { listId: ofOrganization }, ['listId'])
      return sources.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    },

    /** Skips owners with a leased source, so that slow sources delay only their own organization. */
    takeDue: async (leaseSeconds: number): Promise<ListSource | null> => {
      const now = scope.nowSeconds()
      // Times beyond the interval or lease were written while the clock was ahead.
      const last = now + CLOCK_DIFFERENCE_SECONDS
      const leased = sql`BETWEEN ${now + 1} AND ${last + leaseSeconds}`
      const due = {
        dueAtSeconds: sql`NOT BETWEEN ${now + 1} AND ${last} + interval_seconds`,
        leasedUntilSeconds: sql`NOT ${leased}`,
      }
      const isFree = sql`(SELECT COALESCE(organization_id, '') FROM lists WHERE id = list_id) NOT IN (
          SELECT COALESCE(organization_id, '') FROM lists JOIN list_sources AS leased ON leased.list_id = lists.id
          WHERE leased.leased_until_seconds ${leased})`
      // Usually no source is due, and nothing is written.
      const [candidate] = await LIST_SOURCES.list(scope, due, { by: ['dueAtSeconds'], limit: 1 }, isFree)
      if (candidate === undefined) return null
      return LIST_SOURCES.update(scope, { listId: candidate.listId, ...due }, lease(leaseSeconds), isFree)
    },

    /** Leases a source even if it is not due, which invalidates a read in progress. Null if the list has no source. */
    take: (listId: string, leaseSeconds: number): Promise<ListSource | null> =>
      LIST_SOURCES.update(scope, { listId }, lease(leaseSeconds)),

    hasToken: async ({ listId, token }: TakenSource): Promise<boolean> =>
      (await LIST_SOURCES.find(scope, { listId, token })) !== null,

    hasten: async (listId: string): Promise<boolean> =>
      (await LIST_SOURCES.updateAll(scope, { listId }, { dueAtSeconds: scope.nowSeconds() })) > 0,

    confirm: ({ listId, token }: TakenSource, nextDueAtSeconds: number): Promise<boolean> =>
      scope.write(async (own) => {
        const confirmed = await confirmSource(own, { listId, token }, { dueAtSeconds: nextDueAtSeconds })
        if (confirmed) await announce(own, listId)
        return confirmed
      }),

    /** Keeps the list's content. Does nothing if the source was changed or leased again. */
    fail: async ({ listId, token }: TakenSource, failure: string, nextDueAtSeconds: number): Promise<void> => {
      const attempt = { dueAtSeconds: nextDueAtSeconds, ...NOT_LEASED, attemptedAtSeconds: scope.nowSeconds(), failure }
      await LIST_SOURCES.updateAll(scope, { listId, token }, attempt)
    },
  }
}
