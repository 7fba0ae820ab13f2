// Work that takes longer than a request: how far it is, and what came of it.
import type { Job } from '../../store/jobs.ts'
import { pageAnswer, pageRequest } from '../cursor.ts'
import { SubjectUnknownError } from '../errors.ts'
import { DEPLOYMENT, declareRoutes, ORGANIZATION_ADMIN, VIEWER } from '../route.ts'
import { closed, named, nullable, oneOf, PAGE_QUERY, pageOf, Type, time, timeOrNull, timeText } from '../schema.ts'
import type { Services } from '../services.ts'

const route = declareRoutes('Jobs')

export const JOB = named(
  'Job',
  closed({
    id: Type.String(),
    kind: Type.String(),
    state: oneOf(['queued', 'running', 'done', 'failed', 'cancelled']),
    progress: closed({
      done: Type.Integer(),
      total: Type.Integer({ description: 'In what the kind counts, bytes for example; 0 while it is not known' }),
    }),
    result: nullable(Type.Record(Type.String(), Type.Unknown())),
    failure: nullable(Type.String()),
    created_by: Type.String(),
    created_at: time(),
    started_at: nullable(time()),
    finished_at: nullable(time()),
  }),
)

/** With progress that may be newer than what is stored. */
export const showJob = (job: Job, { jobs }: Services) => ({
  id: job.id,
  kind: job.kind,
  state: job.state,
  progress: jobs.progressOf(job.id) ?? { done: job.progressDone, total: job.progressTotal },
  result: job.result === null ? null : { ...job.result },
  failure: job.failure,
  created_by: job.actor,
  created_at: timeText(job.createdAtSeconds),
  started_at: timeOrNull(job.startedAtSeconds),
  finished_at: timeOrNull(job.finishedAtSeconds),
})

const required = (job: Job | null): Job => {
  if (job === null) throw new SubjectUnknownError('job')
  return job
}

export const JOB_ROUTES = [
  route('listJobs', 'GET', '/organizations/{organization}/jobs', {
    access: VIEWER,
    summary: 'An organization’s jobs, newest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(JOB),
    handle: async ({ services, organization, query }) =>
      pageAnswer(await services.store.jobs.page(organization.id, pageRequest(query, ['number', 'string'])), (job) =>
        showJob(job, services),
      ),
  }),
  route('readJob', 'GET', '/organizations/{organization}/jobs/{job}', {
    access: VIEWER,
    summary: 'One job',
    answer: JOB,
    handle: async ({ services, organization, params }) =>
      showJob(required(await services.store.jobs.find(organization.id, params.job)), services),
  }),
  route('cancelJob', 'POST', '/organizations/{organization}/jobs/{job}/cancel', {
    access: ORGANIZATION_ADMIN,
    summary: 'Stop a job',
    body: closed({}),
    answer: JOB,
    handle: async ({ services, organization, params, write }) => {
      const job = await write(async (tables, note) => {
        const cancelled = required(await tables.jobs.cancel(organization.id, params.job))
        note({ action: 'job.cancel', subject: cancelled.id, detail: { kind: cancelled.kind } })
        return cancelled
      })
      services.jobs.cancelled(job.id)
      return showJob(job, services)
    },
  }),
  route('listDeploymentJobs', 'GET', '/jobs', {
    access: DEPLOYMENT,
    summary: 'The deployment’s own jobs, newest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageOf(JOB),
    handle: async ({ services, query }) =>
      pageAnswer(await services.store.jobs.page(null, pageRequest(query, ['number', 'string'])), (job) =>
        showJob(job, services),
      ),
  }),
  route('readDeploymentJob', 'GET', '/jobs/{job}', {
    access: DEPLOYMENT,
    summary: 'One of the deployment’s own jobs',
    answer: JOB,
    handle: async ({ services, params }) =>
      showJob(required(await services.store.jobs.find(null, params.job)), services),
  }),
  route('cancelDeploymentJob', 'POST', '/jobs/{job}/cancel', {
    access: DEPLOYMENT,
    summary: 'Stop one of the deployment’s own jobs',
    body: closed({}),
    answer: JOB,
    handle: async ({ services, params, write }) => {
      const job = await write(async (tables, note) => {
        const cancelled = required(await tables.jobs.cancel(null, params.job))
        note({ action: 'job.cancel', subject: cancelled.id, organizationId: null, detail: { kind: cancelled.kind } })
        return cancelled
      })
      services.jobs.cancelled(job.id)
      return showJob(job, services)
    },
  }),
]
