// Keyed hashes of submitted data, to find other identities with the same document, portrait or person.
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Session } from '../../domain/session.ts'
import { bytes, sql, text } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { EVIDENCE, keptOf } from '../evidence/evidence-rows.ts'
import { requireKeyInUse } from '../organizations/organization-keys.ts'
import { defineTable } from '../table.ts'
import { IS_SAME_WALLET } from './persons.ts'
import { NEEDS_OPERATOR } from './rejections.ts'
import { lockSessionAsItIs } from './session-rows.ts'

interface Trace {
  readonly kind: string
  readonly value: string
}

interface FoundTrace extends Trace {
  readonly sessionId: string
}

interface TraceRow extends Trace {
  readonly session_id: string
}

/** Maximum sessions shown, by value; and maximum candidates for a bitwise comparison, by kind. */
const FOUND_MAX = { value: 20, kind: 2_000 } as const
const DURABILITY = { survives: 'process-crash' } as const

const TRACES = defineTable('session_traces', { organizationId: text, sessionId: text, kind: text, value: text })
const KEYS = defineTable('trace_keys', { organizationId: text, sealedKey: bytes })

export const eraseTraces = (transaction: Transaction, organizationId: string, sessionId: string): Promise<number> =>
  TRACES.removeAll(transaction, { organizationId, sessionId })

/** The sort expression keeps SQLite from scanning all traces. @param wanted number of kinds or values in the query */
export const findOthers = (by: 'kind' | 'value', wanted: number): string =>
  `SELECT t.session_id, t.kind, t.value FROM session_traces t
   JOIN sessions s ON s.organization_id = t.organization_id AND s.id = t.session_id
   WHERE t.organization_id = ? AND ${by === 'kind' ? '' : 't.kind = ? AND '}
     t.${by} IN (${Array.from({ length: wanted }, () => '?').join(', ')}) AND t.session_id <> ? AND s.environment = ?
     AND (${NEEDS_OPERATOR} OR ((s.person_id IS NULL OR s.person_id <> ?)
     AND NOT EXISTS (SELECT 1 FROM session_wallets mine JOIN session_wallets theirs ON ${IS_SAME_WALLET}
       WHERE mine.organization_id = t.organization_id AND mine.session_id = ?
         AND theirs.organization_id = t.organization_id AND theirs.session_id = t.session_id)))
   ORDER BY t.session_id || '' DESC LIMIT ${FOUND_MAX[by]}`

export const createSessionTraceTable = (scope: TableScope) => {
  const readKey = async (organizationId: string, statements: Statements = scope): Promise<Uint8Array | null> =>
    (await KEYS.find(statements, { organizationId }))?.sealedKey ?? null

  const ofOthers = async (
    session: Pick<Session, 'organizationId' | 'id' | 'personId'> & { readonly environment: ApiKeyEnvironment },
    by: 'kind' | 'value',
    wanted: readonly string[],
    kind: readonly string[],
  ): Promise<readonly FoundTrace[]> => {
    if (wanted.length === 0) return []
    const { organizationId, id, environment, personId } = session
    const rows = await scope.statements.query<TraceRow>(findOthers(by, wanted.length), [
      organizationId,
      ...kind,
      ...wanted,
      id,
      environment,
      personId ?? '',
      id,
    ])
    return rows.map((row) => ({ sessionId: row.session_id, kind: row.kind, value: row.value }))
  }

  return {
    findKey: (organizationId: string) => readKey(organizationId),

    /** Returns the stored key; another process may have stored its own first. @throws OrganizationKeyExchangedError */
    addKey: (organizationId: string, sealed: Uint8Array, sealedUnder: Uint8Array): Promise<Uint8Array> =>
      scope.write(async (transaction) => {
        await requireKeyInUse(transaction, organizationId, sealedUnder)
        await KEYS.insertNew(transaction, { organizationId, sealedKey: sealed })
        const kept = await readKey(organizationId, transaction)
        if (kept === null) throw new Error('the key of traces was deleted inside its own transaction')
        return kept
      }),

    /** Replaces traces whose kind starts with `group`. Adds none if the evidence was erased. */
    replace: (organizationId: string, sessionId: string, group: string, traces: readonly Trace[]): Promise<void> =>
      scope.write(async (transaction) => {
        // Erasing the evidence locks the session too.
        await lockSessionAsItIs(transaction, organizationId, sessionId)
        await TRACES.removeAll(transaction, { organizationId, sessionId, kind: sql`LIKE ${`${group}%`}` })
        if ((await EVIDENCE.find(transaction, keptOf({ organizationId, sessionId }))) === null) return
        for (const { kind, value } of traces) {
          await TRACES.insert(transaction, { organizationId, sessionId, kind, value })
        }
      }, DURABILITY),

    findValues: (session: Parameters<typeof ofOthers>[0], kind: string, values: readonly string[]) =>
      ofOthers(session, 'value', values, [kind]),

    findKinds: (session: Parameters<typeof ofOthers>[0], kinds: readonly string[]) =>
      ofOthers(session, 'kind', kinds, []),
  }
}
