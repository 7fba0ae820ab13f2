// One connection to the event stream, closed if it opens late or stays silent. The service sends a comment every 15 s.
import type { Endpoint } from './endpoint.ts'
import { AnswerInvalidError, ServiceUnreachableError } from './errors.ts'
import { createEventParser, EventTooLongError, type ServerSentEvent } from './event-stream.ts'
import { type Fetch, sendRequest } from './request.ts'

export interface EventConnectionOptions {
  readonly fetch: Fetch
  readonly endpoint: Endpoint
  readonly path: string
  readonly requestId: string
  readonly lastEventId: string | null
  /** Timeout until the response headers. */
  readonly openMs: number
  /** Longest time without data. */
  readonly quietMs: number
  readonly signal: AbortSignal | undefined
}

export interface ReceivedEvent extends ServerSentEvent {
  readonly retryMs: number | null
}

const streamOf = (response: Response, requestId: string): ReadableStream<Uint8Array> => {
  const type = response.headers.get('content-type') ?? ''
  if (response.status !== 200 || !/^text\/event-stream\s*(?:;|$)/i.test(type) || response.body === null) {
    throw new AnswerInvalidError('not an event stream', requestId)
  }
  return response.body
}

export async function* readEventConnection(options: EventConnectionOptions): AsyncGenerator<ReceivedEvent, void, void> {
  const { requestId, lastEventId, openMs, quietMs, signal } = options
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = (limitMs: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => controller.abort(new Error(`no data for ${limitMs} ms`)), limitMs)
  }
  try {
    limit(openMs)
    const response = await sendRequest(
      options.fetch,
      options.endpoint,
      {
        method: 'GET',
        path: options.path,
        headers: { accept: 'text/event-stream', ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }) },
        requestId,
      },
      controller.signal,
    )
    const reader = streamOf(response, requestId).getReader()
    const parser = createEventParser(lastEventId)
    for (;;) {
      limit(quietMs)
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw new ServiceUnreachableError('the stream was interrupted', requestId, error)
      })
      if (done) return
      // Time that the consumer spends on an event doesn't count as silence of the service.
      clearTimeout(timer)
      for (const event of parser.push(value)) yield { ...event, retryMs: parser.retryMs() }
    }
  } catch (error) {
    if (error instanceof EventTooLongError) throw new AnswerInvalidError(error.message, requestId)
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    controller.abort()
  }
}
