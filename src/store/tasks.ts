// Tasks take longer than a request: their input, their progress and their result. Their table and the prefix of their ids
// keep the name "jobs", as the admin API does.
import { newIdentifier } from '../domain/identifier.ts'
import type { TableScope } from './copy/table-scope.ts'
import { type Page, type PageRequest, queryPage } from './paging.ts'
import { fieldsOf, type RowOf } from './row-fields.ts'

export type TaskState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled'

export interface Task {
  readonly id: string
  /** Null for what belongs to the deployment. */
  readonly organizationId: string | null
  readonly kind: string
  readonly state: TaskState
  readonly input: Readonly<Record<string, unknown>>
  /** The unit depends on the kind of task; `progressTotal` is 0 while it is not known. */
  readonly progressDone: number
  readonly progressTotal: number
  /** Null unless done. */
  readonly result: Readonly<Record<string, unknown>> | null
  /** Chosen text; null unless failed. */
  readonly failure: string | null
  readonly actor: string
  readonly createdAtSeconds: number
  readonly startedAtSeconds: number | null
  readonly finishedAtSeconds: number | null
}

type TaskRow = RowOf<Omit<Task, 'input' | 'result'>> & {
  readonly input: string
  readonly result: string | null
}

const COLUMNS = `id, organization_id, kind, state, input, progress_done, progress_total, result, failure, actor,
  created_at_seconds, started_at_seconds, finished_at_seconds`

const toTask = (row: TaskRow): Task => ({
  ...fieldsOf(row),
  input: JSON.parse(row.input) as Record<string, unknown>,
  result: row.result === null ? null : (JSON.parse(row.result) as Record<string, unknown>),
})

/** Whose tasks: null is the deployment's own. */
const owned = (organizationId: string | null): { condition: string; parameters: string[] } =>
  organizationId === null
    ? { condition: 'organization_id IS NULL', parameters: [] }
    : { condition: 'organization_id = ?', parameters: [organizationId] }

type TaskEnd =
  | { readonly state: 'done'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly state: 'failed'; readonly failure: string }

const DURABILITY = { survives: 'process-crash' } as const

export const createTaskTable = (scope: TableScope) => ({
  /** @param result of a task that is done already; without it, the task waits for a runner */
  create: (
    input: {
      readonly organizationId: string | null
      readonly kind: string
      readonly input: Readonly<Record<string, unknown>>
      readonly actor: string
    },
    result: Readonly<Record<string, unknown>> | null = null,
  ): Promise<Task> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const doneAtSeconds = result === null ? null : nowSeconds
      const [row] = await transaction.query<TaskRow>(
        `INSERT INTO jobs (${COLUMNS}) VALUES (?, ?, ?, ?, ?, 0, 0, ?, NULL, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
        [
          newIdentifier('job'),
          input.organizationId,
          input.kind,
          result === null ? 'queued' : 'done',
          JSON.stringify(input.input),
          result === null ? null : JSON.stringify(result),
          input.actor,
          nowSeconds,
          doneAtSeconds,
          doneAtSeconds,
        ],
      )
      if (row === undefined) throw new Error('the new task was not returned')
      return toTask(row)
    }),

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
    const texts = Object.entries(members).map(([name, value]) => `%${JSON.stringify({ [name]: value }).slice(1, -1)}%`)
    const [row] = await scope.statements.query<TaskRow>(
      `SELECT ${COLUMNS} FROM jobs WHERE organization_id = ? AND kind = ? AND state = 'done'
         AND finished_at_seconds >= ? ${texts.map(() => 'AND input LIKE ?').join(' ')} ORDER BY finished_at_seconds DESC LIMIT 1`,
      [organizationId, kind, scope.nowSeconds() - withinSeconds, ...texts],
    )
    return row === undefined ? null : toTask(row)
  },

  find: async (organizationId: string | null, taskId: string): Promise<Task | null> => {
    const { condition, parameters } = owned(organizationId)
    const [row] = await scope.statements.query<TaskRow>(`SELECT ${COLUMNS} FROM jobs WHERE ${condition} AND id = ?`, [
      ...parameters,
      taskId,
    ])
    return row === undefined ? null : toTask(row)
  },

  /** How many wait or run. */
  countOpen: async (organizationId: string | null): Promise<number> => {
    const { condition, parameters } = owned(organizationId)
    const [row] = await scope.statements.query<{ count: number }>(
      `SELECT COUNT(*) AS count FROM jobs WHERE ${condition} AND state IN ('queued', 'running')`,
      parameters,
    )
    return Number(row?.count ?? 0)
  },

  /** Newest first. */
  page: (organizationId: string | null, page: PageRequest): Promise<Page<Task>> => {
    const { condition, parameters } = owned(organizationId)
    return queryPage<TaskRow, Task>(
      scope.statements,
      {
        select: `SELECT ${COLUMNS} FROM jobs`,
        where: [condition],
        parameters,
        order: ['created_at_seconds', 'id'],
        descending: true,
      },
      page,
      toTask,
    )
  },

  /**
   * The oldest that waits, now running; null when none waits, or another runner was faster. For the runner.
   * @param runner the process; null for one that nobody else knows of.
   */
  takeNext: (runner: string | null = null): Promise<Task | null> =>
    scope.write(async (transaction) => {
      const [row] = await transaction.query<TaskRow>(
        `UPDATE jobs SET state = 'running', started_at_seconds = ?, runner = ?
         WHERE id = (SELECT id FROM jobs WHERE state = 'queued' ORDER BY created_at_seconds, id LIMIT 1)
           AND state = 'queued' RETURNING ${COLUMNS}`,
        [scope.nowSeconds(), runner],
      )
      return row === undefined ? null : toTask(row)
    }),

  /** For the runner: puts a task back into the queue that it took and did not start. */
  giveBack: (taskId: string): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        "UPDATE jobs SET state = 'queued', started_at_seconds = NULL, runner = NULL WHERE id = ? AND state = 'running'",
        [taskId],
      )
    }),

  /** For the runner. */
  noteProgress: (taskId: string, done: number, total: number): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        "UPDATE jobs SET progress_done = ?, progress_total = ? WHERE id = ? AND state = 'running'",
        [Math.floor(done), Math.floor(total), taskId],
      )
    }, DURABILITY),

  /** For the runner. A task that was cancelled meanwhile stays so. */
  finish: (taskId: string, end: TaskEnd): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        "UPDATE jobs SET state = ?, result = ?, failure = ?, finished_at_seconds = ? WHERE id = ? AND state = 'running'",
        [
          end.state,
          end.state === 'done' ? JSON.stringify(end.result) : null,
          end.state === 'failed' ? end.failure : null,
          scope.nowSeconds(),
          taskId,
        ],
      )
    }),

  /** Null when no task of this id waits or runs. */
  cancel: (organizationId: string | null, taskId: string): Promise<Task | null> =>
    scope.write(async (transaction) => {
      const { condition, parameters } = owned(organizationId)
      const [row] = await transaction.query<TaskRow>(
        `UPDATE jobs SET state = 'cancelled', finished_at_seconds = ?
         WHERE ${condition} AND id = ? AND state IN ('queued', 'running') RETURNING ${COLUMNS}`,
        [scope.nowSeconds(), ...parameters, taskId],
      )
      return row === undefined ? null : toTask(row)
    }),

  /** Marks tasks as failed whose process is dead. Returns how many. */
  failInterrupted: (living: readonly string[] = []): Promise<number> =>
    scope.write((transaction) => {
      const others =
        living.length === 0 ? '' : `AND (runner IS NULL OR runner NOT IN (${living.map(() => '?').join(', ')}))`
      return transaction.execute(
        `UPDATE jobs SET state = 'failed', failure = 'the service stopped before it was done', finished_at_seconds = ?
         WHERE state = 'running' ${others}`,
        [scope.nowSeconds(), ...living],
      )
    }),
})

export type TaskTable = ReturnType<typeof createTaskTable>
