// Keeps turns of the event loop short: responses leave at the end of a turn, and refusals take a limited share of time.
import { type Clock, systemClock, systemTimers, type Timers } from '../lib/time.ts'

type Handler<Input extends unknown[]> = (...input: Input) => Response | Promise<Response>

/** Delays responses to the end of the turn. Otherwise, Bun would process pipelined requests without a pause. */
export const createTurnEnd = (endOfTurn: Timers['endOfTurn'] = systemTimers.endOfTurn) => {
  let turn: Promise<void> | null = null

  const startTurn = (): Promise<void> =>
    new Promise((resolve) => {
      endOfTurn(() => {
        turn = null
        resolve()
      })
    })

  return <Input extends unknown[]>(handle: Handler<Input>) =>
    async (...input: Input): Promise<Response> => {
      turn ??= startTurn()
      const arrival = turn
      try {
        return await handle(...input)
      } finally {
        if (turn === arrival) await arrival
      }
    }
}

/** Shared by all listeners, because they share the event loop. */
export const leaveAfterTurn = createTurnEnd()

export interface RefusalPacerOptions extends Partial<Timers & Pick<Clock, 'monotonicMs'>> {
  /** Maximum immediate refusals per turn, and minimum waiting refusals sent together. */
  readonly perTurn?: number
  /** Long-term share of the time for refusals: greater than 0, at most 1. */
  readonly share?: number
  /** Milliseconds by which refusals may exceed their share before pacing starts. */
  readonly burstMs?: number
}

export interface RefusalPacer {
  /** Call for every request: the time of a turn is divided among its requests. */
  arrived(): void
  /** Calls `make` now or, beyond this turn's limit, later. `make` must not throw. */
  refuse(make: () => Response): Response | Promise<Response>
}

/** Maximum per turn: a few milliseconds of work, so that refusals under ordinary overload never wait. */
const PER_TURN = 128
/**
 * Share of the time for refusals. Leaves more than half for accepted work, or for the workers on machines with few
 * processors.
 */
const SHARE = 0.4
/** Length of a burst: a stall with its accumulated requests is not a flood. */
const BURST_MS = 100
/** Maximum pause, so that some refusals are always sent. */
const PAUSE_MAX_MS = 50
/** Fraction of the waiting refusals sent together. */
const LINE_PART = 1 / 16

/** While a thousand connections are readable, Bun runs no timers or worker messages, so further refusals must wait. */
export const createRefusalPacer = ({
  perTurn = PER_TURN,
  share = SHARE,
  burstMs = BURST_MS,
  endOfTurn = systemTimers.endOfTurn,
  after = systemTimers.after,
  monotonicMs = systemClock.monotonicMs,
}: RefusalPacerOptions = {}): RefusalPacer => {
  let held: (() => void)[] = []
  let accepted = 0
  /** Refusals of this turn, immediate and waiting. The turn is measured from the first refusal. */
  let refusals = 0
  let startedMs = 0
  /** Milliseconds by which refusals had exceeded their share at `debtAtMs`. */
  let debtMs = 0
  let debtAtMs = 0
  let waiting = false

  const release = (): void => {
    waiting = false
    const count = Math.max(perTurn, Math.ceil(held.length * LINE_PART))
    const leaving = held.slice(0, count)
    held = held.slice(count)
    enterTurn(leaving.length)
    for (const leave of leaving) leave()
  }

  const leaveTurn = (): void => {
    const nowMs = monotonicMs()
    const spentMs = ((nowMs - startedMs) * refusals) / (refusals + Math.max(0, accepted))
    const leftMs = Math.max(0, debtMs - (nowMs - debtAtMs) * share)
    debtMs = Math.min(leftMs + spentMs, burstMs + PAUSE_MAX_MS * share)
    debtAtMs = nowMs
    refusals = 0
    if (held.length === 0 || waiting) return
    if (debtMs <= burstMs) {
      release()
      return
    }
    waiting = true
    after((debtMs - burstMs) / share, release)
  }

  const enterTurn = (count: number): void => {
    if (refusals === 0) {
      startedMs = monotonicMs()
      accepted = 0
      endOfTurn(leaveTurn)
    }
    refusals += count
  }

  return {
    arrived: () => {
      accepted += 1
    },
    refuse: (make) => {
      accepted -= 1
      enterTurn(1)
      if (held.length === 0 && refusals <= perTurn) return make()
      return new Promise((resolve) => {
        held.push(() => resolve(make()))
      })
    },
  }
}
