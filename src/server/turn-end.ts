// Prevents pipelined requests from blocking the process. Bun parses the next buffered request as soon as the previous
// one is answered, without running timers or other connections. It closes connections that send early. Responses
// therefore wait for the end of the turn in which their request arrived.
import { systemTimers, type Timers } from '../lib/time.ts'

type Handler<Input extends unknown[]> = (...input: Input) => Response | Promise<Response>

/** @returns a function that delays a handler's responses until the end of the turn in which the request arrived */
export const createTurnEnd = (endOfTurn: Timers['endOfTurn'] = systemTimers.endOfTurn) => {
  /** Resolves at the end of the current turn. Null until a request arrives in it. */
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

/** Shared by all listeners of the process, because they share the event loop. */
export const leaveAfterTurn = createTurnEnd()
