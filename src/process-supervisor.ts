// Several processes behind one port: starts them, restarts one that dies, and replaces them one after another on demand.
// The first is started alone, since it makes what a first start makes; the others follow once it is ready. Threads share
// a fate that processes don't: native code that loops, memory that is never given back.

import type { FromProcess, ToProcess } from './process-messages.ts'
import { mergeMetrics } from './process-metrics.ts'
import type { LogFields } from './telemetry/log.ts'

export interface SupervisedProcess {
  readonly pid: number
  send(message: ToProcess): void
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
}

export interface ProcessListener {
  readonly onMessage: (message: FromProcess) => void
  /** Once, when it has ended; null when a signal ended it. */
  readonly onExit: (exitCode: number | null) => void
}

export interface ProcessSupervisorOptions {
  readonly count: number
  readonly spawn: (index: number, listener: ProcessListener) => SupervisedProcess
  /** How long a process may take to stop before it is killed. */
  readonly stopMs: number
  readonly after: (delayMs: number, callback: () => void) => () => void
  readonly monotonicMs: () => number
  readonly log: { info(message: string, fields?: LogFields): void; error(message: string, fields?: LogFields): void }
}

export interface ProcessSupervisor {
  /** Resolves when all listen. @throws ProcessStartError when one ends instead; the others have been stopped by then. */
  start(): Promise<void>
  /** Replaces each process in turn; the others serve meanwhile. Resolves false when a new one did not get ready. */
  replaceAll(): Promise<boolean>
  stop(): Promise<void>
  /** For whoever looks: those that listen. */
  ready(): number
}

/** A process ended before it was ready; it has said why. */
export class ProcessStartError extends Error {
  override readonly name = 'ProcessStartError'
  readonly exitCode: number
  constructor(index: number, exitCode: number | null) {
    super(`process ${index} did not start`)
    this.exitCode = exitCode ?? 1
  }
}

const BACKOFF_MS = 100
const BACKOFF_MAX_MS = 5_000
/** A process that was ready for this long died of something new. */
const SETTLED_MS = 30_000
/** One that is too busy to say its metrics is left out. */
const COLLECT_MS = 1_000
const PING_MS = 1_000
/**
 * One that leaves so many pings unanswered serves nobody: it is killed, and a new one started. Pings are counted and not
 * the time: whoever suspends the whole group stops the supervisor too.
 */
const SILENT_PINGS = 10
/** The same for one that starts. The first start makes keys and keystores; a machine may be busy. */
const SILENT_PINGS_AT_START = 120

interface Place {
  readonly index: number
  process: SupervisedProcess | null
  ready: boolean
  readySinceMs: number
  failures: number
  /** Pings since it last said anything. */
  silentPings: number
  /** It is being stopped on purpose. */
  leaving: boolean
  onReady: (() => void)[]
  onExit: ((exitCode: number | null) => void)[]
  cancelRestart: () => void
}

interface Collection {
  readonly texts: Map<number, string>
  readonly waiting: Set<number>
  finish(): void
}

export const createProcessSupervisor = (options: ProcessSupervisorOptions): ProcessSupervisor => {
  const { count, spawn, stopMs, after, monotonicMs, log } = options
  const collections = new Map<number, Collection>()
  let collectionId = 0
  let stopping = false
  let replacing: Promise<boolean> = Promise.resolve(true)

  const places: Place[] = Array.from({ length: count }, (_, index) => ({
    ...{ index, process: null, ready: false, readySinceMs: 0, failures: 0, silentPings: 0, leaving: false },
    ...{ onReady: [], onExit: [], cancelRestart: () => undefined },
  }))

  const collect = (asker: Place, askerId: number): void => {
    const id = ++collectionId
    const asked = places.filter(({ ready }) => ready)
    const finish = (): void => {
      cancel()
      collections.delete(id)
      asker.process?.send({ type: 'collected', id: askerId, text: mergeMetrics(collection.texts) })
    }
    const collection: Collection = { texts: new Map(), waiting: new Set(asked.map(({ index }) => index)), finish }
    const cancel = after(COLLECT_MS, finish)
    collections.set(id, collection)
    for (const { process } of asked) process?.send({ type: 'report', id })
  }

  const drop = (collection: Collection, index: number): void => {
    collection.waiting.delete(index)
    if (collection.waiting.size === 0) collection.finish()
  }

  const take = (place: Place, message: FromProcess): void => {
    place.silentPings = 0
    if (message.type === 'pong') return
    if (message.type === 'ready') {
      place.ready = true
      place.readySinceMs = monotonicMs()
      for (const tell of place.onReady.splice(0)) tell()
    } else if (message.type === 'collect') {
      collect(place, message.id)
    } else {
      const collection = collections.get(message.id)
      if (collection === undefined) return
      collection.texts.set(place.index, message.text)
      drop(collection, place.index)
    }
  }

  /** A process that is stopped, or loops in native code, holds its part of the connections and answers none. */
  const checkOn = (place: Place): void => {
    const { process, ready, leaving } = place
    if (process === null || leaving) return
    place.silentPings += 1
    if (place.silentPings > (ready ? SILENT_PINGS : SILENT_PINGS_AT_START)) {
      log.error('a process does not answer and is killed', { process: place.index })
      process.kill('SIGKILL')
      return
    }
    if (ready) process.send({ type: 'ping' })
  }
  const watch = (): void => {
    if (stopping) return
    for (const place of places) checkOn(place)
    cancelWatch = after(PING_MS, watch)
  }
  let cancelWatch = after(PING_MS, watch)

  const startIn = (place: Place): void => {
    place.leaving = false
    place.silentPings = 0
    const onExit = (exitCode: number | null): void => {
      const settled = place.ready && monotonicMs() - place.readySinceMs >= SETTLED_MS
      place.process = null
      place.ready = false
      place.onReady = []
      for (const collection of [...collections.values()]) drop(collection, place.index)
      const waiting = place.onExit.splice(0)
      for (const tell of waiting) tell(exitCode)
      if (stopping || place.leaving || waiting.length > 0) return
      place.failures = settled ? 0 : place.failures + 1
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.max(0, place.failures - 1))
      log.error('a process ended; it is started again', { process: place.index, exitCode, delayMs })
      place.cancelRestart = after(delayMs, () => startIn(place))
    }
    try {
      place.process = spawn(place.index, { onMessage: (message) => take(place, message), onExit })
    } catch (error) {
      // No memory, or no process left to have: as if it had ended at once.
      log.error('a process could not be started', { process: place.index, error })
      onExit(null)
    }
  }

  /** Resolves with null once it is ready, or with how it ended. */
  const startAndWait = (place: Place): Promise<{ readonly exitCode: number | null } | null> =>
    new Promise((resolve) => {
      const exited = (exitCode: number | null): void => resolve({ exitCode })
      place.onReady.push(() => {
        place.onExit = place.onExit.filter((tell) => tell !== exited)
        resolve(null)
      })
      place.onExit.push(exited)
      startIn(place)
    })

  const stopOne = async (place: Place): Promise<void> => {
    place.cancelRestart()
    place.leaving = true
    const { process } = place
    if (process === null) return
    const exited = new Promise<void>((resolve) => place.onExit.push(() => resolve()))
    const cancel = after(stopMs, () => {
      log.error('a process did not stop and is killed', { process: place.index })
      process.kill('SIGKILL')
    })
    process.kill('SIGTERM')
    await exited
    cancel()
  }

  const stop = async (): Promise<void> => {
    stopping = true
    cancelWatch()
    await Promise.all(places.map(stopOne))
  }

  const replaceEach = async (): Promise<boolean> => {
    for (const place of places) {
      if (stopping) return false
      await stopOne(place)
      if (stopping) return false
      const ended = await startAndWait(place)
      if (ended === null) continue
      if (stopping) return false
      log.error('a new process did not start; the others are left as they are', { process: place.index })
      place.failures = 1
      place.cancelRestart = after(BACKOFF_MAX_MS, () => startIn(place))
      return false
    }
    log.info('all processes were replaced', { processes: count })
    return true
  }

  return {
    start: async () => {
      const [first, ...others] = places
      const began = async (place: Place): Promise<void> => {
        const ended = await startAndWait(place)
        if (ended !== null) throw new ProcessStartError(place.index, ended.exitCode)
      }
      try {
        if (first !== undefined) await began(first)
        await Promise.all(others.map(began))
      } catch (error) {
        await stop()
        throw error
      }
    },
    replaceAll: () => {
      replacing = replacing.then(replaceEach)
      return replacing
    },
    stop,
    ready: () => places.filter(({ ready }) => ready).length,
  }
}
