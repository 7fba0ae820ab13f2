// Sends queued messages, a few at a time. A claim outlasts its attempt. If a process crashes, its claims expire, and
// the messages are sent again with the same ids.

import type { WebhookOutcome } from '../../domain/webhook-message.ts'
import type { Deliver } from './deliver.ts'
import type { ClaimedMessage, WebhookMessageStore } from './message.ts'

export interface DeliveryLoopDependencies {
  readonly messages: WebhookMessageStore
  readonly deliver: Deliver
  readonly onError: (error: unknown) => void
  readonly onSettled?: (state: WebhookOutcome['state']) => void
  readonly onDead: (message: ClaimedMessage, failure: string) => void
  readonly concurrencyMax?: number
  /** Duration of a claim; longer than an attempt can take. */
  readonly claimSeconds?: number
}

export const createDeliveryLoop = (dependencies: DeliveryLoopDependencies) => {
  const { messages, deliver, onError, onSettled, onDead, concurrencyMax = 32, claimSeconds = 60 } = dependencies
  const underWay = new Set<Promise<unknown>>()
  const attempts = new Map<string, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let looking = false
  let closed = false

  const count = ({ endpointId, organizationId }: ClaimedMessage, change: 1 | -1): void => {
    for (const id of [endpointId, organizationId]) {
      const left = (attempts.get(id) ?? 0) + change
      if (left === 0) attempts.delete(id)
      else attempts.set(id, left)
    }
  }

  const attempt = async (message: ClaimedMessage): Promise<void> => {
    count(message, 1)
    try {
      const outcome = await deliver(message)
      if (!(await messages.settle(message, outcome))) return
      onSettled?.(outcome.state)
      if (outcome.state === 'dead') onDead(message, outcome.failure)
    } catch (error) {
      // The claim expires, and the message is sent again.
      onError(error)
    } finally {
      count(message, -1)
    }
  }

  const claim = async (): Promise<readonly ClaimedMessage[]> => {
    const free = concurrencyMax - underWay.size
    if (closed || looking || free <= 0) return []
    looking = true
    try {
      return await messages.claim(free, claimSeconds, (id) => attempts.get(id) ?? 0)
    } catch (error) {
      onError(error)
      return []
    } finally {
      looking = false
    }
  }

  /** Checks the queue once. Resolves with the number of attempts once all have ended. */
  const run = async (): Promise<number> => {
    const look = claim()
    underWay.add(look)
    const claimed = await look
    underWay.delete(look)
    const started = claimed.map((message) => {
      const settled = attempt(message).finally(() => {
        underWay.delete(settled)
        // Claims the next message now, because the interval must not limit the throughput.
        if (timer !== undefined) void run()
      })
      underWay.add(settled)
      return settled
    })
    await Promise.all(started)
    return claimed.length
  }

  return {
    run,
    start: (intervalMs: number) => {
      timer = setInterval(() => void run(), intervalMs)
      timer.unref()
    },
    close: async (): Promise<void> => {
      closed = true
      clearInterval(timer)
      timer = undefined
      // A check in progress may have started attempts.
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}

export type DeliveryLoop = ReturnType<typeof createDeliveryLoop>
