// Sends one POST to a URL that a customer configured (threats row 15): checks every address of the host, connects to a
// checked address, follows no redirects, limits time and response size, and discards the body.
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { DetailedError } from '../lib/named-error.ts'
import { responseTo } from '../lib/one-response.ts'
import { isFragmented } from '../lib/upload-pace.ts'

/** `detail` is a constant text without data from the server. */
export class OutboundFailedError extends DetailedError {}

export interface OutboundGuard {
  parseUrl(text: string): URL
  /** Rejects host names that resolve to a disallowed address. */
  readonly lookup: LookupFunction
}

export interface OutboundPostOptions {
  readonly guard: OutboundGuard
  /** Timeout from the call to the end of the response. */
  readonly timeoutMs?: number
  /** Maximum bytes to read. A longer response still counts by its status. */
  readonly answerBytesMax?: number
  /** PEM certificates trusted in addition to the system’s, for tests. */
  readonly certificateAuthority?: string
}

export interface OutboundAnswer {
  readonly status: number
  /** Seconds of the Retry-After header; null unless it is a number. */
  readonly retryAfterSeconds: number | null
}

export type OutboundPost = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
) => Promise<OutboundAnswer>

/** Never contains the network's message, which may repeat sent data. */
const failureOf = (error: unknown): OutboundFailedError => {
  if (error instanceof OutboundFailedError) return error
  const { detail, code } = error as { detail?: unknown; code?: unknown }
  if (typeof detail === 'string') return new OutboundFailedError(`the URL ${detail}`, error)
  return new OutboundFailedError(typeof code === 'string' ? `could not connect (${code})` : 'could not connect', error)
}

const retryAfter = ({ headers }: IncomingMessage): number | null => {
  const text = headers['retry-after'] ?? ''
  return /^[0-9]{1,6}$/.test(text) ? Number(text) : null
}

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
      // Don't reuse the connection: the next request may go elsewhere, and its address must be checked.
      agent: false,
      ...(certificateAuthority === undefined ? {} : { ca: certificateAuthority }),
    })
    let late = false
    const timer = setTimeout(() => {
      late = true
      outgoing.destroy(new OutboundFailedError('the request timed out'))
    }, timeoutMs)
    try {
      const response = await responseTo(outgoing, body, (detail) => new OutboundFailedError(detail))
      let received = 0
      let chunks = 0
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        received += chunk.length
        chunks += 1
        if (received > answerBytesMax || isFragmented(chunks, received)) break
      }
      return { status: response.statusCode ?? 0, retryAfterSeconds: retryAfter(response) }
    } catch (error) {
      throw late ? new OutboundFailedError('the request timed out', error) : failureOf(error)
    } finally {
      clearTimeout(timer)
      outgoing.destroy()
    }
  }
