// Starts, restarts and replaces processes behind one port. The first starts alone, because it initializes the
// deployment.
import type { ProcessTarget } from '../admin/live/processes.ts'
import { NamedError } from '../lib/named-error.ts'
import type { Timers } from '../lib/time.ts'
import type { LogFields } from '../telemetry/log.ts'
import { createProcessAnswers } from './answers.ts'
import type { FromProcess } from './messages.ts'
import { newPlace, type Place, type ProcessListener, type SupervisedProcess } from './place.ts'

export interface ProcessSupervisorOptions {
  readonly target: ProcessTarget
  readonly processesMax: number
  readonly spawn: (index: number, listener: ProcessListener, workers: number) => SupervisedProcess
  /** Time after which a stopping process is killed. */
  readonly stopMs: number
  readonly after: Timers['after']
  readonly monotonicMs: () => number
  readonly unixMs: () => number
  readonly log: { info(message: string, fields?: LogFields): void; error(message: string, fields?: LogFields): void }
}

export interface ProcessSupervisor {
  /**
   * Resolves to true when all processes listen, or to false if stopped earlier. @throws ProcessStartError if a process
   * ends instead
   */
  start(): Promise<boolean>
  /** Replaces processes one after another. Resolves to false if a new process doesn't become ready. */
  replaceAll(): Promise<boolean>
  stop(): Promise<void>
  ready(): number
}

/** The process exited before it was ready, and has logged why. */
export class ProcessStartError extends NamedError {
  readonly exitCode: number
  constructor(index: number, exitCode: number | null) {
    super(exitCode === null ? `process ${index} was killed before it was ready` : `process ${index} did not start`)
    this.exitCode = exitCode ?? 1
  }
}

const BACKOFF_MS = 100
const BACKOFF_MAX_MS = 5_000
/** Time for which a process must have been ready for its exit to count as a new problem. */
const SETTLED_MS = 30_000
const PING_MS = 1_000
/** Unanswered pings, not time, because suspending the process group also suspends the supervisor. */
const SILENT_PINGS = 10
/** Higher limit at startup, because keys are created at first startup. */
const SILENT_PINGS_AT_START = 120

export const createProcessSupervisor = (options: ProcessSupervisorOptions): ProcessSupervisor => {
  const { spawn, stopMs, after, monotonicMs, unixMs, log } = options
  let target = options.target
  let stopping = false
  /** Only one change of the processes runs at a time. */
  let changing: Promise<boolean> = Promise.resolve(true)

  let places: readonly Place[] = Array.from({ length: target.processes }, (_, index) => newPlace(index))

  const answers = createProcessAnswers({
    places: () => places,
    target: () => target,
    processesMax: options.processesMax,
    after,
  })

  const tellWorkers = (place: Place): void => {
    if (!place.ready || place.workers === target.workers) return
    place.workers = target.workers
    place.process?.send({ type: 'workers', workers: target.workers })
  }

  const take = (place: Place, message: FromProcess): void => {
    place.silentPings = 0
    switch (message.type) {
      case 'pong':
        return
      case 'ready':
        place.ready = true
        place.readySinceMs = monotonicMs()
        tellWorkers(place)
        for (const tell of place.onReady.splice(0)) tell()
        return
      case 'resize':
        resize(message.target)
        answers.look(place, message.id)
        return
      default:
        answers.take(place, message)
    }
  }

  /** A suspended process, or a process in a native loop, still receives connections but doesn't answer them. */
  const checkOn = (place: Place): void => {
    const { process, ready, leaving } = place
    if (process === null || process.own === true || leaving) return
    place.silentPings += 1
    if (place.silentPings > (ready ? SILENT_PINGS : SILENT_PINGS_AT_START)) {
      log.error('killing a process that does not respond', { process: place.index })
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
    place.startedAtMs = unixMs()
    place.workers = target.workers
    const onExit = (exitCode: number | null): void => {
      const settled = place.ready && monotonicMs() - place.readySinceMs >= SETTLED_MS
      place.process = null
      place.ready = false
      place.onReady = []
      answers.drop(place.index)
      const waiting = place.onExit.splice(0)
      for (const tell of waiting) tell(exitCode)
      if (stopping || place.leaving || waiting.length > 0) return
      place.failures = settled ? 0 : place.failures + 1
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.max(0, place.failures - 1))
      log.error('a process exited; restarting it', { process: place.index, exitCode, delayMs })
      place.cancelRestart = after(delayMs, () => startIn(place))
    }
    try {
      place.process = spawn(place.index, { onMessage: (message) => take(place, message), onExit }, place.workers)
    } catch (error) {
      // The machine is out of memory or processes: handled like a process that ends immediately.
      log.error('could not start a process', { process: place.index, error })
      onExit(null)
    }
  }

  /** Returns null when the process is ready; its exit code if it ended. */
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
    const { process } = place
    const told = place.leaving
    place.leaving = true
    if (process === null) return
    const exited = new Promise<void>((resolve) => place.onExit.push(() => resolve()))
    // A second signal would interrupt the stop.
    if (told) return exited
    const cancel = after(stopMs, () => {
      log.error('killing a process that did not stop', { process: place.index })
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
      log.error('a new process did not start; the other processes were not replaced', { process: place.index })
      place.failures = 1
      place.cancelRestart = after(BACKOFF_MAX_MS, () => startIn(place))
      return false
    }
    log.info('replaced all processes', { processes: places.length })
    return true
  }

  const follow = async (): Promise<boolean> => {
    const surplus = places.slice(target.processes)
    await Promise.all(surplus.map(stopOne))
    if (stopping) return false
    places = places.filter((place) => !surplus.includes(place))
    const further = Array.from({ length: Math.max(0, target.processes - places.length) }, (_, index) =>
      newPlace(places.length + index),
    )
    places = [...places, ...further]
    for (const place of further) startIn(place)
    return true
  }

  const resize = (wanted: ProcessTarget): void => {
    if (stopping) return
    const processes = Math.min(options.processesMax, wanted.processes)
    if (processes !== target.processes) {
      log.info('changing the number of processes', { from: target.processes, to: processes })
    }
    target = { processes, workers: wanted.workers }
    for (const place of places) tellWorkers(place)
    changing = changing.then(follow)
  }

  const startAll = async (): Promise<boolean> => {
    const [first, ...others] = places
    const began = async (place: Place): Promise<void> => {
      const ended = await startAndWait(place)
      if (ended !== null) throw new ProcessStartError(place.index, ended.exitCode)
    }
    try {
      if (first !== undefined) await began(first)
      await Promise.all(others.map(began))
    } catch (error) {
      if (stopping) return false
      await stop()
      throw error
    }
    return true
  }

  return {
    start: () => {
      const started = startAll()
      changing = started.catch(() => false)
      return started
    },
    replaceAll: () => {
      changing = changing.then(replaceEach)
      return changing
    },
    stop,
    ready: () => places.filter(({ ready }) => ready).length,
  }
}
