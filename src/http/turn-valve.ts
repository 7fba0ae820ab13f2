// Bounds what refusing costs the event loop under a flood. What is refused at once leaves its connection free for the next
// request, and the loop goes on reading for as long as it finds a thousand connections readable (Bun: up to 49 × 1,024
// requests, a second and more), in which no worker is heard, no timer fires and no accepted work goes on. So only so many
// refusals of a turn leave at once; the others wait for its end, and their connections with them. And where refusing has
// had more than its share of the time for a while, they leave at the pace of that share.

export interface TurnValveOptions {
  /** Refusals of one turn that leave at once, and at least so many of those that wait leave together. */
  readonly perTurn?: number
  /** The part of the time that refusing may take for long: above 0, at most 1. */
  readonly share?: number
  /** What it may take beyond that, in milliseconds, before refusals are paced. */
  readonly burstMs?: number
  /** Calls back once when what was readable in this turn has been handled; for tests. */
  readonly endOfTurn?: (callback: () => void) => void
  /** Calls back once after so many milliseconds; for tests. */
  readonly after?: (delayMs: number, callback: () => void) => void
  readonly monotonicMs?: () => number
}

export interface TurnValve {
  /** A request has come, whatever becomes of it: a turn's time is shared out among its requests. */
  arrived(): void
  /** Calls `make` now or, after a turn that had enough of them, when it is its turn. It must not throw. */
  refuse(make: () => Response): Response | Promise<Response>
}

/** Some milliseconds of work: refusals under an ordinary overload never wait. */
const PER_TURN = 128
/** More than half is left to the work that was taken in, or to the workers where processors are few. */
const SHARE = 0.4
/** A stall, and what has gathered in it, is no flood. */
const BURST_MS = 100
/** Whatever it costs, some go on leaving: */
const PAUSE_MAX_MS = 50
/** the longer the line, the more of it at once. */
const LINE_PART = 1 / 16

export const createTurnValve = ({
  perTurn = PER_TURN,
  share = SHARE,
  burstMs = BURST_MS,
  endOfTurn = (callback) => void setImmediate(callback),
  after = (delayMs, callback) => void setTimeout(callback, delayMs),
  monotonicMs = () => performance.now(),
}: TurnValveOptions = {}): TurnValve => {
  let held: (() => void)[] = []
  /** Requests that came and were not refused, since the turn's first refusal. */
  let accepted = 0
  /** Of this turn: those made, and those that joined the line. Its clock runs from the first on. */
  let refusals = 0
  let startedMs = 0
  /** What refusing has taken beyond its share of the time, as of `debtAtMs`. */
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
