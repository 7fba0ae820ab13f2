// Limits how much of the event loop's time refusals take under a flood. The loop continues reading while it finds a
// thousand readable connections (Bun: up to 49 × 1,024 requests, a second and more). In that time no worker message
// arrives, no timer fires and no accepted work continues. Therefore only a limited number of refusals per turn are made
// immediately; the others, and their connections, wait for the end of the turn. When refusals have used more than their
// share of the time for a while, they leave at the pace of that share.

import { type Clock, systemClock, systemTimers, type Timers } from '../lib/time.ts'

/** The clock and the timers are replaced in tests. */
export interface RefusalPacerOptions extends Partial<Timers & Pick<Clock, 'monotonicMs'>> {
  /** Refusals of one turn that leave immediately; of the waiting ones, at least this many leave together. */
  readonly perTurn?: number
  /** The share of the time that refusals may take in the long run: above 0, at most 1. */
  readonly share?: number
  /** Milliseconds that refusals may take beyond their share before they are paced. */
  readonly burstMs?: number
}

export interface RefusalPacer {
  /** Call for every request, whatever its outcome: the time of a turn is divided among its requests. */
  arrived(): void
  /** Calls `make` now or, when this turn has had enough refusals, when its turn comes. `make` must not throw. */
  refuse(make: () => Response): Response | Promise<Response>
}

/** Some milliseconds of work, so that refusals under an ordinary overload never wait. */
const PER_TURN = 128
/** Leaves more than half of the time to accepted work, or to the workers on machines with few processors. */
const SHARE = 0.4
/** A stall, and the requests that gathered during it, are not a flood. */
const BURST_MS = 100
/** The longest pause: some refusals always leave, whatever they cost. */
const PAUSE_MAX_MS = 50
/** The fraction of the waiting refusals that leave at once: more of them when the line is longer. */
const LINE_PART = 1 / 16

export const createRefusalPacer = ({
  perTurn = PER_TURN,
  share = SHARE,
  burstMs = BURST_MS,
  endOfTurn = systemTimers.endOfTurn,
  after = systemTimers.after,
  monotonicMs = systemClock.monotonicMs,
}: RefusalPacerOptions = {}): RefusalPacer => {
  let held: (() => void)[] = []
  /** Requests that came and were not refused, since the turn's first refusal. */
  let accepted = 0
  /** Refusals of this turn, immediate and waiting ones. The turn's clock runs from the first of them on. */
  let refusals = 0
  let startedMs = 0
  /** Milliseconds that refusals have taken beyond their share, as of `debtAtMs`. */
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
