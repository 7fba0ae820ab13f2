// Waits for the response to a node:http request, with a limit on informational responses (RFC 9110 §15.2): each is an event,
// and an endless series of them would keep the event loop busy until the request's time limit.
import type { ClientRequest, IncomingMessage } from 'node:http'

/** A server sends one or two: 100 (Continue) and 103 (Early Hints). */
const INFORMATIONAL_MAX = 4

/**
 * Sends `body` and resolves to the response. Rejects with the request's error.
 * @param tooMany the error if the server sends too many informational responses
 */
export const responseTo = (
  outgoing: ClientRequest,
  body: string | undefined,
  tooMany: () => Error,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    let informational = 0
    outgoing.on('information', () => {
      informational += 1
      if (informational <= INFORMATIONAL_MAX) return
      // Rejects at once: the response may be in the same packet.
      reject(tooMany())
      outgoing.destroy()
    })
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
