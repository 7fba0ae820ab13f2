// Access to external sources: shared queries, a cache, limited concurrency with turns, and a breaker.
import { LRUCache } from 'lru-cache'
import { type Breaker, createBreaker } from '../lib/breaker.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import type { Clock } from '../lib/time.ts'
import type { FactSubject } from '../policy/types/needs.ts'

export interface RemoteCounts {
  readonly kept: number
  readonly answered: number
  readonly failed: number
  /** Queries that were not sent: open breaker, too many waiting queries, or past the deadline. */
  readonly refused: number
  readonly open: boolean
}

export type RemoteCaller = Pick<FactSubject, 'organizationId' | 'deadlineMs'>

export interface Remote<Answer> {
  /** Returns null if there is no answer. Synchronous if cached or unavailable. Never rejects. */
  ask(key: string, question: () => Promise<Answer>, caller?: RemoteCaller): Answer | null | Promise<Answer | null>
  counts(): RemoteCounts
}

export interface RemoteOptions {
  readonly clock: Clock
  /** Milliseconds; 0 disables the cache. */
  readonly keepMs: number
  readonly keptMax: number
  readonly underWayMax: number
  /** Maximum waiting queries per organization. */
  readonly waitingMax: number
  readonly onError: (error: unknown) => void
  /**
   * Returns whether the query itself caused the failure, which then doesn't open the breaker for others. Defaults to
   * false.
   */
  readonly isQuestionsFault?: (error: unknown) => boolean
  readonly breaker?: Breaker
}

/** Caller without a request, such as checks of sessions. */
const SERVICE: RemoteCaller = { organizationId: '', deadlineMs: Number.POSITIVE_INFINITY }

interface WaitingQuestion<Answer> {
  deadlineMs: number
  readonly answer: Promise<Answer | null>
}

export const createRemote = <Answer extends {}>(options: RemoteOptions): Remote<Answer> => {
  const { clock, keepMs, onError, isQuestionsFault = () => false, breaker = createBreaker({ clock }) } = options
  const kept = new LRUCache<string, { readonly answer: Answer; readonly untilMs: number }>({ max: options.keptMax })
  const slots = createFairSlots(options.underWayMax, Number.POSITIVE_INFINITY, options.waitingMax)
  const underWay = new Map<string, Promise<Answer | null>>()
  /** Keyed by organization and key, because organizations wait separately. */
  const waiting = new Map<string, WaitingQuestion<Answer>>()
  const totals = { kept: 0, answered: 0, failed: 0, refused: 0 }

  const run = async (key: string, question: () => Promise<Answer>): Promise<Answer | null> => {
    try {
      const answer = await question()
      breaker.succeeded()
      totals.answered += 1
      if (keepMs > 0) kept.set(key, { answer, untilMs: clock.monotonicMs() + keepMs })
      return answer
    } catch (error) {
      if (!isQuestionsFault(error)) breaker.failed()
      // The source answered the open breaker's trial query.
      else if (breaker.open) breaker.succeeded()
      totals.failed += 1
      onError(error)
      return null
    } finally {
      underWay.delete(key)
    }
  }

  const refuse = (): null => {
    totals.refused += 1
    return null
  }

  const findAnswer = (key: string): Answer | Promise<Answer | null> | undefined => {
    const found = kept.get(key)
    if (found === undefined || clock.monotonicMs() >= found.untilMs) return underWay.get(key)
    totals.kept += 1
    return found.answer
  }

  const begin = (key: string, question: () => Promise<Answer>): Promise<Answer | null> => {
    const asked = run(key, question)
    underWay.set(key, asked)
    return asked
  }

  return {
    ask: (key, question, { organizationId, deadlineMs } = SERVICE) => {
      const known = findAnswer(key)
      if (known !== undefined) return known
      const place = `${organizationId} ${key}`
      const joined = waiting.get(place)
      if (joined !== undefined) {
        joined.deadlineMs = Math.max(joined.deadlineMs, deadlineMs)
        return joined.answer
      }
      // An open breaker permits one trial query, which must not request permission again.
      const isTry = breaker.open
      if (!breaker.permits()) return refuse()
      const slot = slots.acquire(organizationId)
      if (slot === null) {
        if (isTry) breaker.unused()
        return refuse()
      }
      const takeTurn = async (): Promise<Answer | null> => {
        const release = await slot
        waiting.delete(place)
        try {
          const answer = findAnswer(key)
          const isDue = answer === undefined && clock.monotonicMs() < turn.deadlineMs
          if (isTry && !isDue) breaker.unused()
          if (answer !== undefined) return await answer
          return isDue && (isTry || breaker.permits()) ? await begin(key, question) : refuse()
        } finally {
          release()
        }
      }
      const turn: WaitingQuestion<Answer> = { deadlineMs, answer: takeTurn() }
      waiting.set(place, turn)
      return turn.answer
    },
    counts: () => ({ ...totals, open: breaker.open }),
  }
}
