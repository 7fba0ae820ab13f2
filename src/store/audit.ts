// The audit log: who changed what, when, in the transaction that changed it. Each entry carries the SHA-256 of the one
// before, over all organizations, so that none can be altered, put in or taken out of the middle without a trace. The
// database refuses to change or delete entries; the chain shows it where someone went around the database.
import { createHash } from 'node:crypto'
import { addFilter, type Page, type PageRequest, queryPage } from './paging.ts'
import { lockDeployment } from './row-locks.ts'
import type { TableScope } from './table-scope.ts'

/** What changed. Never holds a secret, in `detail` neither. */
export interface AuditRecord {
  /** Null for what belongs to the deployment. */
  readonly organizationId: string | null
  /** `user:<id>`, `key:<key id>`, `command-line` or `service`. */
  readonly actor: string
  /** As the actor was called then. */
  readonly actorName: string
  /** For example `key.revoke`. */
  readonly action: string
  /** Id of what was changed. */
  readonly subject: string
  /** Chosen fields: what was given, or each changed field's value before and after. */
  readonly detail: Readonly<Record<string, unknown>>
  readonly requestId: string
  /** Where the request came from; empty, or left out, for what came over no network. */
  readonly address?: string
}

export interface AuditEntry extends Required<AuditRecord> {
  /** Rises by one with every entry of the deployment. */
  readonly sequence: number
  readonly atSeconds: number
  readonly previousHash: string
  readonly hash: string
}

interface AuditRow {
  readonly sequence: number
  readonly at_seconds: number
  readonly organization_id: string | null
  readonly actor: string
  readonly actor_name: string
  readonly action: string
  readonly subject: string
  readonly detail: string
  readonly request_id: string
  readonly address: string
  readonly previous_hash: string
  readonly hash: string
}

/** Of the entry before the first. */
export const AUDIT_ROOT = '0'.repeat(64)

const COLUMNS = `sequence, at_seconds, organization_id, actor, actor_name, action, subject, detail, request_id,
  address, previous_hash, hash`

/**
 * SHA-256 over a JSON array of all columns but the hash itself, in this order. Anyone can compute it again. The address comes
 * last and only where there is one: entries from before there were addresses keep their hashes.
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
  sequence: row.sequence,
  atSeconds: row.at_seconds,
  organizationId: row.organization_id,
  actor: row.actor,
  actorName: row.actor_name,
  action: row.action,
  subject: row.subject,
  detail: JSON.parse(row.detail) as Record<string, unknown>,
  requestId: row.request_id,
  address: row.address,
  previousHash: row.previous_hash,
  hash: row.hash,
})

/** The hash that an entry has to have. */
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
  /** Left out: of the whole deployment. */
  readonly organizationId?: string
  readonly action?: string
  /** How the action begins: `key.` */
  readonly actionPrefix?: string
  readonly actor?: string
  readonly subject?: string
  /** Only changes for which the second person's rule was overridden. */
  readonly overridden?: boolean
}

export interface AuditVerification {
  readonly ok: boolean
  readonly entries: number
  /** The first entry that does not fit; null when all do. */
  readonly brokenAt: number | null
  /** Of the newest entry. Noted elsewhere, it proves later that nothing up to it was changed or cut off. */
  readonly headHash: string
}

const VERIFY_BATCH = 500

export const createAuditTable = (scope: TableScope) => ({
  append: (record: AuditRecord): Promise<AuditEntry> =>
    scope.write(async (transaction) => {
      // Before the other counter, whichever a transaction needs first: two must not hold one each.
      await lockDeployment(transaction)
      // The counter's row lock is held until the commit: entries follow each other, each knowing the one before.
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
      await transaction.execute(`INSERT INTO audit_log (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, [
        row.sequence,
        row.at_seconds,
        row.organization_id,
        row.actor,
        row.actor_name,
        row.action,
        row.subject,
        row.detail,
        row.request_id,
        row.address,
        row.previous_hash,
        row.hash,
      ])
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
    addFilter(where, parameters, 'actor', filter.actor)
    addFilter(where, parameters, 'subject', filter.subject)
    // Quotes of a text within the JSON are escaped, so only a member of this name has these characters.
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

  /** Goes through the whole chain, giving others a turn now and then. */
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
    // Entries cut off at the end are missed by the counter, which goes on.
    const [counter] = await scope.statements.query<{ value: number }>("SELECT value FROM counters WHERE name = 'audit'")
    if ((counter?.value ?? 0) > sequence) return broken(sequence + 1)
    return { ok: true, entries: sequence, brokenAt: null, headHash }
  },
})

export type AuditTable = ReturnType<typeof createAuditTable>
