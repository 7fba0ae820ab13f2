// Common access to every source outside this process: one question at a time for the same key, a cache, a limit on
// questions under way, and a breaker. When there is no answer the result is null, never a guess.
import { LRUCache } from 'lru-cache'
import { type Breaker, createBreaker } from '../lib/breaker.ts'
import type { Clock } from '../lib/time.ts'

/** Totals since the start. */
export interface RemoteCounts {
  /** Answered from the cache. */
  readonly kept: number
  readonly answered: number
  readonly failed: number
  /** Not asked: the breaker was open, or too many questions were under way. */
  readonly refused: number
  readonly open: boolean
}

export interface Remote<Answer> {
  /** Answers synchronously when the answer is cached or can't be had. Never rejects. */
  ask(key: string, question: () => Promise<Answer>): Answer | null | Promise<Answer | null>
  counts(): RemoteCounts
}

export interface RemoteOptions {
  readonly clock: Clock
  /** How long an answer is cached; 0 turns caching off. */
  readonly keepMs: number
  readonly keptMax: number
  readonly underWayMax: number
  readonly onError: (error: unknown) => void
  readonly breaker?: Breaker
}

export const createRemote = <Answer extends {}>(options: RemoteOptions): Remote<Answer> => {
  const { clock, keepMs, underWayMax, onError, breaker = createBreaker({ clock }) } = options
  const kept = new LRUCache<string, { readonly answer: Answer; readonly untilMs: number }>({ max: options.keptMax })
  const underWay = new Map<string, Promise<Answer | null>>()
  const totals = { kept: 0, answered: 0, failed: 0, refused: 0 }

  const run = async (key: string, question: () => Promise<Answer>): Promise<Answer | null> => {
    try {
      const answer = await question()
      breaker.succeeded()
      totals.answered += 1
      if (keepMs > 0) kept.set(key, { answer, untilMs: clock.monotonicMs() + keepMs })
      return answer
    } catch (error) {
      breaker.failed()
      totals.failed += 1
      onError(error)
      return null
    } finally {
      underWay.delete(key)
    }
  }

  return {
    ask: (key, question) => {
      const found = kept.get(key)
      if (found !== undefined && clock.monotonicMs() < found.untilMs) {
        totals.kept += 1
        return found.answer
      }
      const joined = underWay.get(key)
      if (joined !== undefined) return joined
      if (underWay.size >= underWayMax || !breaker.permits()) {
        totals.refused += 1
        return null
      }
      const asked = run(key, question)
      underWay.set(key, asked)
      return asked
    },
    counts: () => ({ ...totals, open: breaker.open }),
  }
}
