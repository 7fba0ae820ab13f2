import { actorId } from '../actor.ts'
import { DEPLOYMENT, declareRoutes } from '../route.ts'
import { closed, nullable, Type, time } from '../schema.ts'
import { showTask, TASK } from './tasks.ts'

const route = declareRoutes('Decisions')

export const DECISION_LOG_ROUTES = [
  route('readDecisionIndex', 'GET', '/decision-index', {
    access: DEPLOYMENT,
    summary: 'Show the progress of the search index',
    answer: closed({
      decisions: Type.Integer(),
      unreadable: Type.Integer({ description: 'Log lines that could not be read since the service started' }),
      newest_at: nullable(time()),
      up_to_date: Type.Boolean(),
    }),
    errors: [503],
    handle: async ({ services }) => {
      const status = await services.decisions.ask({ operation: 'status' })
      return {
        decisions: status.decisions,
        unreadable: status.unreadable,
        newest_at: status.newestAtMs === null ? null : new Date(status.newestAtMs).toISOString(),
        up_to_date: status.upToDate,
      }
    },
  }),
  route('rebuildDecisionIndex', 'POST', '/decision-index/rebuild', {
    access: DEPLOYMENT,
    alone: 'upkeep',
    summary: 'Rebuild the search index from the log',
    body: closed({}),
    status: 202,
    answer: closed({}),
    errors: [503],
    handle: async ({ services, write }) => {
      await write(async (_tables, note) =>
        note({ action: 'decision-index.rebuild', subject: 'decision-index', organizationId: null }),
      )
      await services.decisions.ask({ operation: 'rebuild' })
      return {}
    },
  }),
  route('verifyDecisions', 'POST', '/decision-log/verify', {
    access: DEPLOYMENT,
    alone: 'upkeep',
    summary: 'Verify the complete decision log',
    description:
      'Creates a job that verifies every hash, every line and the links between files. It also verifies that all UUIDs are unique, and that the log matches its tree and signed heads.',
    body: closed({}),
    status: 202,
    answer: TASK,
    handle: async ({ services, actor, write }) => {
      const task = await write(async (tables, note) => {
        const made = await tables.tasks.create({
          organizationId: null,
          kind: 'decisions.verify',
          input: {},
          actor: actorId(actor),
        })
        note({ action: 'job.create', subject: made.id, organizationId: null, detail: { kind: made.kind } })
        return made
      })
      services.tasks.wake()
      return showTask(task, services, actor)
    },
  }),
]
