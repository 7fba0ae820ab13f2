import { isoTime } from '../../lib/time.ts'
import { declareRoutes, REVIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, type Static, Type, time } from '../schema.ts'
import { BASE, requireSession } from '../sessions.ts'

const route = declareRoutes('Sessions')

const CHECK_OUTCOMES = ['passed', 'look', 'failed', 'unreadable', 'not-done'] as const

const CHECK = named(
  'DocumentCheck',
  closed({
    check: Type.String({
      description: 'Name of the check, such as `document.name`, `person.age`, `lists.names`, `wallets.lists`',
    }),
    outcome: oneOf(
      CHECK_OUTCOMES,
      '`look`: a reviewer must decide. `unreadable`: the document could not be read. `not-done`: the check could not run',
    ),
    sessions: Type.Array(Type.String(), { description: 'Sessions of other identities with the same value' }),
    documents: Type.Array(
      closed({ id: Type.String(), outcome: oneOf(['read', 'doubtful', 'none', 'pdf', 'picture']) }),
      { description: 'Result for each identity document' },
    ),
    minimum_age: nullable(Type.Integer()),
    problem: Type.Union([Type.String(), Type.Null()], { description: 'Reason that the check could not run' }),
    version: Type.String({ description: 'Version of the reader or list that the check used' }),
    checked_at: time(),
  }),
)

const showCheck = (check: {
  readonly name: string
  readonly outcome: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly version: string
  readonly checkedAtSeconds: number
}): Static<typeof CHECK> => {
  const {
    sessions = [],
    documents = [],
    minimum = null,
    problem = null,
  } = check.detail as {
    readonly sessions?: string[]
    readonly documents?: Static<typeof CHECK>['documents']
    readonly minimum?: number
    readonly problem?: string
  }
  return {
    sessions,
    documents,
    check: check.name,
    outcome: CHECK_OUTCOMES.find((known) => known === check.outcome) ?? 'not-done',
    problem,
    minimum_age: minimum,
    version: check.version,
    checked_at: isoTime(check.checkedAtSeconds),
  }
}

export const SESSION_CHECK_ROUTES = [
  route('readDocumentChecks', 'GET', `${BASE}/{session}/checks/documents`, {
    access: REVIEWER,
    command: { name: 'session show-checks' },
    summary: 'Show the checks of a session’s documents, person and wallets',
    description: 'Checks run after each submission. A check never decides a session.',
    answer: closed({
      waiting: Type.Boolean({ description: 'Whether checks are still running' }),
      checks: Type.Array(CHECK),
      address_country: Type.Union([Type.String(), Type.Null()], {
        description: 'Country of the IP address from which the session was submitted; erased with the evidence',
      }),
    }),
    handle: async ({ services, organization, params }) => {
      const { session } = await requireSession(services.store, organization.id, params.session)
      const { sessionChecks } = services.store
      // Must precede reading the checks: a session leaves the queue only after its checks are stored.
      const waiting = await sessionChecks.isPending(organization.id, session.id)
      const checks = await sessionChecks.list(organization.id, session.id)
      return {
        waiting,
        checks: checks.map(showCheck),
        address_country: await services.store.sessionOrigins.find(organization.id, session.id),
      }
    },
  }),
]
