import type { WalletAddress } from '../../domain/address.ts'
import type { ApiKeyEnvironment } from '../../domain/api-key.ts'
import type { Level } from '../../domain/level.ts'
import type { SessionPart } from '../../domain/requirements.ts'
import type { HitState } from '../../domain/screening-hit.ts'
import type { CheckType, Session, SessionState, SessionStatus } from '../../domain/session.ts'
import { type Expression, sql } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Page, PageRequest } from '../paging.ts'
import { lockDeployment } from '../row-locks.ts'
import { requireNotRejected } from './automatic-completion.ts'
import { findLinkedSessions, type LinkedSessions } from './linked-sessions.ts'
import { announceSession } from './session-changes.ts'
import { writeConsent } from './session-consent.ts'
import { createSessionHistory } from './session-history.ts'
import { createRegistration } from './session-registration.ts'
import { findMissingParts } from './session-requirements.ts'
import { lockSessionAsItIs, lockState, readState, SESSIONS } from './session-rows.ts'
import { createCheckQueuer, createStatusWriter } from './session-status.ts'
import { createTokenReader } from './session-tokens.ts'

interface SessionFilter {
  readonly organizationId: string
  readonly status?: SessionStatus
  readonly checkType?: CheckType
  readonly environment?: ApiKeyEnvironment
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

const conditionsOf = (filter: SessionFilter): (Expression | undefined)[] => {
  const { organizationId, hits, wallet, createdBeforeSeconds, assignedTo } = filter
  const assigned = sql`SELECT session_id FROM session_assignments WHERE organization_id = ${organizationId}`
  return [
    hits === 'none'
      ? sql`NOT EXISTS (SELECT 1 FROM screening_hits h WHERE h.organization_id = sessions.organization_id
        AND h.session_id = sessions.id)`
      : hits &&
        sql`id IN (SELECT session_id FROM screening_hits WHERE organization_id = ${organizationId} AND state = ${hits})`,
    // Each part uses an index that starts with the address.
    wallet &&
      sql`id IN (
        SELECT session_id FROM session_wallets
        WHERE address = ${wallet} AND environment IN ('live', 'test') AND organization_id = ${organizationId}
        UNION ALL
        SELECT session_id FROM session_removed_wallets
        WHERE address = ${wallet} AND environment IN ('live', 'test') AND organization_id = ${organizationId}
        UNION ALL
        SELECT id FROM sessions
        WHERE locked_address = ${wallet} AND environment IN ('live', 'test') AND organization_id = ${organizationId})`,
    createdBeforeSeconds === undefined ? undefined : sql`created_at_seconds < ${createdBeforeSeconds}`,
    assignedTo === undefined
      ? undefined
      : assignedTo === null
        ? sql`NOT EXISTS (${assigned} AND session_id = sessions.id AND user_id IS NOT NULL)`
        : sql`id IN (${assigned} AND user_id = ${assignedTo})`,
  ]
}

const openHits = ({ organizationId }: SessionFilter): Expression =>
  sql`SELECT session_id FROM screening_hits WHERE organization_id = ${organizationId} AND state = 'open'`

const pageOf = (
  scope: TableScope,
  filter: SessionFilter,
  page: PageRequest,
  part?: 'open' | 'others',
): Promise<Page<Session>> => {
  const { organizationId, status, checkType, environment, id, level, userId, wallet, hits, assignedTo } = filter
  const ofPart = part && (part === 'open' ? sql`id IN (${openHits(filter)})` : sql`id NOT IN (${openHits(filter)})`)
  const isSelective =
    part === 'open' || [id, userId, wallet, assignedTo ?? undefined].some((value) => value !== undefined)
  const inSteps = !isSelective && (hits === undefined || hits === 'none')
  const which = { organizationId, status, checkType, environment, id, level, userId }
  return SESSIONS.page(
    scope.statements,
    which,
    {
      by: ['id'],
      descending: filter.oldestFirst !== true,
      indexed: inSteps ? ['organizationId', 'status'] : undefined,
    },
    page,
    ...conditionsOf(filter),
    ofPart,
  )
}

export const createSessionTable = (scope: TableScope) => ({
  ...createRegistration(scope),
  ...createTokenReader(scope),
  ...createSessionHistory(scope),
  changeStatus: createStatusWriter(scope),
  queueMissingChecks: createCheckQueuer(scope),

  find: (organizationId: string, sessionId: string): Promise<SessionState | null> =>
    readState(scope.statements, organizationId, sessionId),

  /** The links and rejections can change at any time. @throws LinkedSessionsError, RejectedBeforeError */
  readLinked: async (session: Session): Promise<LinkedSessions> => {
    const linked = await findLinkedSessions(scope.statements, session)
    await requireNotRejected(scope.statements, session, linked)
    return linked
  },

  /** Call with the session locked: the links don't change until the transaction ends. @throws LinkedSessionsError */
  findLinked: (session: Session): Promise<LinkedSessions> =>
    scope.write(async (transaction) => {
      await lockDeployment(transaction)
      return findLinkedSessions(transaction, session)
    }),

  findMissing: (session: Session): Promise<readonly SessionPart[]> => findMissingParts(scope.statements, session),

  lock: (organizationId: string, sessionId: string): Promise<SessionState | null> =>
    scope.write(async (transaction) => {
      await lockSessionAsItIs(transaction, organizationId, sessionId)
      return readState(transaction, organizationId, sessionId)
    }),

  page: (filter: SessionFilter, page: PageRequest): Promise<Page<Session>> => pageOf(scope, filter, page),

  /** Sessions with an open hit come first. Both parts are sorted like `page`; a position starts with its part. */
  pageByHits: async (filter: SessionFilter, { after, limit }: PageRequest): Promise<Page<Session>> => {
    const [part = 'open', ...position] = after ?? []
    const start = position.length === 0 || position[0] === '' ? null : position
    const listed =
      part === 'open' ? await pageOf(scope, filter, { after: start, limit }, 'open') : { items: [], next: null }
    if (listed.next !== null) return { items: listed.items, next: ['open', ...listed.next] }
    const others = { after: part === 'open' ? null : start, limit: limit - listed.items.length }
    // If the first part fills the page, the next page starts with the second part.
    if (others.limit === 0) return { items: listed.items, next: ['others', ''] }
    const rest = await pageOf(scope, filter, others, 'others')
    return {
      items: [...listed.items, ...rest.items],
      next: rest.next === null ? null : ['others', ...rest.next],
    }
  },

  /** Records consent to share the result with other organizations (threats row 3). Keeps earlier consent. */
  recordConsent: (input: {
    readonly organizationId: string
    readonly sessionId: string
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
      // A power loss that loses this change also loses all later changes, because they follow in the same log.
      { survives: 'process-crash' },
    ),
})
