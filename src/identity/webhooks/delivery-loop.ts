// Sends what waits to be sent: a look at the queue now and then, a few messages at a time, each under a claim that outlives
// its attempt. A process that dies in between leaves a claim that runs out, and the message is sent again with the same id.
import type { Deliver } from './deliver.ts'
import type { ClaimedMessage, WebhookMessageStore, WebhookOutcome } from './types.ts'

export interface DeliveryLoopDependencies {
  readonly messages: WebhookMessageStore
  readonly deliver: Deliver
  readonly onError: (error: unknown) => void
  /** Of each attempt whose outcome was written. */
  readonly onSettled?: (state: WebhookOutcome['state']) => void
  /** Of a message that is given up. */
  readonly onDead: (message: ClaimedMessage, failure: string) => void
  /** Attempts under way at once. */
  readonly concurrencyMax?: number
  /** Longer than an attempt may take. */
  readonly claimSeconds?: number
}

export interface DeliveryLoop {
  /** Looks once, and resolves when the attempts that came of it are settled: with how many there were. */
  run(): Promise<number>
  /** Looks every so often from now on. */
  start(intervalMs: number): void
  /** Looks no more; resolves when what is under way is settled. */
  close(): Promise<void>
}

export const createDeliveryLoop = (dependencies: DeliveryLoopDependencies): DeliveryLoop => {
  const { messages, deliver, onError, onSettled, onDead, concurrencyMax = 32, claimSeconds = 60 } = dependencies
  /** Looks and attempts. */
  const underWay = new Set<Promise<unknown>>()
  const perEndpoint = new Map<string, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let looking = false
  let closed = false

  const count = (endpointId: string, change: 1 | -1): void => {
    const left = (perEndpoint.get(endpointId) ?? 0) + change
    if (left === 0) perEndpoint.delete(endpointId)
    else perEndpoint.set(endpointId, left)
  }

  const attempt = async (message: ClaimedMessage): Promise<void> => {
    count(message.endpointId, 1)
    try {
      const outcome = await deliver(message)
      if (!(await messages.settle(message, outcome))) return
      onSettled?.(outcome.state)
      if (outcome.state === 'dead') onDead(message, outcome.failure)
    } catch (error) {
      // The claim runs out, and it is sent again.
      onError(error)
    } finally {
      count(message.endpointId, -1)
    }
  }

  const claim = async (): Promise<readonly ClaimedMessage[]> => {
    const free = concurrencyMax - underWay.size
    if (closed || looking || free <= 0) return []
    looking = true
    try {
      return await messages.claim(free, claimSeconds, (endpointId) => perEndpoint.get(endpointId) ?? 0)
    } catch (error) {
      onError(error)
      return []
    } finally {
      looking = false
    }
  }

  const run = async (): Promise<number> => {
    const look = claim()
    underWay.add(look)
    const claimed = await look
    underWay.delete(look)
    const attempts = claimed.map((message) => {
      const settled = attempt(message).finally(() => {
        underWay.delete(settled)
        // Its place is free: a queue is worked off as fast as it is taken, and not by the interval.
        if (timer !== undefined) void run()
      })
      underWay.add(settled)
      return settled
    })
    await Promise.all(attempts)
    return claimed.length
  }

  return {
    run,
    start: (intervalMs) => {
      timer = setInterval(() => void run(), intervalMs)
      timer.unref()
    },
    close: async () => {
      closed = true
      clearInterval(timer)
      timer = undefined
      // A look that was under way may have begun attempts.
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
