// Reviewing identity sessions: the queue, one session with its history, who looks at it, and the decision. Two reviewers
// can't overwrite each other: each says which state they saw.
import { CHECK_TYPES, COMMENT_MAX } from '../../domain/session.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { ConflictError, SubjectUnknownError } from '../errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN, REVIEWER } from '../route.ts'
import { closed, nullable, oneOf, PAGE_QUERY, pageOf, Type } from '../schema.ts'
import { detailOf, ENVIRONMENT, SESSION, SESSION_DETAIL, STATUS, showSession, TYPE } from '../session-shapes.ts'
import { BASE, correctionsOf, operator, requireReason, requireSession } from '../sessions.ts'
import { timeOf } from '../time.ts'

const route = declareRoutes('Sessions')

const CORRECTIONS = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: 20,
    description: 'With `retry`: evidence fields and document kinds to be done again, or `wallets`',
  }),
)
const COMMENT = Type.Optional(nullable(Type.String({ maxLength: COMMENT_MAX, printable: true })))

export const SESSION_ROUTES = [
  route('listSessions', 'GET', BASE, {
    access: REVIEWER,
    summary: 'Sessions',
    description: '`status=submitted` is the queue. `assigned_to`: an account, or `nobody`.',
    query: Type.Object({
      ...PAGE_QUERY,
      status: Type.Optional(STATUS),
      type: Type.Optional(TYPE),
      environment: Type.Optional(ENVIRONMENT),
      assigned_to: Type.Optional(Type.String({ maxLength: 100 })),
      created_before: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive' })),
      order: Type.Optional(oneOf(['newest', 'oldest'], 'Which comes first; `newest` unless stated')),
    }),
    answer: pageOf(SESSION),
    handle: async ({ services, organization, query }) => {
      const { status, type, environment, assigned_to: assignedTo, created_before: before, order } = query
      const page = await services.store.sessions.page(
        {
          organizationId: organization.id,
          ...(status === undefined ? {} : { status }),
          ...(type === undefined ? {} : { checkType: CHECK_TYPES[type] }),
          ...(environment === undefined ? {} : { environment }),
          ...(assignedTo === undefined ? {} : { assignedTo: assignedTo === 'nobody' ? null : assignedTo }),
          ...(before === undefined ? {} : { createdBeforeSeconds: timeOf('created_before', before) / 1000 }),
          oldestFirst: order === 'oldest',
        },
        pageRequest(query, ['string']),
      )
      const ids = page.items.map(({ id }) => id)
      const assignments = await services.store.sessionAssignments.findMany(organization.id, ids)
      const submitted = await services.store.sessions.findSubmittedTimes(organization.id, ids)
      return pageAnswer(page, (session) => showSession(session, assignments.get(session.id), submitted.get(session.id)))
    },
  }),
  route('readSession', 'GET', `${BASE}/{session}`, {
    access: REVIEWER,
    summary: 'One session with its wallets and its history',
    answer: SESSION_DETAIL,
    handle: async ({ services, organization, params }) =>
      detailOf(services.store, await requireSession(services.store, organization.id, params.session)),
  }),
  route('assignSession', 'PUT', `${BASE}/{session}/assignment`, {
    access: REVIEWER,
    summary: 'Say who reviews a session',
    description: 'Refused when someone else was faster: `version` is the `assignment_version` that was seen.',
    body: closed({ user_id: nullable(Type.String({ maxLength: 100 })), version: Type.Integer({ minimum: 0 }) }),
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
          if (member?.role === 'viewer') throw new ConflictError('a viewer reviews nothing')
        }
        const assigned = await tables.sessionAssignments.assign({
          organizationId: organization.id,
          sessionId: session.id,
          userId,
          expectedVersion: body.version,
        })
        if (assigned === null) throw new ConflictError('someone else has taken or given it meanwhile; look at it again')
        note({ action: 'session.assign', subject: session.id, detail: { assigned_to: userId } })
        return { assigned_to: assigned.userId, assignment_version: assigned.version }
      }),
  }),
  route('decideSession', 'POST', `${BASE}/{session}/decide`, {
    access: REVIEWER,
    summary: 'Complete, reject or send back a session',
    description:
      'Refused when the session has changed since `sequence` was seen, or is someone else’s to review. Leaving `completed` ' +
      'is a revocation and has a route of its own. `rejected` is final and needs a comment, to the person or a private one.',
    body: closed({
      status: oneOf(['completed', 'rejected', 'retry']),
      sequence: Type.Integer({ minimum: 1 }),
      public_comment: COMMENT,
      private_comment: COMMENT,
      corrections: CORRECTIONS,
    }),
    answer: SESSION_DETAIL,
    errors: [409],
    handle: ({ organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        requireReason(body.status, body)
        const { session } = await requireSession(tables, organization.id, params.session)
        const assignment = await tables.sessionAssignments.find(organization.id, session.id)
        if (assignment.userId !== null && (actor.kind !== 'person' || assignment.userId !== actor.user.id)) {
          throw new ConflictError('someone else reviews it; have it given to you first')
        }
        const state = await tables.sessions.changeStatus({
          organizationId: organization.id,
          sessionId: session.id,
          to: body.status,
          actor: operator(actor),
          publicComment: body.public_comment ?? null,
          privateComment: body.private_comment ?? null,
          ...correctionsOf(session, body.status, body.corrections),
          expectedSequence: body.sequence,
        })
        if (state === null) throw new SubjectUnknownError('session')
        // Comments are in the session's own history, where erasing them is possible.
        note({ action: 'session.decide', subject: session.id, detail: { status: [session.status, body.status] } })
        return detailOf(tables, state)
      }),
  }),
  route('revokeSession', 'POST', `${BASE}/{session}/revoke`, {
    access: ORGANIZATION_ADMIN,
    summary: 'Take a completed session back',
    description:
      'Its wallets are not verified any more once this is answered; in other processes within a second. `rejected` is ' +
      'final and needs a comment, to the person or a private one.',
    body: closed({
      status: oneOf(['rejected', 'retry']),
      sequence: Type.Integer({ minimum: 1 }),
      public_comment: COMMENT,
      private_comment: COMMENT,
      corrections: CORRECTIONS,
    }),
    answer: SESSION_DETAIL,
    errors: [409],
    handle: ({ organization, actor, params, body, write }) =>
      write(async (tables, note) => {
        requireReason(body.status, body)
        const { session } = await requireSession(tables, organization.id, params.session)
        if (session.status !== 'completed') throw new ConflictError(`the session is ${session.status}, not completed`)
        const state = await tables.sessions.changeStatus({
          organizationId: organization.id,
          sessionId: session.id,
          to: body.status,
          actor: operator(actor),
          publicComment: body.public_comment ?? null,
          privateComment: body.private_comment ?? null,
          expectedSequence: body.sequence,
          ...correctionsOf(session, body.status, body.corrections),
          revoke: true,
        })
        if (state === null) throw new SubjectUnknownError('session')
        note({ action: 'session.revoke', subject: session.id, detail: { status: [session.status, body.status] } })
        return detailOf(tables, state)
      }),
  }),
]
