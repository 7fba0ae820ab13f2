// Review of sessions. A decision includes the state that it is based on, so that reviewers can't overwrite each other.
import { FieldInvalidError } from '../../domain/errors.ts'
import { LEVELS } from '../../domain/level.ts'
import { HIT_STATES } from '../../domain/screening-hit.ts'
import { CHECK_TYPES, COMMENT_MAX, isSessionOpen, type Session } from '../../domain/session.ts'
import { ChecksPendingError } from '../../domain/session-errors.ts'
import { parseWalletAddress } from '../../domain/wallet.ts'
import { HTTPS_LINK_MAX, parseHttpsLink } from '../../lib/https-link.ts'
import type { Page } from '../../store/paging.ts'
import type { Tables } from '../../store/store.ts'
import type { Actor } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { walletOf } from '../decisions/filter.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { declareRoutes, type Note, ORGANIZATION_ADMIN, REVIEWER, SecretReply } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, type Static, type TObject, Type } from '../schema.ts'
import { fieldMatcher } from '../session-search.ts'
import { detailOf, ENVIRONMENT, LEVEL, SESSION, SESSION_DETAIL, STATUS, showSession, TYPE } from '../session-shapes.ts'
import {
  BASE,
  correctionsOf,
  operator,
  requireNotAssignedElsewhere,
  requireReason,
  requireSession,
} from '../sessions.ts'
import { timeOf } from '../time.ts'

const route = declareRoutes('Sessions')

const CORRECTIONS = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: 20,
    description: 'Evidence fields and document kinds to correct, or `wallets`. Requires the status `retry`',
  }),
)
const COMMENT = Type.Optional(nullable(Type.String({ maxLength: COMMENT_MAX, printable: true })))

/** Sessions whose encrypted details one search request opens. */
const SEARCHED = 200

const SESSION_LINK = named(
  'SessionLink',
  closed({
    session_id: Type.String(),
    url: Type.String({ description: 'Link to the verification page; works only in the first browser that opens it' }),
  }),
)

const isSessionId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)

const showPage = async (
  tables: Pick<Tables, 'sessions' | 'sessionAssignments' | 'screeningChecks'>,
  organizationId: string,
  page: Page<Session>,
) => {
  const ids = page.items.map(({ id }) => id)
  const assignments = await tables.sessionAssignments.findMany(organizationId, ids)
  const submitted = await tables.sessions.findSubmittedTimes(organizationId, ids)
  const hits = await tables.screeningChecks.countMany(organizationId, ids)
  return pageAnswer(page, (session) =>
    showSession(session, assignments.get(session.id), submitted.get(session.id), hits.get(session.id)),
  )
}

const OVERRIDE = Type.Optional(
  Type.Boolean({
    description:
      'Whether to complete the session despite `missing` parts and confirmed hits. Requires the status `completed`. The audit log and the history record the override',
  }),
)

const DECISION = {
  sequence: Type.Integer({ minimum: 1 }),
  public_comment: COMMENT,
  private_comment: COMMENT,
  corrections: CORRECTIONS,
}

interface Decision {
  readonly tables: Tables
  readonly note: Note
  readonly actor: Actor
  readonly session: Session
  readonly body: Static<TObject<typeof DECISION>> & { readonly status: 'completed' | 'rejected' | 'retry' }
  readonly revoke: boolean
  readonly override: boolean
}

const decide = async ({ tables, note, actor, session, body, revoke, override }: Decision) => {
  const state = await tables.sessions.changeStatus({
    organizationId: session.organizationId,
    sessionId: session.id,
    to: body.status,
    actor: operator(actor),
    publicComment: body.public_comment ?? null,
    privateComment: body.private_comment ?? null,
    expectedSequence: body.sequence,
    ...correctionsOf(session, body.status, body.corrections),
    ...(revoke ? { revoke } : {}),
    ...(override ? { override: 'person' } : {}),
  })
  if (state === null) throw new SubjectUnknownError('session')
  const action = revoke ? 'session.revoke' : 'session.decide'
  const shown = await detailOf(tables, state)
  const overridden = shown.events.at(-1)?.overridden ?? []
  // Excludes the comments, which can be erased from the session's history.
  note({
    action,
    subject: session.id,
    detail: {
      status: [session.status, body.status],
      ...(overridden.length === 0 ? {} : { overridden: overridden.join(', ') }),
    },
  })
  return shown
}

export const SESSION_ROUTES = [
  route('listSessions', 'GET', BASE, {
    access: REVIEWER,
    command: { limit: 20 },
    summary: 'List sessions',
    description: 'Sessions with the status `submitted` await a decision.',
    query: Type.Object({
      ...PAGE_QUERY,
      status: Type.Optional(STATUS),
      type: Type.Optional(TYPE),
      environment: Type.Optional(ENVIRONMENT),
      level: Type.Optional(LEVEL),
      hits: Type.Optional(
        oneOf([...HIT_STATES, 'none'], 'State of a hit that the sessions must have; `none` for sessions without hits'),
      ),
      assigned_to: Type.Optional(Type.String({ maxLength: 100, description: 'User ID of the reviewer, or `nobody`' })),
      created_before: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive' })),
      wallet: Type.Optional(
        Type.String({ maxLength: 100, description: 'Connected wallet, or the only wallet that can be connected' }),
      ),
      user_id: Type.Optional(Type.String({ maxLength: 100, description: 'User ID of the person or business' })),
      order: Type.Optional(
        oneOf(
          ['newest', 'oldest', 'hits'],
          'Sort order; `hits`: sessions with an open hit first, then oldest first. Defaults to `newest`',
        ),
      ),
    }),
    answer: pageOf(SESSION),
    handle: async ({ services, organization, query }) => {
      const { status, type, environment, level, hits } = query
      const { assigned_to: assignedTo, created_before: before, wallet, user_id: userId, order } = query
      const { sessions } = services.store
      const page = await (order === 'hits' ? sessions.pageByHits : sessions.page)(
        {
          organizationId: organization.id,
          ...(status === undefined ? {} : { status }),
          ...(type === undefined ? {} : { checkType: CHECK_TYPES[type] }),
          ...(environment === undefined ? {} : { environment }),
          ...(level === undefined ? {} : { level: LEVELS[level] }),
          ...(hits === undefined ? {} : { hits }),
          ...(assignedTo === undefined ? {} : { assignedTo: assignedTo === 'nobody' ? null : assignedTo }),
          ...(before === undefined ? {} : { createdBeforeSeconds: timeOf('created_before', before) / 1000 }),
          ...(wallet === undefined ? {} : { wallet: walletOf('wallet', wallet) }),
          ...(userId === undefined ? {} : { userId }),
          oldestFirst: order === 'oldest' || order === 'hits',
        },
        pageRequest(query, order === 'hits' ? ['string', 'string'] : ['string']),
      )
      return showPage(services.store, organization.id, page)
    },
  }),
  route('searchSessions', 'POST', `${BASE}/search`, {
    access: REVIEWER,
    alone: 'reads',
    summary: 'Search sessions by name, number, wallet or ID',
    description: `Matches the beginning of each word of a name, part of a registration or document number, or a complete wallet or session ID. Names and numbers are encrypted: each request decrypts at most ${SEARCHED} sessions, newest first, and the next page continues. Finding a session by name or number counts as access to its evidence. The audit log records each search without its text.`,
    body: closed({
      text: Type.String({ minLength: 1, maxLength: 200 }),
      status: Type.Optional(STATUS),
      type: Type.Optional(TYPE),
      environment: Type.Optional(ENVIRONMENT),
      cursor: PAGE_QUERY.cursor,
    }),
    example: { text: 'Ada Byron', status: 'submitted' },
    answer: closed({
      data: Type.Array(SESSION),
      next_cursor: nullable(Type.String()),
      searched: Type.Integer({ description: 'Number of sessions that were searched for this page' }),
    }),
    handle: async ({ services, organization, actor, body, write }) => {
      const { store } = services
      const text = body.text.trim()
      const wallet = parseWalletAddress(text)
      const id = text.toLowerCase()
      const exact = wallet === null ? (isSessionId(id) ? { id } : null) : { wallet: wallet.address }
      const page = await store.sessions.page(
        {
          organizationId: organization.id,
          ...(body.status === undefined ? {} : { status: body.status }),
          ...(body.type === undefined ? {} : { checkType: CHECK_TYPES[body.type] }),
          ...(body.environment === undefined ? {} : { environment: body.environment }),
          ...exact,
        },
        pageRequest({ limit: SEARCHED, cursor: body.cursor }, ['string']),
      )
      const matches = exact === null ? fieldMatcher(text) : null
      const found =
        matches === null ? null : await services.identity.evidence.findByFields(page.items, matches, operator(actor))
      const items = page.items.filter((session) => (exact === null ? found?.has(session.id) === true : true))
      if (matches !== null) {
        await write(async (_tables, note) =>
          note({
            action: 'session.search',
            subject: organization.id,
            detail: { searched: page.items.length, found: items.map((session) => session.id) },
          }),
        )
      }
      return { ...(await showPage(store, organization.id, { ...page, items })), searched: page.items.length }
    },
  }),
  route('makeSession', 'POST', BASE, {
    access: ORGANIZATION_ADMIN,
    alone: 'one-session',
    summary: 'Create a session and a link for the person',
    description:
      'For organizations without a backend that calls the identity API. The response contains the link; only a hash of it is stored.',
    body: closed({
      type: TYPE,
      environment: Type.Optional(ENVIRONMENT),
      wallet_address: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
      origin_url: Type.Optional(nullable(Type.String({ maxLength: HTTPS_LINK_MAX }))),
    }),
    example: { type: 'individual' },
    status: 201,
    answer: SESSION_LINK,
    handle: async ({ services, organization, actor, body, write }) => {
      const { environment = 'live', wallet_address: address = null, origin_url: origin = null } = body
      const originUrl = origin === null ? null : parseHttpsLink(origin)
      if (origin !== null && originUrl === null) {
        throw new FieldInvalidError('origin_url', 'must be an absolute https URL without credentials')
      }
      return write(async (tables, note) => {
        const { created, sessionId, link } = await services.identity.sessions.make(tables, {
          originUrl,
          environment,
          organizationId: organization.id,
          checkType: CHECK_TYPES[body.type],
          walletAddress: address === null ? null : walletOf('wallet_address', address),
          actor: operator(actor),
        })
        note({ action: 'session.make', subject: sessionId, detail: { type: body.type, environment, created } })
        return new SecretReply(201, { session_id: sessionId, url: link }, { session_id: sessionId, url: '' })
      })
    },
  }),
  route('linkSession', 'POST', `${BASE}/{session}/link`, {
    access: ORGANIZATION_ADMIN,
    alone: 'one-session',
    summary: 'Create a new link for a session',
    description:
      'Only the ten newest links of a session are valid. The response contains the link; only a hash of it is stored.',
    status: 201,
    answer: SESSION_LINK,
    errors: [409],
    handle: ({ services, organization, params, write }) =>
      write(async (tables, note) => {
        const { session } = await requireSession(tables, organization.id, params.session)
        if (!isSessionOpen(session.status)) {
          throw new ConflictError(`the session is ${session.status} and can no longer be opened`)
        }
        const url = await services.identity.sessions.link(tables, organization.id, session.id)
        note({ action: 'session.link', subject: session.id })
        return new SecretReply(201, { session_id: session.id, url }, { session_id: session.id, url: '' })
      }),
  }),
  route('readSession', 'GET', `${BASE}/{session}`, {
    access: REVIEWER,
    summary: 'Show a session with its wallets and its history',
    answer: SESSION_DETAIL,
    handle: async ({ services, organization, params }) =>
      detailOf(services.store, await requireSession(services.store, organization.id, params.session)),
  }),
  route('assignSession', 'PUT', `${BASE}/{session}/assignment`, {
    access: REVIEWER,
    command: { name: 'session assign' },
    alone: 'one-session',
    summary: 'Assign a session to a reviewer',
    description: 'Fails if the assignment has changed since it was read.',
    body: closed({
      user_id: nullable(Type.String({ maxLength: 100 })),
      version: Type.Integer({ minimum: 0, description: '`assignment_version` of the session when it was read' }),
    }),
    answer: closed({ assigned_to: nullable(Type.String()), assignment_version: Type.Integer() }),
    errors: [409],
    handle: ({ organization, params, body, write }) =>
      write(async (tables, note) => {
        const { session } = await requireSession(tables, organization.id, params.session)
        const { user_id: userId } = body
        if (userId !== null) {
          const user = await tables.users.find(userId)
          const member = await tables.memberships.find(organization.id, userId)
          if (user === null || (member === null && !user.deploymentAdmin)) throw new SubjectUnknownError('member')
          if (member?.role === 'viewer')
            throw new ConflictError('a viewer cannot review sessions: assign a reviewer or an admin')
        }
        const assigned = await tables.sessionAssignments.assign({
          organizationId: organization.id,
          sessionId: session.id,
          userId,
          expectedVersion: body.version,
        })
        if (assigned === null) throw new ConflictError('the assignment has changed: read the session again')
        note({ action: 'session.assign', subject: session.id, detail: { assigned_to: userId } })
        return { assigned_to: assigned.userId, assignment_version: assigned.version }
      }),
  }),
  route('decideSession', 'POST', `${BASE}/{session}/decide`, {
    access: REVIEWER,
    command: false,
    alone: 'one-session',
    summary: 'Complete, reject or send back a session',
    description:
      'Fails if the session has changed since `sequence`, or is assigned to another reviewer. To change a completed session, revoke it. `rejected` is final and requires a public or private comment. Completing a session with `missing` parts fails with `SESSION_INCOMPLETE`, and with a confirmed hit with `SESSION_CONFLICT`, unless `override` is true. While checks are running, the request fails with `Retry-After`.',
    body: closed({ status: oneOf(['completed', 'rejected', 'retry']), ...DECISION, override: OVERRIDE }),
    answer: SESSION_DETAIL,
    errors: [409],
    handle: async ({ organization, actor, params, body, write, services }) => {
      const decided = write(async (tables, note) => {
        requireReason(body.status, body)
        const { session } = await requireSession(tables, organization.id, params.session)
        await requireNotAssignedElsewhere(tables, session, actor)
        const override = body.override === true
        if (override && body.status !== 'completed')
          throw new FieldInvalidError('override', 'requires the status completed')
        return decide({ tables, note, actor, session, body, revoke: false, override })
      })
      try {
        return await decided
      } catch (error) {
        // Runs in a separate transaction, because the refused decision was rolled back.
        if (error instanceof ChecksPendingError) {
          await services.store.sessions.queueMissingChecks(organization.id, params.session)
        }
        throw error
      }
    },
  }),
  route('revokeSession', 'POST', `${BASE}/{session}/revoke`, {
    access: ORGANIZATION_ADMIN,
    command: false,
    alone: 'one-session',
    summary: 'Revoke a completed session',
    description:
      'The wallets of the session are no longer verified: immediately in this process, and within a second in others. Until the ' +
      'session is decided again, other organizations’ results do not count for these wallets. `rejected` is final and requires a public or private comment.',
    body: closed({ status: oneOf(['rejected', 'retry']), ...DECISION }),
    answer: SESSION_DETAIL,
    errors: [409],
    handle: ({ organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        requireReason(body.status, body)
        const { session } = await requireSession(tables, organization.id, params.session)
        if (session.status !== 'completed') throw new ConflictError(`the session is ${session.status}, not completed`)
        return decide({ tables, note, actor, session, body, revoke: true, override: false })
      }),
  }),
]
