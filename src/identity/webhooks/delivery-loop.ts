// Sends what waits to be sent: a look at the queue now and then, a few messages at a time, each under a claim that outlives
// its attempt. A process that dies in between leaves a claim that runs out, and the message is sent again with the same id.
import type { Deliver } from './deliver.ts'
import type { ClaimedMessage, WebhookMessageStore } from './types.ts'

export interface DeliveryLoopDependencies {
  readonly messages: WebhookMessageStore
  readonly deliver: Deliver
  readonly onError: (error: unknown) => void
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
  const { messages, deliver, onError, concurrencyMax = 32, claimSeconds = 60 } = dependencies
  const underWay = new Set<Promise<void>>()
  let timer: ReturnType<typeof setInterval> | undefined
  let looking = false
  let closed = false

  const attempt = async (message: ClaimedMessage): Promise<void> => {
    try {
      await messages.settle(message, await deliver(message))
    } catch (error) {
      // The claim runs out, and it is sent again.
      onError(error)
    }
  }

  const claim = async (): Promise<readonly ClaimedMessage[]> => {
    const free = concurrencyMax - underWay.size
    if (closed || looking || free <= 0) return []
    looking = true
    try {
      return await messages.claim(free, claimSeconds)
    } catch (error) {
      onError(error)
      return []
    } finally {
      looking = false
    }
  }

  const run = async (): Promise<number> => {
    const claimed = await claim()
    const attempts = claimed.map((message) => {
      const settled = attempt(message).finally(() => underWay.delete(settled))
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
      await Promise.all(underWay)
    },
  }
}
