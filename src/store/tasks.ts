// Tasks take longer than a request: their input, their progress and their result. Their table and the prefix of their ids
// keep the name "jobs", as the admin API does.
import { newIdentifier } from '../domain/identifier.ts'
import { among, hidden, integer, json, nullable, sql, text, typed } from './columns.ts'
import { survivingCrashes, type TableScope } from './copy/table-scope.ts'
import type { Page, PageRequest } from './paging.ts'
import { defineTable, type ItemOf } from './table.ts'

export type TaskState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'

type Members = Readonly<Record<string, unknown>>

const TASKS = defineTable('jobs', {
  id: text,
  /** Null for what belongs to the deployment. */
  organizationId: nullable(text),
  kind: text,
  state: typed<TaskState>(),
  input: json<Members>(),
  /** The unit depends on the kind of task; `progressTotal` is 0 while it is not known. */
  progressDone: integer,
  progressTotal: integer,
  /** Null unless done. */
  result: nullable(json<Members>()),
  /** Chosen text; null unless failed. */
  failure: nullable(text),
  actor: text,
  createdAtSeconds: integer,
  startedAtSeconds: nullable(integer),
  finishedAtSeconds: nullable(integer),
  /** The process that runs it. */
  runner: hidden(nullable(text)),
})
/** For the runner, which knows a task by its id. */
const ANYONES = TASKS.everywhere

export interface Task extends ItemOf<typeof TASKS> {}

/** Waits or runs. */
const OPEN = sql`IN ('queued', 'running')`

type TaskEnd =
  | { readonly state: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly state: 'failed'; readonly failure: string }

export const createTaskTable = (scope: TableScope) => ({
  /** @param result of a task that is done already; without it, the task waits for a runner */
  create: (
    { organizationId, kind, input, actor }: Pick<Task, 'organizationId' | 'kind' | 'input' | 'actor'>,
    result: Members | null = null,
  ): Promise<Task> => {
    const createdAtSeconds = scope.nowSeconds()
    const doneAtSeconds = result === null ? null : createdAtSeconds
    return TASKS.insert(scope, {
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
  },

  /**
   * The newest of a kind that is done and whose input has these members; null for none.
   * @param members ids and hashes: they are found in the stored text as they are
   * @param withinSeconds how long ago it ended at most
   */
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

  /** How many wait or run. */
  countOpen: (organizationId: string | null): Promise<number> => TASKS.count(scope, { organizationId, state: OPEN }),

  /** Newest first. */
  page: (organizationId: string | null, page: PageRequest): Promise<Page<Task>> =>
    TASKS.page(scope, { organizationId }, { by: ['createdAtSeconds', 'id'], descending: true }, page),

  /**
   * The oldest that waits, now running; null when none waits, or another runner was faster. For the runner.
   * @param runner the process; null for one that nobody else knows of.
   */
  takeNext: (runner: string | null = null): Promise<Task | null> =>
    ANYONES.update(
      scope,
      {
        id: sql`= (SELECT id FROM jobs WHERE state = 'queued' ORDER BY created_at_seconds, id LIMIT 1)`,
        state: 'queued',
      },
      { state: 'running', startedAtSeconds: scope.nowSeconds(), runner },
    ),

  /** For the runner: puts a task back into the queue that it took and did not start. */
  giveBack: async (id: string): Promise<void> => {
    const waiting = { state: 'queued', startedAtSeconds: null, runner: null } as const
    await ANYONES.updateAll(scope, { id, state: 'running' }, waiting)
  },

  /** For the runner. */
  noteProgress: async (id: string, done: number, total: number): Promise<void> => {
    const progress = { progressDone: Math.floor(done), progressTotal: Math.floor(total) }
    await ANYONES.updateAll(survivingCrashes(scope), { id, state: 'running' }, progress)
  },

  /** For the runner. A task that was cancelled meanwhile stays so. */
  finish: async (id: string, end: TaskEnd): Promise<void> => {
    const finished = { result: null, failure: null, ...end, finishedAtSeconds: scope.nowSeconds() }
    await ANYONES.updateAll(scope, { id, state: 'running' }, finished)
  },

  /** Null when no task of this id waits or runs. */
  cancel: (organizationId: string | null, id: string): Promise<Task | null> => {
    const cancelled = { state: 'cancelled', finishedAtSeconds: scope.nowSeconds() } as const
    return TASKS.update(scope, { organizationId, id, state: OPEN }, cancelled)
  },

  /** Marks tasks as failed whose process is dead. Returns how many. */
  failInterrupted: (living: readonly string[] = []): Promise<number> =>
    ANYONES.updateAll(
      scope,
      { state: 'running' },
      {
        state: 'failed',
        failure: 'the service stopped before it was done',
        finishedAtSeconds: scope.nowSeconds(),
      },
      ...(living.length === 0 ? [] : [sql`(runner IS NULL OR runner NOT ${among(living)})`]),
    ),
})

export type TaskTable = ReturnType<typeof createTaskTable>
