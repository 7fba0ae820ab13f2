// Sessions as others use them: registered, read, moved along. Each function names the organization, save the portal's
// look-up by link. The parts are in the files beside this one.

import type { ApiKeyEnvironment } from '../domain/api-key.ts'
import type { CheckType, SessionEvent, SessionState, SessionStatus } from '../domain/session.ts'
import type { SqlParameter } from './database.ts'
import { addEvent, announceSession } from './session-changes.ts'
import { createRegistration } from './session-registration.ts'
import { lockSession, readState, SESSION_COLUMNS, type SessionRow, toSession } from './session-rows.ts'
import { createStatusWriter } from './session-status.ts'
import { createTokenReader } from './session-tokens.ts'
import type { TableScope } from './table-scope.ts'

export interface SessionFilter {
  readonly status?: SessionStatus
  readonly checkType?: CheckType
  readonly environment?: ApiKeyEnvironment
  readonly limit: number
}

interface EventRow {
  readonly sequence: number
  readonly kind: SessionEvent['kind']
  readonly status: SessionStatus
  readonly actor: string
  readonly public_comment: string | null
  readonly private_comment: string | null
  readonly created_at_seconds: number
}

const toEvent = (row: EventRow): SessionEvent => ({
  sequence: row.sequence,
  kind: row.kind,
  status: row.status,
  actor: row.actor,
  publicComment: row.public_comment,
  privateComment: row.private_comment,
  createdAtSeconds: row.created_at_seconds,
})

export const createSessionTable = (scope: TableScope) => ({
  ...createRegistration(scope),
  ...createTokenReader(scope),
  /** See session-status.ts: the only way in which a status changes. */
  changeStatus: createStatusWriter(scope),

  /** Null when the organization has no such session. */
  find: (organizationId: string, sessionId: string): Promise<SessionState | null> =>
    readState(scope.statements, organizationId, sessionId),

  /** Newest first. */
  list: async (organizationId: string, filter: SessionFilter) => {
    const conditions = ['organization_id = ?']
    const parameters: SqlParameter[] = [organizationId]
    const add = (column: string, value: string | undefined): void => {
      if (value === undefined) return
      conditions.push(`${column} = ?`)
      parameters.push(value)
    }
    add('status', filter.status)
    add('check_type', filter.checkType)
    add('environment', filter.environment)
    const rows = await scope.statements.query<SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM sessions WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT ?`,
      [...parameters, filter.limit],
    )
    return rows.map(toSession)
  },

  /** Everything that happened to a session, oldest first. */
  listEvents: async (organizationId: string, sessionId: string): Promise<readonly SessionEvent[]> =>
    (
      await scope.statements.query<EventRow>(
        `SELECT sequence, kind, status, actor, public_comment, private_comment, created_at_seconds FROM session_events
         WHERE organization_id = ? AND session_id = ? ORDER BY sequence`,
        [organizationId, sessionId],
      )
    ).map(toEvent),

  /**
   * Records that the person agreed to share the result with other organizations, and to which text (threats row 3). The
   * first consent stays. Null when the organization has no such session.
   */
  recordConsent: (input: {
    readonly organizationId: string
    readonly sessionId: string
    /** Names the text that was shown. */
    readonly version: string
    readonly actor: string
  }): Promise<SessionState | null> =>
    scope.write(
      async (transaction) => {
        const nowSeconds = scope.nowSeconds()
        const { organizationId, sessionId, version, actor } = input
        const session = await lockSession(transaction, organizationId, sessionId, nowSeconds)
        if (session === null) return null
        if (session.consentedAtSeconds === null) {
          const sequence = session.sequence + 1
          await transaction.execute(
            `UPDATE sessions SET consent_version = ?, consented_at_seconds = ?, sequence = ?
             WHERE organization_id = ? AND id = ?`,
            [version, nowSeconds, sequence, organizationId, sessionId],
          )
          await addEvent(transaction, session, {
            ...{ sequence, kind: 'consented', status: session.status, actor },
            ...{ publicComment: null, privateComment: version, createdAtSeconds: nowSeconds },
          })
        }
        const state = await readState(transaction, organizationId, sessionId)
        // What other organizations may see of its wallets changes with it.
        if (state !== null) await announceSession(transaction, state, nowSeconds)
        return state
      },
      { survives: 'power-loss' },
    ),
})

export type SessionTable = ReturnType<typeof createSessionTable>
