// One POST to a place that a customer named. Where it may lead is decided by the guard that is passed in (names resolved and
// every address checked, and the checked address is the one that is connected to); here: no redirects, no more time and no
// more of the answer than said, and nothing of it kept. Source: threats row 15.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'

/** No answer. `detail` is in words of ours and holds nothing that the other side said. */
export class OutboundFailedError extends Error {
  override readonly name = 'OutboundFailedError'
  readonly detail: string
  constructor(detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause })
    this.detail = detail
  }
}

export interface OutboundGuard {
  /** @throws an error with a `detail` for a URL that may not be asked. */
  parseUrl(text: string): URL
  /** Resolves a name, and refuses it where any of its addresses may not be asked. */
  readonly lookup: LookupFunction
}

export interface OutboundPostOptions {
  readonly guard: OutboundGuard
  /** From the call to the end of the answer. */
  readonly timeoutMs?: number
  /** Of the answer's body; an answer that is longer counts by its status all the same. */
  readonly answerBytesMax?: number
  /** Certificates trusted beside the system's, PEM: for tests. */
  readonly certificateAuthority?: string
}

export interface OutboundAnswer {
  readonly status: number
  /** Seconds of its Retry-After, where it is a number. */
  readonly retryAfterSeconds: number | null
}

export type OutboundPost = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<OutboundAnswer>

/** What the guard says, or the kind of failure: never a text of the network's, which may repeat what was sent. */
const failureOf = (error: unknown): OutboundFailedError => {
  if (error instanceof OutboundFailedError) return error
  const { detail, code } = error as { detail?: unknown; code?: unknown }
  if (typeof detail === 'string') return new OutboundFailedError(`the URL ${detail}`, error)
  return new OutboundFailedError(typeof code === 'string' ? `no connection (${code})` : 'no connection', error)
}

const retryAfter = ({ headers }: IncomingMessage): number | null => {
  const text = headers['retry-after'] ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : null
}

/** @throws OutboundFailedError from what it answers. */
export const createOutboundPost =
  ({ guard, timeoutMs = 10_000, answerBytesMax = 65_536, certificateAuthority }: OutboundPostOptions): OutboundPost =>
  async (text, { headers, body }) => {
    let url: URL
    try {
      url = guard.parseUrl(text)
    } catch (error) {
      throw failureOf(error)
    }
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest
    const outgoing = send(url, {
      method: 'POST',
      headers: { ...headers, 'accept-encoding': 'identity', 'content-length': String(Buffer.byteLength(body)) },
      lookup: guard.lookup,
      // No connection is kept: the next one may lead elsewhere, and its address is checked then.
      agent: false,
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    })
    let late = false
    const timer = setTimeout(() => {
      late = true
      outgoing.destroy(new OutboundFailedError('it took too long'))
    }, timeoutMs)
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        outgoing.once('response', resolve)
        outgoing.on('error', reject)
        outgoing.end(body)
      })
      let received = 0
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        received += chunk.length
        if (received > answerBytesMax) break
      }
      return { status: response.statusCode ?? 0, retryAfterSeconds: retryAfter(response) }
    } catch (error) {
      throw late ? new OutboundFailedError('it took too long', error) : failureOf(error)
    } finally {
      clearTimeout(timer)
      outgoing.destroy()
    }
  }
