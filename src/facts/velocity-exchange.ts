// Tells the other processes what this one counted of wallets, and hears what they did, in the background. How far limits
// can be overshot follows from its intervals: what a process decides, the others know after one write and one read, half
// a second with up to fifty processes; until then each counts without it. What was told outlives the process.
import type { Clock } from '../domain/time.ts'
import type { VelocityTally } from '../domain/velocity.ts'
import type { VelocityCounters } from './velocity.ts'

/** As the store has it (src/store/velocity-tallies.ts). */
export interface VelocityTallies {
  /** At most `writeMax` tallies, under the process's next number. */
  write(processId: string, sequence: number, tallies: readonly VelocityTally[]): Promise<void>
  writers(): Promise<readonly { readonly processId: string; readonly sequence: number }[]>
  /** A page of what was written after a number; null: nothing. */
  readAfter(
    processId: string,
    sequence: number,
  ): Promise<{ readonly sequence: number; readonly tallies: readonly VelocityTally[] } | null>
}

export interface VelocityExchangeDependencies {
  readonly counters: Pick<VelocityCounters, 'tell' | 'hear'>
  readonly tallies: VelocityTallies
  readonly writeMax: number
  /** This process; new at each start. */
  readonly processId: string
  /** That live, this one included. */
  readonly processes: () => number
  readonly clock: Pick<Clock, 'unixSeconds'>
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** What could not be told or heard is tried again. */
  readonly onError: (error: unknown) => void
}

export interface VelocityExchange {
  /** Hears all that was ever told and still counts. Before the first request. Rejects when the store can't be read. */
  load(): Promise<void>
  start(): void
  /** Tells and hears now. Rejects when it can't. */
  exchange(): Promise<void>
  /** Tells what is left. */
  stop(): Promise<void>
}

const EXCHANGE_MS = 200
const EXCHANGE_MS_PER_PROCESS = 4
/** Nobody waits to hear: told so that it outlives the process. */
const ALONE_MS = 1_000

export const createVelocityExchange = (dependencies: VelocityExchangeDependencies): VelocityExchange => {
  const { counters, tallies, writeMax, processId, processes, clock, after, onError } = dependencies
  /** By process: up to where it was heard. */
  const heard = new Map<string, number>()
  let sequence = 0
  let current: Promise<void> | undefined
  let cancel = (): void => undefined
  let stopped = false

  const tellAll = async (): Promise<void> => {
    const write = (told: readonly VelocityTally[]): Promise<void> => {
      sequence += 1
      return tallies.write(processId, sequence, told)
    }
    while ((await counters.tell(writeMax, write)) === writeMax);
  }

  const hearFrom = async (writer: string, until: number): Promise<void> => {
    for (let from = heard.get(writer) ?? 0; from < until; ) {
      const page = await tallies.readAfter(writer, from)
      // What was written there is swept: none of it counts any more.
      if (page === null) from = until
      else {
        counters.hear(writer, page.tallies, clock.unixSeconds())
        from = page.sequence
      }
      heard.set(writer, from)
    }
  }

  const hearAll = async (): Promise<void> => {
    const writers = await tallies.writers()
    for (const writer of writers) {
      if (writer.processId !== processId) await hearFrom(writer.processId, writer.sequence)
    }
    const known = new Set(writers.map((writer) => writer.processId))
    for (const writer of heard.keys()) if (!known.has(writer)) heard.delete(writer)
  }

  const exchangeOnce = async (): Promise<void> => {
    await tellAll()
    if (processes() > 1) await hearAll()
  }

  const exchange = (): Promise<void> => {
    current ??= exchangeOnce().finally(() => {
      current = undefined
    })
    return current
  }

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
    load: hearAll,
    start: schedule,
    exchange,
    stop: async () => {
      stopped = true
      cancel()
      await current?.catch(() => undefined)
      await tellAll()
    },
  }
}
