// The audit log: who changed what, and when, written in the transaction that makes the change. Each entry holds the
// SHA-256 of the entry before, over all organizations, so that none can be altered, inserted or removed from the middle
// unnoticed. The database refuses to change or delete entries; the chain reveals anyone who bypasses the database.
import { createHash } from 'node:crypto'
import type { TableScope } from './copy/table-scope.ts'
import { addFilter, type Page, type PageRequest, queryPage } from './paging.ts'
import { fieldsOf, insertRow, type RowOf } from './row-fields.ts'
import { lockDeployment } from './row-locks.ts'

/** A change that was made. Holds no secret, not even in `detail`. */
export interface AuditRecord {
  /** Null for what belongs to the deployment. */
  readonly organizationId: string | null
  /** `user:<id>`, `key:<key id>`, `command-line` or `service`. */
  readonly actor: string
  /** The actor's name at that time. */
  readonly actorName: string
  /** For example `key.revoke`. */
  readonly action: string
  /** Id of what was changed. */
  readonly subject: string
  /** Selected fields: the given values, or each changed field's value before and after. */
  readonly detail: Readonly<Record<string, unknown>>
  readonly requestId: string
  /** Where the request came from; empty, or left out, if it came over no network. */
  readonly address?: string
}

export interface AuditEntry extends Required<AuditRecord> {
  /** Increments by one with every entry of the deployment. */
  readonly sequence: number
  readonly atSeconds: number
  readonly previousHash: string
  readonly hash: string
}

type AuditRow = RowOf<Omit<AuditEntry, 'detail'>> & {
  readonly detail: string
}

/** The newest entry of the log. */
export interface AuditHead {
  readonly sequence: number
  /** Hex. */
  readonly hash: string
}

/** The previous hash of the first entry. */
export const AUDIT_ROOT = '0'.repeat(64)

const COLUMNS = `sequence, at_seconds, organization_id, actor, actor_name, action, subject, detail, request_id,
  address, previous_hash, hash`

/**
 * SHA-256 over a JSON array of all columns except the hash, in this order, so that anyone can verify it. The address
 * comes last, and only if there is one, so that entries from before addresses existed keep their hashes.
 */
export const auditHash = (row: Omit<AuditRow, 'hash'>): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        row.sequence,
        row.at_seconds,
        row.organization_id,
        row.actor,
        row.actor_name,
        row.action,
        row.subject,
        row.detail,
        row.request_id,
        row.previous_hash,
        ...(row.address === '' ? [] : [row.address]),
      ]),
    )
    .digest('hex')

const toEntry = (row: AuditRow): AuditEntry => ({
  ...fieldsOf(row),
  detail: JSON.parse(row.detail) as Record<string, unknown>,
})

/** The hash that an entry must have. */
export const auditHashOf = (entry: AuditEntry): string =>
  auditHash({
    sequence: entry.sequence,
    at_seconds: entry.atSeconds,
    organization_id: entry.organizationId,
    actor: entry.actor,
    actor_name: entry.actorName,
    action: entry.action,
    subject: entry.subject,
    detail: JSON.stringify(entry.detail),
    request_id: entry.requestId,
    address: entry.address,
    previous_hash: entry.previousHash,
  })

export interface AuditFilter {
  /** Left out: the whole deployment. */
  readonly organizationId?: string
  readonly action?: string
  /** Prefix of the action, for example `key.` */
  readonly actionPrefix?: string
  /** An id, or the name at that time in upper or lower case. */
  readonly actor?: string
  readonly subject?: string
  readonly sequence?: number
  readonly sinceSeconds?: number
  /** Exclusive. */
  readonly untilSeconds?: number
  /** Only changes that overrode the second person's rule. */
  readonly overridden?: boolean
}

interface AuditVerification {
  readonly ok: boolean
  readonly entries: number
  /** The first entry that does not fit the chain; null when all do. */
  readonly brokenAt: number | null
  /** Hash of the newest entry. Noted elsewhere, it proves later that no entry up to it was changed or removed. */
  readonly headHash: string
}

const VERIFY_BATCH = 500

/** How many entries `newest` searches: a page that is read every few seconds must not read the whole log. */
const NEWEST_LOOKED_AT = 2_000

export const createAuditTable = (scope: TableScope) => ({
  /** Entries of these actions among the deployment's newest entries, oldest first. */
  newest: async (actions: readonly string[], sinceSeconds: number): Promise<readonly AuditEntry[]> => {
    const rows = await scope.statements.query<AuditRow>(
      `SELECT ${COLUMNS} FROM audit_log
       WHERE sequence > (SELECT COALESCE(MAX(sequence), 0) FROM audit_log) - ${NEWEST_LOOKED_AT}
         AND at_seconds >= ? AND action IN (${actions.map(() => '?').join(', ')}) ORDER BY sequence`,
      [sinceSeconds, ...actions],
    )
    return rows.map(toEntry)
  },

  append: (record: AuditRecord): Promise<AuditEntry> =>
    scope.write(async (transaction) => {
      // Take this lock before the other counter's, in every transaction, so that two can't each hold one of them.
      await lockDeployment(transaction)
      // The counter's row stays locked until the commit, so each entry knows the one before it.
      const [counter] = await transaction.query<{ value: number }>(
        "UPDATE counters SET value = value + 1 WHERE name = 'audit' RETURNING value",
      )
      const sequence = counter?.value ?? 0
      const [previous] = await transaction.query<{ hash: string }>('SELECT hash FROM audit_log WHERE sequence = ?', [
        sequence - 1,
      ])
      const fields = {
        sequence,
        at_seconds: scope.nowSeconds(),
        organization_id: record.organizationId,
        actor: record.actor,
        actor_name: record.actorName,
        action: record.action,
        subject: record.subject,
        detail: JSON.stringify(record.detail),
        request_id: record.requestId,
        address: record.address ?? '',
        previous_hash: previous?.hash ?? AUDIT_ROOT,
      }
      const row: AuditRow = { ...fields, hash: auditHash(fields) }
      await insertRow(transaction, 'audit_log', row)
      return toEntry(row)
    }),

  /** Newest first. */
  page: (filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> => {
    const where: string[] = []
    const parameters: (string | number)[] = []
    addFilter(where, parameters, 'organization_id', filter.organizationId)
    addFilter(where, parameters, 'action', filter.action)
    if (filter.actionPrefix !== undefined) {
      where.push('substr(action, 1, CAST(? AS INTEGER)) = ?')
      parameters.push([...filter.actionPrefix].length, filter.actionPrefix)
    }
    if (filter.actor !== undefined) {
      where.push('(actor = ? OR LOWER(actor_name) = ?)')
      parameters.push(filter.actor, filter.actor.toLowerCase())
    }
    if (filter.sinceSeconds !== undefined) {
      where.push('at_seconds >= ?')
      parameters.push(filter.sinceSeconds)
    }
    if (filter.untilSeconds !== undefined) {
      where.push('at_seconds < ?')
      parameters.push(filter.untilSeconds)
    }
    addFilter(where, parameters, 'subject', filter.subject)
    addFilter(where, parameters, 'sequence', filter.sequence)
    // Quotes of a text within the JSON are escaped, so only a member of this name matches.
    if (filter.overridden === true) where.push(`detail LIKE '%"override":true%'`)
    return queryPage<AuditRow, AuditEntry>(
      scope.statements,
      { select: `SELECT ${COLUMNS} FROM audit_log`, where, parameters, order: ['sequence'], descending: true },
      page,
      toEntry,
    )
  },

  /** Oldest first, of the whole deployment: for its own administration. */
  listAfter: async (sequence: number, limit: number): Promise<readonly AuditEntry[]> =>
    (
      await scope.statements.query<AuditRow>(
        `SELECT ${COLUMNS} FROM audit_log WHERE sequence > ? ORDER BY sequence LIMIT ?`,
        [sequence, limit],
      )
    ).map(toEntry),

  /** Verifies the whole chain, and lets other work run now and then. */
  verify: async (): Promise<AuditVerification> => {
    let sequence = 0
    let headHash = AUDIT_ROOT
    const broken = (brokenAt: number): AuditVerification => ({ ok: false, entries: sequence, brokenAt, headHash })
    for (;;) {
      const rows = await scope.statements.query<AuditRow>(
        `SELECT ${COLUMNS} FROM audit_log WHERE sequence > ? ORDER BY sequence LIMIT ?`,
        [sequence, VERIFY_BATCH],
      )
      for (const row of rows) {
        const { hash, ...fields } = row
        const fits = row.sequence === sequence + 1 && row.previous_hash === headHash && auditHash(fields) === hash
        if (!fits) return broken(sequence + 1)
        sequence = row.sequence
        headHash = hash
      }
      if (rows.length < VERIFY_BATCH) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    // If entries were removed at the end, the counter is ahead of the newest entry.
    const [counter] = await scope.statements.query<{ value: number }>("SELECT value FROM counters WHERE name = 'audit'")
    if ((counter?.value ?? 0) > sequence) return broken(sequence + 1)
    return { ok: true, entries: sequence, brokenAt: null, headHash }
  },
})

export type AuditTable = ReturnType<typeof createAuditTable>
