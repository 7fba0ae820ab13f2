// Keyed hashes of submitted data, to find other identities with the same document, portrait or person.
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Session } from '../../domain/session.ts'
import { among, bytes, Expression, sql, text } from '../columns.ts'
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

type Searched = Pick<Session, 'organizationId' | 'id' | 'personId'> & { readonly environment: ApiKeyEnvironment }

/** Matches the traces of other persons, and of sessions that an operator rejected. */
const ofOthers = ({ id, environment, personId }: Searched): Expression =>
  new Expression(
    `session_traces.session_id <> ? AND EXISTS (SELECT 1 FROM sessions s
       WHERE s.organization_id = session_traces.organization_id AND s.id = session_traces.session_id
         AND s.environment = ? AND (${NEEDS_OPERATOR} OR ((s.person_id IS NULL OR s.person_id <> ?)
         AND NOT EXISTS (SELECT 1 FROM session_wallets mine JOIN session_wallets theirs ON ${IS_SAME_WALLET}
           WHERE mine.organization_id = s.organization_id AND mine.session_id = ?
             AND theirs.organization_id = s.organization_id AND theirs.session_id = s.id))))`,
    [id, environment, personId ?? '', id],
  )

/** The sort expression keeps SQLite from scanning all traces. */
const findOfKinds = (session: Searched, kinds: readonly string[]): Expression =>
  sql`SELECT session_id, kind, value FROM session_traces
    WHERE organization_id = ${session.organizationId} AND kind ${among(kinds)} AND ${ofOthers(session)}
    ORDER BY session_id || '' DESC LIMIT ${FOUND_MAX.kind}`

export const createSessionTraceTable = (scope: TableScope) => {
  const readKey = async (organizationId: string, statements: Statements = scope): Promise<Uint8Array | null> =>
    (await KEYS.find(statements, { organizationId }))?.sealedKey ?? null

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

    /** Returns the newest traces. Reads in steps, because many sessions can have the same value. */
    findValues: async (session: Searched, kind: string, values: readonly string[]): Promise<readonly FoundTrace[]> => {
      const { organizationId } = session
      const order = { by: ['sessionId'], descending: true, indexed: ['organizationId', 'kind', 'value'] } as const
      const page = { after: null, limit: FOUND_MAX.value }
      const found: FoundTrace[] = []
      for (const value of new Set(values)) {
        const { items } = await TRACES.page(scope, { organizationId, kind, value }, order, page, ofOthers(session))
        found.push(...items.map(({ sessionId }) => ({ sessionId, kind, value })))
      }
      return found.toSorted((one, other) => (one.sessionId < other.sessionId ? 1 : -1)).slice(0, FOUND_MAX.value)
    },

    findKinds: async (session: Searched, kinds: readonly string[]): Promise<readonly FoundTrace[]> => {
      if (kinds.length === 0) return []
      const { text, parameters } = findOfKinds(session, kinds)
      const { query, queryLong = query } = scope.statements
      const rows = await queryLong<TraceRow>(text, parameters)
      return rows.map((row) => ({ sessionId: row.session_id, kind: row.kind, value: row.value }))
    },
  }
}
