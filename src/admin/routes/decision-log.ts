// The decision log and its search index: the index's progress, its rebuild, and the check of every line.
import { DependencyUnavailableError } from '../../domain/errors.ts'
import { actorId } from '../actor.ts'
import { DEPLOYMENT, declareRoutes } from '../route.ts'
import { closed, named, nullable, Type, time } from '../schema.ts'
import { showTask, TASK } from './tasks.ts'

const route = declareRoutes('Decisions')

const LOG_HEAD = named(
  'LogHead',
  closed({
    size: Type.Integer({ description: 'Number of lines under the newest signed head' }),
    log_key: Type.String({ description: 'Verifier key of the log' }),
    published: Type.String({
      description: 'The published head (C2SP tlog-checkpoint), with its cosignatures',
    }),
    published_size: Type.Integer({ description: 'Number of lines under this head' }),
    cosignatures_required: Type.Integer({
      description: 'How many cosignatures a head needs; 0 also when no witness is configured',
    }),
    cosignatures_within_seconds: Type.Integer(),
    cosignatures_late: Type.Boolean(),
    witnesses: Type.Array(
      closed({
        name: Type.String(),
        cosigned_at: nullable(time()),
      }),
    ),
  }),
)

export const DECISION_LOG_ROUTES = [
  route('readDecisionIndex', 'GET', '/decision-index', {
    access: DEPLOYMENT,
    summary: 'Show the progress of the search index',
    answer: closed({
      decisions: Type.Integer(),
      unreadable: Type.Integer({ description: 'Lines of the log that could not be read since the start' }),
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
    summary: 'Delete the search index and build it again from the log',
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
  route('readLogHead', 'GET', '/decision-log/head', {
    access: DEPLOYMENT,
    command: { name: 'decision-log show-head' },
    summary: 'Show the newest signed head of the log and its cosignatures',
    answer: LOG_HEAD,
    errors: [503],
    handle: async ({ services }) => {
      const head = await services.logHead()
      if (head === null) throw new DependencyUnavailableError('the log has no signed head yet; retry')
      return {
        size: head.size,
        log_key: head.logKey,
        published: head.published,
        published_size: head.publishedSize,
        cosignatures_required: head.required,
        cosignatures_within_seconds: head.withinSeconds,
        cosignatures_late: head.isLate,
        witnesses: head.witnesses.map(({ name, atSeconds }) => ({
          name,
          cosigned_at: atSeconds === null ? null : new Date(atSeconds * 1_000).toISOString(),
        })),
      }
    },
  }),
  route('verifyDecisions', 'POST', '/decision-log/verify', {
    access: DEPLOYMENT,
    alone: 'upkeep',
    summary: 'Check the whole decision log, as a job',
    description:
      'Every hash, every line, the ties between files, that no uuid occurs twice, and the log against its tree and signed heads.',
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
