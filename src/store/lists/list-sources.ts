// Where a list's content comes from, when it must be read again, and the results of the last attempts. Only one process
// reads a due source at a time, under a lease that lasts longer than a reading may take, so that a crashed reader is
// replaced. Each lease, and each change of the source, makes a new token. The result of a reading is written only under
// the token that the reading got: a reading that ends after the source was changed or leased again changes nothing.
import { randomBase62 } from '../../domain/identifier.ts'
import type { ListFormat, Reach } from '../../domain/list.ts'
import { recordChange } from '../changes.ts'
import { computed, flag, hidden, integer, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope, TransactionScope } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { lockList } from '../row-locks.ts'
import { defineTable, type ItemOf } from '../table.ts'

const COLUMNS = {
  listId: text,
  /** An absolute path or a URL. */
  location: text,
  format: typed<ListFormat>(),
  reach: typed<Reach>(),
  /** When false, one bad line refuses the whole file. */
  skipsBadLines: flag,
  intervalSeconds: integer,
  dueAtSeconds: integer,
  attemptedAtSeconds: nullable(integer),
  /** Why the last attempt failed, in one line; null when it succeeded. */
  failure: nullable(text),
  /** When the content was last read completely and found good. */
  confirmedAtSeconds: nullable(integer),
  /** SHA-256 of the file at that time, hex. */
  fileSha256: nullable(text),
  fileBytes: nullable(integer),
  skippedCount: nullable(integer),
  /** Made by the last lease or change: a reading passes it back with its result. */
  token: text,
  leasedUntilSeconds: hidden(integer),
}

export const LIST_SOURCES = defineTable('list_sources', COLUMNS)
/** With the name of the list. */
const NAMED = defineTable('list_sources', {
  ...COLUMNS,
  name: computed(text, '(SELECT lists.name FROM lists WHERE lists.id = list_sources.list_id)'),
})

export interface ListSource extends ItemOf<typeof LIST_SOURCES> {}

/** Nobody reads it. */
const NOT_LEASED = { leasedUntilSeconds: 0 }

const newToken = (): string => randomBase62(16)

/** A source as it was leased. */
type TakenSource = Pick<ListSource, 'listId' | 'token'>

/** Records that a source was read and found good. False when it was changed or leased again meanwhile. */
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
    /** From now on the source keeps the list and is due immediately. Confirmations of another source are dropped. */
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

    /** From now on people keep the list, with its current content. False when it has no source. */
    remove: (listId: string): Promise<boolean> =>
      scope.write(async (own) => {
        await lockList(own, listId)
        const removed = await LIST_SOURCES.removeAll(own, { listId })
        if (removed > 0) await announce(own, listId)
        return removed > 0
      }),

    find: (listId: string): Promise<ListSource | null> => LIST_SOURCES.find(scope, { listId }),

    /** The sources of all lists: for the deployment's own administration. */
    listAll: (): Promise<readonly ListSource[]> => LIST_SOURCES.list(scope, {}, ['listId']),

    /** The sources of an organization's own lists, with the lists' names. */
    listOf: async (organizationId: string): Promise<readonly (ListSource & { readonly name: string })[]> => {
      const ofOrganization = sql`IN (SELECT id FROM lists WHERE organization_id = ${organizationId})`
      const sources = await NAMED.list(scope, { listId: ofOrganization }, ['listId'])
      return sources.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    },

    /**
     * Leases one due source of an organization (or of the deployment) that has no leased source, or returns null. No
     * other process gets it before the lease ends. So slow sources of one organization wait for each other only.
     */
    takeDue: async (leaseSeconds: number): Promise<ListSource | null> => {
      const now = scope.nowSeconds()
      const due = { dueAtSeconds: sql`<= ${now}`, leasedUntilSeconds: sql`<= ${now}` }
      const isFree = sql`(SELECT COALESCE(organization_id, '') FROM lists WHERE id = list_id) NOT IN (
          SELECT COALESCE(organization_id, '') FROM lists JOIN list_sources AS leased ON leased.list_id = lists.id
          WHERE leased.leased_until_seconds > ${now})`
      // Usually none is due; then nothing is written.
      const [candidate] = await LIST_SOURCES.list(scope, due, { by: ['dueAtSeconds'], limit: 1 }, isFree)
      if (candidate === undefined) return null
      return LIST_SOURCES.update(scope, { listId: candidate.listId, ...due }, lease(leaseSeconds), isFree)
    },

    /** Leases one list's source, due or not, which invalidates a reading under way. Null when it has no source. */
    take: (listId: string, leaseSeconds: number): Promise<ListSource | null> =>
      LIST_SOURCES.update(scope, { listId }, lease(leaseSeconds)),

    /** Makes the source due immediately. False when the list has no source. */
    hasten: async (listId: string): Promise<boolean> =>
      (await LIST_SOURCES.updateAll(scope, { listId }, { dueAtSeconds: scope.nowSeconds() })) > 0,

    /** The file is the one that the list already has. False when the source was changed or leased again meanwhile. */
    confirm: ({ listId, token }: TakenSource, nextDueAtSeconds: number): Promise<boolean> =>
      scope.write(async (own) => {
        const confirmed = await confirmSource(own, { listId, token }, { dueAtSeconds: nextDueAtSeconds })
        if (confirmed) await announce(own, listId)
        return confirmed
      }),

    /** The list keeps its content, and ages. Not recorded when the source was changed or leased again meanwhile. */
    fail: async ({ listId, token }: TakenSource, failure: string, nextDueAtSeconds: number): Promise<void> => {
      const attempt = { dueAtSeconds: nextDueAtSeconds, ...NOT_LEASED, attemptedAtSeconds: scope.nowSeconds(), failure }
      await LIST_SOURCES.updateAll(scope, { listId, token }, attempt)
    },
  }
}
