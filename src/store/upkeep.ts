// Periodic work of the store in a server: writes batched rows and deletes expired rows.

import { nextTurn } from '../lib/time.ts'
import type { AnswerLatencyTable } from './answer-latencies.ts'
import { trimChanges } from './changes.ts'
import type { TableScope } from './copy/table-scope.ts'
import type { LastUsedWriter } from './last-used.ts'

export interface UpkeepOptions {
  /** Returns the last uses since the last call: Unix seconds by key id. */
  takeUses(): ReadonlyMap<string, number>
  /** Passes the response times since the last call to `write`. Data that could not be written is passed again. */
  readonly drainLatencies?: (write: AnswerLatencyTable['add']) => Promise<void>
  onError(error: unknown): void
  /** Called before each batch. Returns false while another process deletes expired rows. */
  readonly sweeps?: () => boolean
  readonly flushIntervalMs?: number
  readonly sweepIntervalMs?: number
}

export interface UpkeepDependencies {
  readonly scope: TableScope
  readonly lastUsed: LastUsedWriter
  readonly answerLatencies: Pick<AnswerLatencyTable, 'add'>
  /** `sweep` deletes a batch of expired rows and returns their number. */
  readonly tables: readonly { sweep(): Promise<number> }[]
}

export const createUpkeep = (dependencies: UpkeepDependencies) => {
  const { scope, lastUsed, answerLatencies, tables } = dependencies
  const timers: ReturnType<typeof setInterval>[] = []
  const underWay = new Set<Promise<void>>()
  let settings: UpkeepOptions | undefined

  const flush = async (): Promise<void> => {
    if (settings !== undefined) await lastUsed.write(settings.takeUses())
  }

  const writeLatencies = async (): Promise<void> => {
    await settings?.drainLatencies?.(answerLatencies.add)
  }

  const sweep = async (): Promise<void> => {
    const { sweeps = () => true } = settings ?? {}
    if (!sweeps()) return
    await trimChanges(scope)
    // One transaction per batch, so that requests can run in between.
    for (const table of tables) {
      while (sweeps() && (await table.sweep()) > 0) await nextTurn()
    }
  }

  const perform = async (chore: () => Promise<void>): Promise<void> => {
    try {
      await chore()
    } catch (error) {
      settings?.onError(error)
    }
  }

  const every = (intervalMs: number, chore: () => Promise<void>): void => {
    let current: Promise<void> | undefined
    const timer = setInterval(() => {
      // Skip a turn while a slow turn is running.
      if (current !== undefined) return
      const turn = perform(chore).finally(() => {
        current = undefined
        underWay.delete(turn)
      })
      current = turn
      underWay.add(turn)
    }, intervalMs)
    timer.unref()
    timers.push(timer)
  }

  return {
    start: (options: UpkeepOptions) => {
      if (settings !== undefined) return
      settings = options
      every(options.flushIntervalMs ?? 5_000, flush)
      every(options.sweepIntervalMs ?? 60_000, writeLatencies)
      every(options.sweepIntervalMs ?? 60_000, sweep)
    },
    flush,
    sweep,
    /** Stops the timers, and flushes a last time if they were started. */
    stop: async (): Promise<void> => {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.all(underWay)
      await perform(flush)
      await perform(writeLatencies)
    },
  }
}

export type Upkeep = ReturnType<typeof createUpkeep>
