// Bounds a turn of the event loop under a flood. What is refused at once leaves its connection free for the next request,
// and the loop goes on reading for as long as it finds a thousand connections readable (Bun: up to 49 × 1,024 requests, a
// second and more), in which no worker is heard, no timer fires and no accepted work goes on. So only so many refusals of
// a turn leave at once; the others wait for its end, and their connections with them: a turn is one request a connection.

export interface TurnValveOptions {
  /** Refusals of one turn that leave at once. */
  readonly perTurn?: number
  /** Calls back once when what was readable in this turn has been handled; for tests. */
  readonly endOfTurn?: (callback: () => void) => void
}

/** Calls `refuse` now or, in a turn that had enough of them, at its end. It must not throw. */
export type TurnValve = (refuse: () => Response) => Response | Promise<Response>

/** Some milliseconds of work: refusals under an ordinary overload never wait. */
const PER_TURN = 128

export const createTurnValve = ({
  perTurn = PER_TURN,
  endOfTurn = (callback) => void setImmediate(callback),
}: TurnValveOptions = {}): TurnValve => {
  let count = 0
  let held: (() => void)[] = []

  const release = (): void => {
    count = 0
    if (held.length === 0) return
    const waiting = held
    held = []
    for (const refuse of waiting) refuse()
  }

  return (refuse) => {
    count += 1
    if (count === 1) endOfTurn(release)
    if (count <= perTurn) return refuse()
    return new Promise((resolve) => {
      held.push(() => resolve(refuse()))
    })
  }
}
