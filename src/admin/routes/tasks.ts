// Long-running tasks. Paths, operation ids, audit actions and ids call them jobs.
import type { TaskResult } from '../../../workers/tasks/task-input.ts'
import type { ListedTask } from '../../store/tasks.ts'
import { type Actor, mayIn } from '../actor.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { SubjectUnknownError } from '../errors.ts'
import { DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time } from '../schema.ts'
import type { Services } from '../services.ts'
import { shown } from '../shown.ts'

const route = declareRoutes('Jobs')

export const TASK = named(
  'Job',
  closed({
    id: Type.String(),
    kind: Type.String(),
    state: oneOf(['queued', 'running', 'done', 'failed', 'cancelled']),
    progress: closed({
      done: Type.Integer(),
      total: Type.Integer({
        description: 'Amount of work in a unit that depends on the kind, such as bytes; 0 if unknown',
      }),
    }),
    result: nullable(Type.Unsafe<TaskResult>(Type.Record(Type.String(), Type.Unknown()))),
    failure: nullable(Type.String()),
    created_by: Type.String(),
    created_at: time(),
    started_at: nullable(time()),
    finished_at: nullable(time()),
  }),
)

/** Omits session ids for actors who may not see sessions. */
const resultFor = (task: ListedTask, actor: Actor): TaskResult | null => {
  // Written by a task process, possibly of an earlier version.
  const result = task.result as TaskResult | null
  if (task.organizationId === null || mayIn(actor, task.organizationId, 'reviewer')) return result
  if (result === null || !('disagreements' in result)) return result
  return { ...result, disagreements: result.disagreements.map((each) => ({ ...each, sessions: [] })) }
}

export const showTask = (task: ListedTask, { tasks }: Pick<Services, 'tasks'>, actor: Actor) =>
  shown(TASK, task, {
    progress: tasks.progressOf(task.id) ?? { done: task.progressDone, total: task.progressTotal },
    result: resultFor(task, actor),
    created_by: task.actor,
  })

const required = <Any extends ListedTask>(task: Any | null): Any => {
  if (task === null) throw new SubjectUnknownError('job')
  return task
}

export const TASK_ROUTES = [
  route('listJobs', 'GET', '/organizations/{organization}/jobs', {
    access: VIEWER,
    summary: 'List an organization’s jobs, newest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(TASK),
    handle: async ({ services, organization, actor, query }) =>
      pageAnswer(await services.store.tasks.page(organization.id, pageRequest(query, ['number', 'string'])), (task) =>
        showTask(task, services, actor),
      ),
  }),
  route('readJob', 'GET', '/organizations/{organization}/jobs/{job}', {
    access: VIEWER,
    summary: 'Show a job',
    answer: TASK,
    handle: async ({ services, organization, actor, params }) =>
      showTask(required(await services.store.tasks.find(organization.id, params.job)), services, actor),
  }),
  route('cancelJob', 'POST', '/organizations/{organization}/jobs/{job}/cancel', {
    access: ORGANIZATION_ADMIN,
    alone: 'upkeep',
    summary: 'Stop a job',
    body: closed({}),
    answer: TASK,
    handle: async ({ services, organization, actor, params, write }) => {
      const task = await write(async (tables, note) => {
        const cancelled = required(await tables.tasks.cancel(organization.id, params.job))
        note({ action: 'job.cancel', subject: cancelled.id, detail: { kind: cancelled.kind } })
        return cancelled
      })
      services.tasks.cancelled(task.id)
      return showTask(task, services, actor)
    },
  }),
  route('listDeploymentJobs', 'GET', '/jobs', {
    access: DEPLOYMENT,
    summary: 'List the deployment’s jobs, newest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(TASK),
    handle: async ({ services, actor, query }) =>
      pageAnswer(await services.store.tasks.page(null, pageRequest(query, ['number', 'string'])), (task) =>
        showTask(task, services, actor),
      ),
  }),
  route('readDeploymentJob', 'GET', '/jobs/{job}', {
    access: DEPLOYMENT,
    summary: 'Show a deployment job',
    answer: TASK,
    handle: async ({ services, actor, params }) =>
      showTask(required(await services.store.tasks.find(null, params.job)), services, actor),
  }),
  route('cancelDeploymentJob', 'POST', '/jobs/{job}/cancel', {
    access: DEPLOYMENT,
    alone: 'upkeep',
    summary: 'Stop a deployment job',
    body: closed({}),
    answer: TASK,
    handle: async ({ services, actor, params, write }) => {
      const task = await write(async (tables, note) => {
        const cancelled = required(await tables.tasks.cancel(null, params.job))
        note({ action: 'job.cancel', subject: cancelled.id, organizationId: null, detail: { kind: cancelled.kind } })
        return cancelled
      })
      services.tasks.cancelled(task.id)
      return showTask(task, services, actor)
    },
  }),
]
