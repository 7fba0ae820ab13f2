// The audit log, written in the transaction of the change. The database refuses to change or delete entries. Each entry
// contains the SHA-256 hash of its predecessor, which reveals changes that bypass the database.
import { createHash } from 'node:crypto'
import { nextTurn } from '../lib/time.ts'
import { among, integer, json, nullable, sql, text } from './columns.ts'
import type { TableScope } from './copy/table-scope.ts'
import type { Page, PageRequest } from './paging.ts'
import { lockDeployment } from './row-locks.ts'
import { defineTable, type ItemOf } from './table.ts'

const COLUMNS = {
  /** Increments by one across the deployment. */
  sequence: integer,
  atSeconds: integer,
  organizationId: nullable(text),
  /** `user:<id>`, `key:<key id>`, `command-line` or `service`. */
  actor: text,
  actorName: text,
  action: text,
  subject: text,
  requestId: text,
  /** Source IP address; empty if there was no network request. */
  address: text,
  previousHash: text,
  hash: text,
}

const ENTRIES = defineTable('audit_log', {
  ...COLUMNS,
  /** Either the values, or the values before and after the change. */
  detail: json<Readonly<Record<string, unknown>>>(),
})
/** `detail` is the stored text, because the text is hashed. */
const HASHED = defineTable('audit_log', { ...COLUMNS, detail: text })

export interface AuditEntry extends ItemOf<typeof ENTRIES> {}

/** Must not contain secrets, not even in `detail`. */
export type AuditRecord = Omit<AuditEntry, 'sequence' | 'atSeconds' | 'address' | 'previousHash' | 'hash'> &
  Partial<Pick<AuditEntry, 'address'>>

export interface AuditHead {
  readonly sequence: number
  readonly hash: string
}

export const AUDIT_ROOT = '0'.repeat(64)

/** Hashes a JSON array of these columns. An empty address is omitted, so that older entries keep their hashes. */
const hashOf = (row: Omit<ItemOf<typeof HASHED>, 'hash'>): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        row.sequence,
        row.atSeconds,
        row.organizationId,
        row.actor,
        row.actorName,
        row.action,
        row.subject,
        row.detail,
        row.requestId,
        row.previousHash,
        ...(row.address === '' ? [] : [row.address]),
      ]),
    )
    .digest('hex')

export const auditHashOf = (entry: Omit<AuditEntry, 'hash'>): string =>
  hashOf({ ...entry, detail: JSON.stringify(entry.detail) })

export interface AuditFilter {
  readonly organizationId?: string
  readonly action?: string
  readonly actionPrefix?: string
  /** Id, or name at that time (case-insensitive). */
  readonly actor?: string
  readonly subject?: string
  readonly sequence?: number
  readonly sinceSeconds?: number
  readonly untilSeconds?: number
  readonly overridden?: boolean
}

interface AuditVerification {
  readonly ok: boolean
  readonly entries: number
  /** First entry that does not match the chain. */
  readonly brokenAt: number | null
  /** Hash of the newest entry. A copy kept elsewhere can prove later that no entry up to it was changed. */
  readonly headHash: string
}

const VERIFY_BATCH = 500

/** Maximum entries searched by `newest`, because pages poll it every few seconds. */
const NEWEST_LOOKED_AT = 2_000

export const createAuditTable = (scope: TableScope) => ({
  newest: (actions: readonly string[], sinceSeconds: number): Promise<readonly AuditEntry[]> =>
    ENTRIES.everywhere.list(
      scope,
      { atSeconds: sql`>= ${sinceSeconds}`, action: among(actions) },
      ['sequence'],
      sql`sequence > (SELECT COALESCE(MAX(sequence), 0) FROM audit_log) - ${NEWEST_LOOKED_AT}`,
    ),

  append: (record: AuditRecord): Promise<AuditEntry> =>
    scope.write(async (transaction) => {
      // Take this lock before the counter's, like every transaction, to prevent deadlocks.
      await lockDeployment(transaction)
      // Locks the counter until the commit, so that the predecessor is visible.
      const [counter] = await transaction.query<{ value: number }>(
        "UPDATE counters SET value = value + 1 WHERE name = 'audit' RETURNING value",
      )
      const sequence = counter?.value ?? 0
      const previous = await HASHED.everywhere.find(transaction, { sequence: sequence - 1 })
      const { organizationId, actor, actorName, action, subject, detail, requestId, address = '' } = record
      const entry = {
        sequence,
        organizationId,
        actor,
        actorName,
        action,
        subject,
        detail,
        requestId,
        address,
        atSeconds: scope.nowSeconds(),
        previousHash: previous?.hash ?? AUDIT_ROOT,
      }
      return ENTRIES.insert(transaction, { ...entry, hash: auditHashOf(entry) })
    }),

  page: (filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> => {
    const { actionPrefix, actor, sinceSeconds, untilSeconds, overridden, ...which } = filter
    const length = [...(actionPrefix ?? '')].length
    return ENTRIES.everywhere.page(
      scope,
      which,
      {
        by: ['sequence'],
        descending: true,
        indexed: which.sequence === undefined ? ['organizationId'] : undefined,
      },
      page,
      actionPrefix === undefined ? undefined : sql`substr(action, 1, CAST(${length} AS INTEGER)) = ${actionPrefix}`,
      actor === undefined ? undefined : sql`(actor = ${actor} OR LOWER(actor_name) = ${actor.toLowerCase()})`,
      sinceSeconds === undefined ? undefined : sql`at_seconds >= ${sinceSeconds}`,
      untilSeconds === undefined ? undefined : sql`at_seconds < ${untilSeconds}`,
      // Quotes in JSON strings are escaped, so this matches only a member.
      overridden === true ? sql`detail LIKE '%"override":true%'` : undefined,
    )
  },

  listAfter: (sequence: number, limit: number): Promise<readonly AuditEntry[]> =>
    ENTRIES.everywhere.list(scope, { sequence: sql`> ${sequence}` }, { by: ['sequence'], limit }),

  verify: async (): Promise<AuditVerification> => {
    let sequence = 0
    let headHash = AUDIT_ROOT
    const broken = (brokenAt: number): AuditVerification => ({ ok: false, entries: sequence, brokenAt, headHash })
    for (;;) {
      const after = { sequence: sql`> ${sequence}` }
      const rows = await HASHED.everywhere.list(scope, after, { by: ['sequence'], limit: VERIFY_BATCH })
      for (const row of rows) {
        const fits = row.sequence === sequence + 1 && row.previousHash === headHash && hashOf(row) === row.hash
        if (!fits) return broken(sequence + 1)
        sequence = row.sequence
        headHash = row.hash
      }
      if (rows.length < VERIFY_BATCH) break
      await nextTurn()
    }
    // If the last entries were removed, the counter exceeds the last sequence number.
    const [counter] = await scope.statements.query<{ value: number }>("SELECT value FROM counters WHERE name = 'audit'")
    if ((counter?.value ?? 0) > sequence) return broken(sequence + 1)
    return { ok: true, entries: sequence, brokenAt: null, headHash }
  },
})

export type AuditTable = ReturnType<typeof createAuditTable>

export const auditProblem = async (audit: Pick<AuditTable, 'listAfter'>, head: AuditHead): Promise<string | null> => {
  if (head.sequence === 0) return null
  const [entry] = await audit.listAfter(head.sequence - 1, 1)
  if (entry?.sequence === head.sequence && entry.hash === head.hash) return null
  return `its entry ${head.sequence} is ${entry === undefined ? 'missing' : 'different'}`
}
