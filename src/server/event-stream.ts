// Server-sent events to one client. A slow reader skips older states, and a stalled reader is disconnected.
// https://html.spec.whatwg.org/multipage/server-sent-events.html; spec, "Events"; threats row 20
import type { RateLimitState } from './rate-limit.ts'
import { setRateLimit } from './response.ts'

export interface StreamEvent {
  readonly sequence: number
  /** Data as JSON without line breaks. */
  readonly data: string
}

/** Reconnection delay in milliseconds. */
const RETRY_MS = 3_000
/** Maximum events waiting for the socket. Beyond it, the latest event replaces the previous event. */
const QUEUE_MAX = 16
/** `keepAlive` calls without progress after which a reader counts as gone. */
const STALLS_MAX = 2

const encoder = new TextEncoder()
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n')
const frames = new WeakMap<StreamEvent, Uint8Array>()

const frameOf = (event: StreamEvent): Uint8Array => {
  let frame = frames.get(event)
  if (frame === undefined) {
    frame = encoder.encode(`id: ${event.sequence}\ndata: ${event.data}\n\n`)
    frames.set(event, frame)
  }
  return frame
}

/** @param onGone called once when the client disconnects, but not after `end` or `cut` */
export const createEventStream = (onGone: () => void) => {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  let early: StreamEvent[] | null = []
  let newest: StreamEvent | null = null
  let held: StreamEvent | null = null
  let reads = 0
  let readsSeen = 0
  let stalls = 0

  const accept = (event: StreamEvent): void => {
    if (controller === null) return
    if (newest !== null && event.sequence <= newest.sequence) return
    const same = newest?.data === event.data
    newest = event
    // An invisible change, for example of a comment, sends no event.
    if (same) return
    if (held === null && (controller.desiredSize ?? 0) > 0) controller.enqueue(frameOf(event))
    else held = event
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start: (started) => {
        controller = started
      },
      pull: () => {
        reads += 1
        if (held === null || controller === null) return
        const event = held
        held = null
        controller.enqueue(frameOf(event))
      },
      cancel: () => {
        if (controller === null) return
        controller = null
        held = null
        onGone()
      },
    },
    { highWaterMark: QUEUE_MAX },
  )

  return {
    body,
    /** Sends the opening event, and then newer events that `send` received earlier. */
    begin: (first: StreamEvent) => {
      const waiting = early ?? []
      early = null
      controller?.enqueue(encoder.encode(`retry: ${RETRY_MS}\n`))
      accept(first)
      for (const event of waiting) accept(event)
    },
    /** Sends an event that is newer and different. Before `begin`, stores it. */
    send: (event: StreamEvent) => {
      if (early === null) accept(event)
      else early.push(event)
    },
    /** Returns false if the reader has read nothing during several calls although data was available. */
    keepAlive: (): boolean => {
      if (controller === null || early !== null) return true
      const unread = controller.desiredSize !== QUEUE_MAX
      stalls = unread && reads === readsSeen ? stalls + 1 : 0
      readsSeen = reads
      if (!unread) controller.enqueue(KEEP_ALIVE)
      return stalls < STALLS_MAX
    },
    end: () => {
      const open = controller
      controller = null
      open?.close()
    },
    /** Resets the connection: a stalled reader would never receive a normal end. */
    cut: () => {
      const open = controller
      controller = null
      // Passes no reason, because the runtime would print it, with source code, to standard error.
      open?.error()
    },
  }
}

export type EventStream = ReturnType<typeof createEventStream>

export const eventStreamResponse = (
  { body }: EventStream,
  requestId: string,
  rateLimit: RateLimitState | null,
): Response => {
  const headers: Record<string, string> = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
    // A stream has no idle limit, so its connection must not stay open after its end.
    connection: 'close',
  }
  if (rateLimit !== null) setRateLimit(headers, rateLimit)
  return new Response(body, { headers })
}
