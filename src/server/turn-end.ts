// Keeps a connection that pipelines requests from stopping the process. Bun parses the next request of a buffer as soon as the
// previous one is answered, and it reads until the socket is empty: until then no timer fires, no worker message arrives and no
// other connection is read. It closes a connection that sends a request before the previous answer. Therefore no answer
// leaves in the turn of the event loop in which its request arrived.
import { systemTimers, type Timers } from '../lib/time.ts'

type Handler<Input extends unknown[]> = (...input: Input) => Response | Promise<Response>

/** @returns a function that makes a handler's answers wait for the end of the turn in which the request arrived */
export const createTurnEnd = (endOfTurn: Timers['endOfTurn'] = systemTimers.endOfTurn) => {
  /** Resolves at the end of the current turn; null until a request arrives in it. */
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

/** One for all listeners of the process, because they share the event loop. */
export const leaveAfterTurn = createTurnEnd()
