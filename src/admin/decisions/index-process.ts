// Keeps one process of the decision index running. When it exits, its open requests fail. Organizations take turns.

import type {
  IndexOperation,
  IndexQuestion,
  IndexReply,
  IndexRequest,
  IndexResults,
} from '../../../workers/index/decision-index-protocol.ts'
import { DeadlineExceededError, DependencyUnavailableError, QueueFullError } from '../../domain/errors.ts'
import { currentCaller } from '../../lib/caller.ts'
import { createFairSlots } from '../../lib/fair-slots.ts'
import type { Timers } from '../../lib/time.ts'
import { keepProcess } from '../../program/kept-process.ts'

export interface IndexProcess {
  send(question: IndexQuestion): void
  kill(): void
}

export interface IndexProcessListener {
  onReply(reply: IndexReply): void
  onExit(): void
}

export type IndexEvent = { readonly type: 'lost' } | { readonly type: 'failed'; readonly errorClass: string }

export interface AskedProcessDependencies {
  readonly spawn: (listener: IndexProcessListener) => IndexProcess
  readonly after: Timers['after']
  readonly onEvent: (event: IndexEvent) => void
  readonly onStatus?: (status: IndexResults['status']) => void
}

interface Waiting {
  readonly resolve: (result: IndexResults[IndexOperation]) => void
  readonly reject: (error: Error) => void
  /** Cancels the timeout, and withdraws a request that waits for a slot. */
  readonly cancel: () => void
}

const ANSWER_WITHIN_MS = 20_000
/** The process runs one SQLite search at a time; the second request avoids idle time. */
const AT_ONCE = 2
const WAITING_MAX = 1_000
const OWN_WAITING_MAX = 50
const FIRST_RESTART_MS = 250
const LONGEST_RESTART_MS = 30_000

const unavailable = (cause?: unknown): DependencyUnavailableError =>
  new DependencyUnavailableError('the decision index is unavailable; retry', cause === undefined ? {} : { cause })

const ownerOf = (request: IndexRequest): string => {
  if ('filter' in request) return request.filter.organizationId
  if ('question' in request) return request.question.organizationId ?? ''
  return 'organizationId' in request ? request.organizationId : ''
}

export const createAskedProcess = (dependencies: AskedProcessDependencies) => {
  const { spawn, after, onEvent, onStatus } = dependencies
  const waiting = new Map<number, Waiting>()
  /** Releases the slot of a request in progress, even after its timeout. */
  const working = new Map<number, () => void>()
  const slots = createFairSlots(AT_ONCE, WAITING_MAX, OWN_WAITING_MAX)
  let lastId = 0

  const settle = (id: number): Waiting | undefined => {
    const question = waiting.get(id)
    waiting.delete(id)
    question?.cancel()
    return question
  }

  const receive = (reply: IndexReply): void => {
    if ('status' in reply) {
      onStatus?.(reply.status)
      return
    }
    if (reply.id === 0) {
      if (!reply.ok) onEvent({ type: 'failed', errorClass: reply.errorClass })
      return
    }
    kept.works()
    const question = settle(reply.id)
    working.get(reply.id)?.()
    working.delete(reply.id)
    if (reply.ok) question?.resolve(reply.result)
    else question?.reject(unavailable(new Error(reply.errorClass)))
  }

  const failAll = (): void => {
    for (const id of [...waiting.keys()]) settle(id)?.reject(unavailable())
    for (const release of working.values()) release()
    working.clear()
  }
  const kept = keepProcess({
    start: (onExit) =>
      spawn({
        onReply: receive,
        onExit: () => {
          failAll()
          onExit()
        },
      }),
    after,
    firstRestartMs: FIRST_RESTART_MS,
    longestRestartMs: LONGEST_RESTART_MS,
    onLost: () => onEvent({ type: 'lost' }),
  })

  return {
    /** @throws DependencyUnavailableError, QueueFullError; DeadlineExceededError if the caller's request has ended */
    ask: (request: IndexRequest): Promise<IndexResults[IndexOperation]> =>
      new Promise((resolve, reject) => {
        if (kept.running() === null) return reject(unavailable())
        const withdrawal = new AbortController()
        const { signal } = currentCaller()
        if (signal?.aborted) return reject(new DeadlineExceededError())
        const slot = slots.acquire(ownerOf(request), withdrawal.signal)
        if (slot === null) return reject(new QueueFullError())
        lastId += 1
        const id = lastId
        const cancelLimit = after(ANSWER_WITHIN_MS, () => settle(id)?.reject(unavailable()))
        const expire = (): void => settle(id)?.reject(new DeadlineExceededError())
        signal?.addEventListener('abort', expire)
        const cancel = (): void => {
          cancelLimit()
          signal?.removeEventListener('abort', expire)
          withdrawal.abort()
        }
        waiting.set(id, { resolve, reject, cancel })
        const begin = (release: () => void): void => {
          const running = kept.running()
          if (running === null || !waiting.has(id)) release()
          else {
            working.set(id, release)
            running.send({ id, request })
          }
        }
        slot.then(begin, () => undefined)
      }),
    close: () => {
      kept.close()
      kept.running()?.kill()
    },
  }
}

export type AskedProcess = ReturnType<typeof createAskedProcess>
