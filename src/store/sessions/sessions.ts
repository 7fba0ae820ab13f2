// Registers, reads and changes sessions; the other files of this folder contain the parts. Each function takes the
// organization, except the portal's lookup by link.

import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Level } from '../../domain/level.ts'
import type { SessionPart } from '../../domain/requirements.ts'
import type { HitState } from '../../domain/screening-hit.ts'
import type { CheckType, Session, SessionState, SessionStatus } from '../../domain/session.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { SqlParameter } from '../database.ts'
import { addFilter, type Page, type PageRequest, queryPage } from '../paging.ts'
import { lockDeployment } from '../row-locks.ts'
import { findLinkedSessions, type LinkedSessions } from './linked-sessions.ts'
import { announceSession } from './session-changes.ts'
import { writeConsent } from './session-consent.ts'
import { createSessionHistory } from './session-history.ts'
import { createRegistration } from './session-registration.ts'
import { findMissingParts } from './session-requirements.ts'
import { lockSessionAsItIs, lockState, readState, SESSION_COLUMNS, type SessionRow, toSession } from './session-rows.ts'
import { createCheckQueuer, createStatusWriter } from './session-status.ts'
import { createTokenReader } from './session-tokens.ts'

interface SessionFilter {
  readonly organizationId: string
  readonly status?: SessionStatus
  readonly checkType?: CheckType
  readonly environment?: ApiKeyEnvironment
  /** Null for unassigned sessions. */
  readonly assignedTo?: string | null
  readonly createdBeforeSeconds?: number
  readonly id?: string
  /** A connected wallet, or the only wallet that can connect. */
  readonly wallet?: WalletAddress
  readonly userId?: string
  readonly oldestFirst?: boolean
  readonly level?: Level
  /** `none`: sessions without hits. */
  readonly hits?: HitState | 'none'
}

export const createSessionTable = (scope: TableScope) => ({
  ...createRegistration(scope),
  ...createTokenReader(scope),
  ...createSessionHistory(scope),
  /** The only function that changes a status. */
  changeStatus: createStatusWriter(scope),
  queueMissingChecks: createCheckQueuer(scope),

  find: (organizationId: string, sessionId: string): Promise<SessionState | null> =>
    readState(scope.statements, organizationId, sessionId),

  /**
   * Call in a transaction that holds the session's lock. The links don't change until it ends.
   * @throws LinkedSessionsError if there are too many
   */
  findLinked: (session: Session): Promise<LinkedSessions> =>
    scope.write(async (transaction) => {
      await lockDeployment(transaction)
      return findLinkedSessions(transaction, session)
    }),

  findMissing: (session: Session): Promise<readonly SessionPart[]> => findMissingParts(scope.statements, session),

  /** Like `find`, but locks the session until the transaction ends. */
  lock: (organizationId: string, sessionId: string): Promise<SessionState | null> =>
    scope.write(async (transaction) => {
      await lockSessionAsItIs(transaction, organizationId, sessionId)
      return readState(transaction, organizationId, sessionId)
    }),

  /** Newest first unless `oldestFirst`. */
  page: (filter: SessionFilter, page: PageRequest): Promise<Page<Session>> => {
    const where = ['organization_id = ?']
    const parameters: SqlParameter[] = [filter.organizationId]
    addFilter(where, parameters, 'status', filter.status)
    addFilter(where, parameters, 'check_type', filter.checkType)
    addFilter(where, parameters, 'environment', filter.environment)
    addFilter(where, parameters, 'id', filter.id)
    addFilter(where, parameters, 'level', filter.level)
    addFilter(where, parameters, 'user_id', filter.userId)
    if (filter.hits === 'none') {
      where.push(`NOT EXISTS (SELECT 1 FROM screening_hits h WHERE h.organization_id = sessions.organization_id
        AND h.session_id = sessions.id)`)
    } else if (filter.hits !== undefined) {
      where.push('id IN (SELECT session_id FROM screening_hits WHERE organization_id = ? AND state = ?)')
      parameters.push(filter.organizationId, filter.hits)
    }
    if (filter.wallet !== undefined) {
      // Each part uses an index that starts with the address.
      where.push(`id IN (
        SELECT session_id FROM session_wallets WHERE address = ? AND environment IN ('live', 'test') AND organization_id = ?
        UNION ALL
        SELECT session_id FROM session_removed_wallets
        WHERE address = ? AND environment IN ('live', 'test') AND organization_id = ?
        UNION ALL
        SELECT id FROM sessions WHERE locked_address = ? AND environment IN ('live', 'test') AND organization_id = ?)`)
      const { wallet, organizationId } = filter
      parameters.push(wallet, organizationId, wallet, organizationId, wallet, organizationId)
    }
    if (filter.createdBeforeSeconds !== undefined) {
      where.push('created_at_seconds < ?')
      parameters.push(filter.createdBeforeSeconds)
    }
    if (filter.assignedTo !== undefined) {
      const assigned = `SELECT session_id FROM session_assignments WHERE organization_id = ? AND user_id `
      where.push(filter.assignedTo === null ? `id NOT IN (${assigned} IS NOT NULL)` : `id IN (${assigned} = ?)`)
      parameters.push(filter.organizationId, ...(filter.assignedTo === null ? [] : [filter.assignedTo]))
    }
    return queryPage<SessionRow, Session>(
      scope.statements,
      {
        select: `SELECT ${SESSION_COLUMNS} FROM sessions`,
        where,
        parameters,
        order: ['id'],
        descending: filter.oldestFirst !== true,
      },
      page,
      toSession,
    )
  },

  /**
   * Records the person's consent to share the result with other organizations, and its text (threats row 3). The first
   * consent stays.
   */
  recordConsent: (input: {
    readonly organizationId: string
    readonly sessionId: string
    /** Version of the displayed text. */
    readonly version: string
    readonly actor: string
  }): Promise<SessionState | null> =>
    scope.write(
      async (transaction) => {
        const nowSeconds = scope.nowSeconds()
        const { organizationId, sessionId, version, actor } = input
        const locked = await lockState(transaction, organizationId, sessionId, nowSeconds)
        if (locked === null) return null
        const session = await writeConsent(transaction, locked.session, { version, shares: true, actor }, nowSeconds)
        const state = { ...locked, session }
        // The consent changes which of the session's wallets are visible to other organizations.
        await announceSession(transaction, state, nowSeconds)
        return state
      },
      // Later changes follow in the same log: a power loss that loses this change also loses those.
      { survives: 'process-crash' },
    ),
})
