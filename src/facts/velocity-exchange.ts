// Exchanges wallet counts between processes through the store. A decision counts in other processes after a write and a
// read: half a second with up to fifty processes, which bounds the overshoot of a velocity limit.

import type { VelocityTally } from '../domain/velocity.ts'
import { singleFlight } from '../lib/single-flight.ts'
import type { Clock, Timers } from '../lib/time.ts'
import type { VelocityCounters } from './velocity.ts'

export interface VelocityTallies {
  /** Writes at most `writeMax` tallies under the process's next sequence. */
  write(processId: string, sequence: number, tallies: readonly VelocityTally[]): Promise<void>
  writers(): Promise<readonly { readonly processId: string; readonly sequence: number }[]>
  /** Next page of tallies after a sequence, if any. */
  readAfter(
    processId: string,
    sequence: number,
  ): Promise<{ readonly sequence: number; readonly tallies: readonly VelocityTally[] } | null>
}

export interface VelocityExchangeDependencies {
  readonly counters: Pick<VelocityCounters, 'publish' | 'addRemote'>
  readonly tallies: VelocityTallies
  readonly writeMax: number
  readonly processId: string
  /** Returns the number of live processes, including this one. */
  readonly processes: () => number
  readonly clock: Pick<Clock, 'unixSeconds'>
  readonly after: Timers['after']
  readonly onError: (error: unknown) => void
}

const EXCHANGE_MS = 200
const EXCHANGE_MS_PER_PROCESS = 4
const ALONE_MS = 1_000

export const createVelocityExchange = (dependencies: VelocityExchangeDependencies) => {
  const { counters, tallies, writeMax, processId, processes, clock, after, onError } = dependencies
  const readUntil = new Map<string, number>()
  let sequence = 0
  let cancel = (): void => undefined
  let stopped = false

  const publishAll = async (): Promise<void> => {
    const write = (batch: readonly VelocityTally[]): Promise<void> => {
      sequence += 1
      return tallies.write(processId, sequence, batch)
    }
    while ((await counters.publish(writeMax, write)) === writeMax);
  }

  const readFrom = async (writer: string, until: number): Promise<void> => {
    for (let from = readUntil.get(writer) ?? 0; from < until; ) {
      const page = await tallies.readAfter(writer, from)
      // The rows were deleted because their counts have expired.
      if (page === null) from = until
      else {
        counters.addRemote(writer, page.tallies, clock.unixSeconds())
        from = page.sequence
      }
      readUntil.set(writer, from)
    }
  }

  const readAll = async (): Promise<void> => {
    const writers = await tallies.writers()
    for (const writer of writers) {
      if (writer.processId !== processId) await readFrom(writer.processId, writer.sequence)
    }
    const known = new Set(writers.map((writer) => writer.processId))
    for (const writer of readUntil.keys()) if (!known.has(writer)) readUntil.delete(writer)
  }

  const exchange = singleFlight(async () => {
    await publishAll()
    // Reads even if no other process is live, because a process that has just stopped wrote its last counts.
    await readAll()
  })

  const schedule = (): void => {
    const count = processes()
    const delayMs = count > 1 ? Math.max(EXCHANGE_MS, EXCHANGE_MS_PER_PROCESS * count) : ALONE_MS
    cancel = after(delayMs, () => {
      void exchange()
        .catch(onError)
        .finally(() => {
          if (!stopped) schedule()
        })
    })
  }

  return {
    /** Reads all valid counts. Call before the first request. Rejects if the store cannot be read. */
    load: readAll,
    start: schedule,
    exchange,
    stop: async (): Promise<void> => {
      stopped = true
      cancel()
      await exchange.settled()
      await publishAll()
    },
  }
}

export type VelocityExchange = ReturnType<typeof createVelocityExchange>
