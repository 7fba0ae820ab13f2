// Waits for the response to a node:http request. Limits informational responses (RFC 9110 §15.2): an endless series
// would keep the event loop busy until the timeout.
import type { ClientRequest, IncomingMessage } from 'node:http'

/** Maximum informational responses. A server usually sends one or two: 100 (Continue) and 103 (Early Hints). */
const INFORMATIONAL_MAX = 4

/** Rejects with the request's error, or with the error from `fail` if the server violates the protocol. */
export const responseTo = (
  outgoing: ClientRequest,
  body: string | undefined,
  fail: (detail: string) => Error,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    let informational = 0
    outgoing.on('information', () => {
      informational += 1
      if (informational <= INFORMATIONAL_MAX) return
      // Reject before the response, which may be in the same packet.
      reject(fail('the server sent too many informational responses'))
      outgoing.destroy()
    })
    // Without a handler, a request with a 101 response never ends, and nothing can abort it.
    outgoing.once('upgrade', (_response, socket) => {
      reject(fail('the server switched protocols'))
      socket.destroy()
    })
    outgoing.once('close', () => reject(fail('the server closed the connection')))
    outgoing.once('response', resolve)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
