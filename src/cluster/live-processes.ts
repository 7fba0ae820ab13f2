// Live processes of the deployment. Each increments its beat in the store every two seconds; without a new beat, it
// counts as stopped.
import type { Clock, Timers } from '../lib/time.ts'
import type { LiveProcessTable } from '../store/live-processes.ts'

// Time shared by processes without comparing wall clocks. Each process advances the latest written value with its own
// monotonic clock, so shared time never goes back and never runs fast.
interface SharedTime {
  /** Returns whole milliseconds since an arbitrary moment. */
  nowMs(): number
  /** Adopts a later time of another process. */
  see(ms: number): void
}

export const createSharedTime = ({ monotonicMs }: Pick<Clock, 'monotonicMs'>): SharedTime => {
  let aheadMs = -monotonicMs()
  const nowMs = (): number => Math.floor(monotonicMs() + aheadMs)
  return {
    nowMs,
    see: (ms) => {
      aheadMs += Math.max(0, ms - nowMs())
    },
  }
}

export interface ProcessRegistryDependencies {
  readonly table: LiveProcessTable
  readonly id: string
  readonly name: string
  /** Names of the running modules, sorted. */
  readonly modules: readonly string[]
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly time: SharedTime
  readonly after: Timers['after']
  /** Called once this process beats again after the others counted it as stopped; if it rejects, after the next beat. */
  readonly onReturn: () => Promise<void>
  readonly onError: (error: unknown) => void
}

export const BEAT_MS = 2_000
/** Interval at which a new process reads the others' beats until each has changed. */
const LISTEN_MS = 100
const LISTENS = Math.ceil(BEAT_MS / LISTEN_MS) + 2
/** Age of the last beat at which a process counts as stopped: slightly more than three beats. */
export const GONE_MS = 7_000
/** Time after which the row of an ended process is removed. */
const FORGOTTEN_MS = 60_000

export const createProcessRegistry = (dependencies: ProcessRegistryDependencies) => {
  const { table, id, name, modules, clock, time, after, onReturn, onError } = dependencies
  const seen = new Map<string, { readonly beat: number; readonly atMs: number }>()
  let beats = 0
  let lastReadMs = clock.monotonicMs()
  let current: Promise<void> | undefined
  let cancel: (() => void) | undefined
  let cancelListening: (() => void) | undefined
  let stopped = false
  let wasGone = false
  // A variable, because every request reads it.
  let count = 1

  const living = (): string[] => [
    id,
    ...[...seen].flatMap(([other, { atMs }]) => (lastReadMs - atMs < GONE_MS ? [other] : [])),
  ]

  const beatOnce = async (): Promise<void> => {
    beats += 1
    await table.beat({ id, name, beat: beats, clockMs: time.nowMs(), modules })
    const rows = await table.list()
    wasGone ||= clock.monotonicMs() - lastReadMs >= GONE_MS
    lastReadMs = clock.monotonicMs()
    const there = new Set(rows.map((row) => row.id))
    for (const known of [...seen.keys()]) if (!there.has(known)) seen.delete(known)
    for (const row of rows) {
      if (row.id === id) continue
      time.see(row.clockMs)
      if (seen.get(row.id)?.beat !== row.beat) seen.set(row.id, { beat: row.beat, atMs: lastReadMs })
    }
    count = living().length
    if (!wasGone) return
    wasGone = false
    void onReturn().catch((error: unknown) => {
      wasGone = true
      onError(error)
    })
  }

  const beat = (): Promise<void> => {
    current ??= beatOnce().finally(() => {
      current = undefined
    })
    return current
  }

  const listen = (times: number): void => {
    if (times === 0 || stopped) return
    cancelListening = after(LISTEN_MS, () => {
      void table
        .list()
        .then((rows) => {
          for (const row of rows) if (row.id !== id) time.see(row.clockMs)
        }, onError)
        .finally(() => listen(times - 1))
    })
  }

  const schedule = (): void => {
    cancel = after(BEAT_MS, () => {
      void beat()
        .catch(onError)
        .finally(() => {
          if (!stopped) schedule()
        })
    })
  }

  return {
    /** Returns the number of live processes including this one, at the last successful beat. */
    count: (): number => count,
    living,
    /** Registers this process and reads the others. Rejects if the store is unavailable. */
    start: async (): Promise<void> => {
      await beat()
      schedule()
      if (count > 1) listen(LISTENS)
    },
    beat,
    /** Removes the rows of processes that ended long ago; called only by the leader. */
    sweep: async (): Promise<void> => {
      for (const [other, process] of seen) {
        if (lastReadMs - process.atMs >= FORGOTTEN_MS) await table.remove(other, process.beat)
      }
    },
    stop: async (): Promise<void> => {
      stopped = true
      cancel?.()
      cancelListening?.()
      // A beat in flight would create the row again.
      await current?.catch(() => undefined)
      await table.remove(id, null)
    },
  }
}
