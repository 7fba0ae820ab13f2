// Keeps the requested number of workers alive. A lost worker's jobs are passed on once it can no longer record.
import { DetailedError } from '../lib/named-error.ts'
import type { SentRevision } from '../policy/types/program.ts'
import type { LossCause, PoolParts } from './pool-options.ts'
import type { WorkerReport, WorkerSettings } from './protocol.ts'
import type { PendingJob } from './settlement.ts'
import type { OpenPort, OutcomeBatch } from './wire.ts'
import { culpritOf, WorkerHandle } from './worker-handle.ts'
import { createHangMonitor, createSlots, createThreadReaper, restartDelayMs, type Slot } from './worker-threads.ts'

/** A worker that can no longer record anything, except through an append in which it may be stuck. */
export interface LostWorker {
  readonly handle: WorkerHandle
  readonly culprit: PendingJob | null
  /** False if the thread is still in an append, so that its log may still grow. */
  readonly logIsFinal: boolean
}

export interface SupervisorOptions {
  readonly spawn: OpenPort
  /** Called at each start, because the attester keys change. */
  readonly settings: () => Omit<WorkerSettings, 'slot' | 'generation' | 'shared'>
  readonly attestersVersion: () => number
  readonly firstSlot: number
  readonly revision: (revisionId: string) => SentRevision | undefined
  readonly onLive: (handle: WorkerHandle) => void
  readonly onOutcomes: (handle: WorkerHandle, batch: OutcomeBatch) => void
  readonly onReport: (handle: WorkerHandle, report: WorkerReport) => void
  readonly onGone: (handle: WorkerHandle) => void
  /** Called after `onGone` if the worker was lost. Never rejects. */
  readonly takeLostJobs: (lost: LostWorker) => Promise<void>
}

/** `detail` is the reason in one line. */
export class WorkersUnusableError extends DetailedError {}

interface FirstStart {
  readonly resolve: () => void
  readonly reject: (error: WorkersUnusableError) => void
}

export const createSupervisor = (parts: PoolParts, options: SupervisorOptions) => {
  const { clock, timers, limits, onEvent, handles } = parts
  const slots = createSlots(options.firstSlot)
  const restarts: Record<LossCause, number> = { crash: 0, hang: 0, start: 0 }
  const reaper = createThreadReaper(timers, limits.terminateGraceMs)
  const closers: (() => void)[] = []
  let wanted = 0
  let firstStart: FirstStart | null = null

  const forget = (handle: WorkerHandle): void => {
    const index = handles.indexOf(handle)
    if (index >= 0) handles.splice(index, 1)
  }

  const removeSlot = (slot: Slot): void => {
    slot.cancelTimer()
    slots.remove(slot)
    if (slots.all.size === 0) for (const close of closers.splice(0)) close()
  }

  const startIn = (slot: Slot): void => {
    let handle: WorkerHandle
    try {
      handle = new WorkerHandle({
        slot: slot.number,
        generation: slots.nextGeneration(),
        settings: options.settings(),
        spawn: options.spawn,
        clock,
        maxBatch: limits.maxBatch,
        revision: options.revision,
        on: {
          live,
          outcomes: options.onOutcomes,
          drained,
          report,
          protocolError: (lost) => giveUp(lost, 'crash'),
          closed,
        },
      })
    } catch {
      restarts.start += 1
      failFirstStart('could not create a signing worker thread')
      slot.failures += 1
      replaceIn(slot)
      return
    }
    handle.attestersVersion = options.attestersVersion()
    slot.handle = handle
    handles.push(handle)
    slot.cancelTimer = timers.after(limits.startTimeoutMs, () => {
      giveUpStarting(handle, 'starting a signing worker timed out')
    })
  }

  const replaceIn = (slot: Slot): void => {
    slot.cancelTimer()
    slot.handle = null
    const delayMs = restartDelayMs(slot.failures, limits)
    if (slot.retiring) removeSlot(slot)
    else if (delayMs === 0) startIn(slot)
    else slot.cancelTimer = timers.after(delayMs, () => startIn(slot))
  }

  const live = (handle: WorkerHandle): void => {
    slots.of(handle)?.cancelTimer()
    if (handle.ready !== null) {
      const { slot, generation, ready } = handle
      onEvent({ type: 'worker-ready', slot, generation, report: ready })
    }
    // The keys changed during startup.
    if (handle.attestersVersion !== options.attestersVersion()) giveUp(handle, 'start')
    else options.onLive(handle)
    if (firstStart === null || handles.some((other) => other.state === 'starting')) return
    firstStart.resolve()
    firstStart = null
  }

  const report = (handle: WorkerHandle, message: WorkerReport): void => {
    if (message.type === 'unusable') {
      onEvent({ type: 'worker-unusable', slot: handle.slot, reason: message.reason })
      giveUpStarting(handle, message.reason)
    } else if (message.type === 'closed') {
      handle.terminate()
    } else {
      options.onReport(handle, message)
    }
  }

  const closed = (handle: WorkerHandle): void => {
    if (reaper.gone(handle)) return
    if (handle.state === 'starting') giveUpStarting(handle, 'a signing worker stopped while starting')
    else giveUp(handle, 'crash')
  }

  /** A failed start is retried later, except during the first start, which fails as a whole. */
  const giveUpStarting = (handle: WorkerHandle, reason: string): void => {
    const slot = slots.of(handle)
    if (firstStart !== null && slot !== undefined) slot.retiring = true
    giveUp(handle, 'start')
    failFirstStart(reason)
  }

  const failFirstStart = (reason: string): void => {
    if (firstStart === null) return
    const { reject } = firstStart
    firstStart = null
    for (const slot of [...slots.all]) retire(slot)
    reject(new WorkersUnusableError(reason))
  }

  const lose = (lost: LostWorker): void => {
    options.onGone(lost.handle)
    void options.takeLostJobs(lost)
  }

  const giveUp = (handle: WorkerHandle, cause: LossCause): void => {
    if (handle.state === 'lost' || handle.state === 'gone' || handle.state === 'closing') return
    const slot = slots.of(handle)
    handle.state = 'lost'
    forget(handle)
    restarts[cause] += 1
    const fenced = handle.fence()
    const culprit = culpritOf(handle)
    onEvent({
      type: 'worker-lost',
      slot: handle.slot,
      generation: handle.generation,
      cause,
      inFlight: handle.inFlight.size,
      culpritUuid: culprit?.job.uuid ?? null,
    })
    // A fenced worker records nothing more, so its jobs need not wait for the end of its thread.
    if (fenced) lose({ handle, culprit, logIsFinal: true })
    reaper.end(handle, (gone) => {
      if (!fenced) lose({ handle, culprit, logIsFinal: gone })
      if (slot === undefined) return
      slot.failures = handle.proven ? 0 : slot.failures + 1
      replaceIn(gone ? slot : slots.abandon(slot))
    })
  }

  /** Makes an idle worker close its log, and terminates it after a timeout. */
  const closeWorker = (handle: WorkerHandle, slot: Slot): void => {
    handle.state = 'closing'
    forget(handle)
    reaper.await(handle, limits.closeTimeoutMs, (gone) => {
      handle.state = 'gone'
      options.onGone(handle)
      removeSlot(gone ? slot : slots.abandon(slot))
    })
    handle.control({ type: 'close' })
  }

  const drained = (handle: WorkerHandle): void => {
    const slot = slots.of(handle)
    if (slot !== undefined) closeWorker(handle, slot)
  }

  const retire = (slot: Slot): void => {
    if (slot.retiring) return
    slot.retiring = true
    const { handle } = slot
    if (handle === null) {
      removeSlot(slot)
    } else if (handle.state === 'live') {
      handle.state = 'draining'
      if (handle.inFlight.size === 0) closeWorker(handle, slot)
    } else if (handle.state === 'starting') {
      slot.cancelTimer()
      closeWorker(handle, slot)
    }
  }

  const resize = (count: number): void => {
    wanted = count
    const kept = [...slots.all].filter((slot) => !slot.retiring)
    for (const slot of kept.slice(count)) retire(slot)
    for (let missing = count - kept.length; missing > 0; missing--) startIn(slots.add())
  }

  const monitor = createHangMonitor({ handles, clock, timers, limits, onHang: (handle) => giveUp(handle, 'hang') })

  return {
    restarts,
    get abandoned(): number {
      return reaper.stuck
    },
    get wanted(): number {
      return wanted
    },
    /** @throws WorkersUnusableError if a worker cannot start the first time */
    start: (count: number): Promise<void> => {
      monitor.start()
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      firstStart = { resolve, reject }
      resize(count)
      return promise
    },
    resize,
    /** Retires every worker and waits until each has ended or was abandoned. */
    close: async (): Promise<void> => {
      if (slots.all.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        closers.push(resolve)
        resize(0)
        await promise
      }
      monitor.stop()
    },
  }
}

export type Supervisor = ReturnType<typeof createSupervisor>
