// Tasks that run longer than a request. The table and the admin API call them jobs.
import { newIdentifier } from '../domain/identifier.ts'
import { among, hidden, integer, json, nullable, sql, text, typed } from './columns.ts'
import { survivingCrashes, type TableScope, type TransactionScope } from './copy/table-scope.ts'
import type { Page, PageRequest } from './paging.ts'
import { defineTable, type ItemOf } from './table.ts'

type Members = Readonly<Record<string, unknown>>

const COLUMNS = {
  id: text,
  organizationId: nullable(text),
  kind: text,
  state: typed<'queued' | 'running' | 'done' | 'failed' | 'cancelled'>(),
  input: json<Members>(),
  /** The unit depends on the kind of task. `progressTotal` is 0 while unknown. */
  progressDone: integer,
  progressTotal: integer,
  result: nullable(json<Members>()),
  /** Predefined text; null unless failed. */
  failure: nullable(text),
  actor: text,
  createdAtSeconds: integer,
  startedAtSeconds: nullable(integer),
  finishedAtSeconds: nullable(integer),
  runner: hidden(nullable(text)),
}
const TASKS = defineTable('jobs', COLUMNS)
const { input: _input, ...LISTED_COLUMNS } = COLUMNS
const LISTED = defineTable('jobs', LISTED_COLUMNS)
const ANYONES = TASKS.everywhere

export interface Task extends ItemOf<typeof TASKS> {}
/** A task without its input, which is large. */
export interface ListedTask extends ItemOf<typeof LISTED> {}

const OPEN = sql`IN ('queued', 'running')`

/** Retention of ended tasks in days, and their maximum number per organization. */
const KEPT_DAYS = 90
const KEPT_MAX = 1_000

/** Removes ended tasks that are old or exceed the maximum number. */
const removeOld = async (own: TransactionScope, organizationId: string | null): Promise<void> => {
  const endedBeforeSeconds = own.nowSeconds() - KEPT_DAYS * 86_400
  const owner = organizationId === null ? sql`organization_id IS NULL` : sql`organization_id = ${organizationId}`
  const newest = sql`SELECT id FROM jobs WHERE ${owner} ORDER BY created_at_seconds DESC, id DESC LIMIT ${KEPT_MAX}`
  await TASKS.removeAll(
    own,
    { organizationId },
    sql`finished_at_seconds IS NOT NULL AND (finished_at_seconds < ${endedBeforeSeconds} OR id NOT IN (${newest}))`,
  )
}

type TaskEnd =
  | { readonly state: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly state: 'failed'; readonly failure: string }

export const createTaskTable = (scope: TableScope) => ({
  /** @param result of a task that is already done; omit it to queue the task */
  create: (
    { organizationId, kind, input, actor }: Pick<Task, 'organizationId' | 'kind' | 'input' | 'actor'>,
    result: Members | null = null,
  ): Promise<Task> => {
    const createdAtSeconds = scope.nowSeconds()
    const doneAtSeconds = result === null ? null : createdAtSeconds
    return scope.write(async (own) => {
      await removeOld(own, organizationId)
      return TASKS.insert(own, {
        organizationId,
        kind,
        input,
        actor,
        createdAtSeconds,
        result,
        id: newIdentifier('job'),
        state: result === null ? 'queued' : 'done',
        progressDone: 0,
        progressTotal: 0,
        startedAtSeconds: doneAtSeconds,
        finishedAtSeconds: doneAtSeconds,
      })
    })
  },

  /** @param members ids and hashes in the task's input @param withinSeconds maximum time since the task ended */
  newestDone: async (
    organizationId: string,
    kind: string,
    members: Readonly<Record<string, string>>,
    withinSeconds: number = Number.MAX_SAFE_INTEGER,
  ): Promise<Task | null> => {
    const finishedAtSeconds = sql`>= ${scope.nowSeconds() - withinSeconds}`
    const texts = Object.entries(members).map(([name, value]) => `%${JSON.stringify({ [name]: value }).slice(1, -1)}%`)
    const [newest] = await TASKS.list(
      scope,
      { organizationId, kind, state: 'done', finishedAtSeconds },
      { by: ['finishedAtSeconds'], descending: true, limit: 1 },
      ...texts.map((text) => sql`input LIKE ${text}`),
    )
    return newest ?? null
  },

  find: (organizationId: string | null, id: string): Promise<Task | null> => TASKS.find(scope, { organizationId, id }),

  countOpen: (organizationId: string | null): Promise<number> => TASKS.count(scope, { organizationId, state: OPEN }),

  page: (organizationId: string | null, page: PageRequest): Promise<Page<ListedTask>> =>
    LISTED.page(
      scope,
      { organizationId },
      { by: ['createdAtSeconds', 'id'], descending: true, large: ['result'] },
      page,
    ),

  /** Starts the oldest queued task, if any. @param runner id of the process; null if it isn't registered as live */
  takeNext: (runner: string | null = null): Promise<Task | null> =>
    ANYONES.update(
      scope,
      {
        id: sql`= (SELECT id FROM jobs WHERE state = 'queued' ORDER BY created_at_seconds, id LIMIT 1)`,
        state: 'queued',
      },
      { state: 'running', startedAtSeconds: scope.nowSeconds(), runner },
    ),

  /** Returns a task that was not started to the queue. */
  giveBack: async (id: string): Promise<void> => {
    const waiting = { state: 'queued', startedAtSeconds: null, runner: null } as const
    await ANYONES.updateAll(scope, { id, state: 'running' }, waiting)
  },

  noteProgress: async (id: string, done: number, total: number): Promise<void> => {
    const progress = { progressDone: Math.floor(done), progressTotal: Math.floor(total) }
    await ANYONES.updateAll(survivingCrashes(scope), { id, state: 'running' }, progress)
  },

  /** Canceled tasks stay canceled. Removes the document from the input, which other ended tasks keep until deletion. */
  finish: async ({ id, input: { source: _source, ...input } }: Pick<Task, 'id' | 'input'>, end: TaskEnd) => {
    const finished = { result: null, failure: null, ...end, input, finishedAtSeconds: scope.nowSeconds() }
    await ANYONES.updateAll(scope, { id, state: 'running' }, finished)
  },

  cancel: (organizationId: string | null, id: string): Promise<Task | null> => {
    const cancelled = { state: 'cancelled', finishedAtSeconds: scope.nowSeconds() } as const
    return TASKS.update(scope, { organizationId, id, state: OPEN }, cancelled)
  },

  failInterrupted: (living: readonly string[] = []): Promise<number> =>
    ANYONES.updateAll(
      scope,
      { state: 'running' },
      {
        state: 'failed',
        failure: 'the service stopped before the task was done',
        finishedAtSeconds: scope.nowSeconds(),
      },
      ...(living.length === 0 ? [] : [sql`(runner IS NULL OR runner NOT ${among(living)})`]),
    ),
})

export type TaskTable = ReturnType<typeof createTaskTable>
