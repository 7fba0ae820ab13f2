// Knows how many processes serve the deployment, on this machine and others: each raises its beat in the store every
// two seconds, and one whose beat no longer rises is gone. One small write per beat is all that a process alone pays.
import type { Clock } from '../domain/time.ts'
import type { LiveProcessTable } from '../store/live-processes.ts'
import type { SharedTime } from './shared-time.ts'

export interface ProcessRegistryDependencies {
  readonly table: LiveProcessTable
  /** New at each start. */
  readonly id: string
  readonly name: string
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly time: SharedTime
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** A beat failed; what is known stays as it is. */
  readonly onError: (error: unknown) => void
}

export interface ProcessRegistry {
  /** Processes that live, this one included: as of the last beat that worked. */
  count(): number
  /** Their ids. */
  living(): readonly string[]
  /** Reads who is there and is one of them. Rejects when the store can't be used. */
  start(): Promise<void>
  /** Beats now. Rejects when it can't. */
  beat(): Promise<void>
  /** Removes rows of processes that have long been gone; the leader's to call. */
  sweep(): Promise<void>
  stop(): Promise<void>
}

export const BEAT_MS = 2_000
/** A newcomer reads the others' time so often, until each has beaten: what it read first is up to a beat old. */
const LISTEN_MS = 100
const LISTENS = Math.ceil(BEAT_MS / LISTEN_MS) + 2
/** Three beats and some: one that is this silent does not count. */
export const GONE_MS = 7_000
/** Its row is of no use to anyone. */
const FORGOTTEN_MS = 60_000

interface Seen {
  readonly beat: number
  /** When this beat was first seen. */
  readonly atMs: number
}

export const createProcessRegistry = (dependencies: ProcessRegistryDependencies): ProcessRegistry => {
  const { table, id, name, clock, time, after, onError } = dependencies
  const seen = new Map<string, Seen>()
  let beats = 0
  let lastReadMs = clock.monotonicMs()
  let current: Promise<void> | undefined
  let cancel: (() => void) | undefined
  let cancelListening: (() => void) | undefined
  let stopped = false
  // Asked by every request.
  let count = 1

  const living = (): string[] => [
    id,
    ...[...seen].flatMap(([other, { atMs }]) => (lastReadMs - atMs < GONE_MS ? [other] : [])),
  ]

  const beatOnce = async (): Promise<void> => {
    beats += 1
    await table.beat({ id, name, beat: beats, clockMs: time.nowMs() })
    const rows = await table.list()
    lastReadMs = clock.monotonicMs()
    const there = new Set(rows.map((row) => row.id))
    for (const known of [...seen.keys()]) if (!there.has(known)) seen.delete(known)
    for (const row of rows) {
      if (row.id === id) continue
      time.see(row.clockMs)
      if (seen.get(row.id)?.beat !== row.beat) seen.set(row.id, { beat: row.beat, atMs: lastReadMs })
    }
    count = living().length
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
    count: () => count,
    living,
    start: async () => {
      await beat()
      schedule()
      if (count > 1) listen(LISTENS)
    },
    beat,
    sweep: async () => {
      for (const [other, process] of seen) {
        if (lastReadMs - process.atMs >= FORGOTTEN_MS) await table.remove(other, process.beat)
      }
    },
    stop: async () => {
      stopped = true
      cancel?.()
      cancelListening?.()
      // A beat under way would bring the row back.
      await current?.catch(() => undefined)
      await table.remove(id, beats)
    },
  }
}
