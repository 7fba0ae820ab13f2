// The live processes of the deployment: each increments its own beat now and then, and readers check whether the beat
// increases; they never compare clocks. The deployment's own administration: no row belongs to an organization.

import type { TableScope } from './copy/table-scope.ts'
import { fieldsOf, type RowOf } from './row-fields.ts'

interface LiveProcess {
  readonly id: string
  /** For people: the machine's name and the process's number. */
  readonly name: string
  readonly beat: number
  /** The processes' own time (src/cluster/shared-time.ts), milliseconds. */
  readonly clockMs: number
}

/** A lost beat is made up by the next one. */
const DURABILITY = { survives: 'process-crash' } as const

export const createLiveProcessTable = (scope: TableScope) => ({
  /** Reports that the process lives. Creates the row again if it was removed because the process seemed dead. */
  beat: (process: LiveProcess): Promise<void> =>
    scope.write(async (transaction) => {
      await transaction.execute(
        `INSERT INTO live_processes (id, name, beat, clock_ms, started_at_seconds) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, clock_ms = excluded.clock_ms`,
        [process.id, process.name, process.beat, process.clockMs, scope.nowSeconds()],
      )
    }, DURABILITY),

  /** All rows, including those of dead processes until they are removed. */
  list: async (): Promise<readonly LiveProcess[]> => {
    const sql = 'SELECT id, name, beat, clock_ms FROM live_processes'
    return (await scope.statements.query<RowOf<LiveProcess>>(sql)).map(fieldsOf)
  },

  /**
   * Removes a process that seemed dead at this beat; does nothing when the beat has increased since.
   * @param beat null: the process ends itself, whichever beat was its last to arrive
   */
  remove: (id: string, beat: number | null): Promise<void> =>
    scope.write(async (transaction) => {
      await (beat === null
        ? transaction.execute('DELETE FROM live_processes WHERE id = ?', [id])
        : transaction.execute('DELETE FROM live_processes WHERE id = ? AND beat = ?', [id, beat]))
    }, DURABILITY),
})

export type LiveProcessTable = ReturnType<typeof createLiveProcessTable>
