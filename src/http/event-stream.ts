// One client's event stream: framing, and a reader that is slow or gone. Invariant: what is held for a client is bounded.
// A reader that falls behind gets the newest state and skips those before it; one that stopped reading is cut off.
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html; spec, "Events"; threats row 20.
import type { RateLimitState } from './rate-limit.ts'
import { setRateLimit } from './response.ts'

/** Rises within a stream. */
export interface StreamEvent {
  readonly sequence: number
  /** One line of JSON. */
  readonly data: string
}

export interface EventStream {
  readonly body: ReadableStream<Uint8Array>
  /** The event the stream opens with; those that `send` took before follow it where they are newer. */
  begin(first: StreamEvent): void
  /** Sends what is newer and different. Before `begin`: keeps it. */
  send(event: StreamEvent): void
  /**
   * Writes a comment, so that nobody on the way takes the connection for dead. False when the reader has read nothing
   * over several calls although there was something to read.
   */
  keepAlive(): boolean
  /** Ends in good order. */
  end(): void
  /** Resets the connection: its reader would never see an end. */
  cut(): void
}

/** How long a client waits before it connects again, milliseconds. */
const RETRY_MS = 3_000
/** Events that may wait for the socket; beyond that the newest replaces the one before. */
const QUEUE_MAX = 16
/** Calls of `keepAlive` without progress before a reader counts as gone. */
const STALLS_MAX = 2

const encoder = new TextEncoder()
const KEEP_ALIVE = encoder.encode(': keep-alive\n\n')
const frames = new WeakMap<StreamEvent, Uint8Array>()

/** `id`, then the `data` line and a blank line after it. Encoded once, however many clients get it. */
const frameOf = (event: StreamEvent): Uint8Array => {
  let frame = frames.get(event)
  if (frame === undefined) {
    frame = encoder.encode(`id: ${event.sequence}\ndata: ${event.data}\n\n`)
    frames.set(event, frame)
  }
  return frame
}

/** @param onGone called once when the client has left. Not after `end` or `cut`. */
export const createEventStream = (onGone: () => void): EventStream => {
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
    // A change that the reader can't see, for example of a comment, is no event for them.
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
    begin: (first) => {
      const waiting = early ?? []
      early = null
      controller?.enqueue(encoder.encode(`retry: ${RETRY_MS}\n`))
      accept(first)
      for (const event of waiting) accept(event)
    },
    send: (event) => {
      if (early === null) accept(event)
      else early.push(event)
    },
    keepAlive: () => {
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
    cut: () => {
      const open = controller
      controller = null
      // Without a reason: the runtime would print one, with source code, to standard error.
      open?.error()
    },
  }
}

/** The answer that carries a stream. */
export const eventStreamResponse = (
  { body }: EventStream,
  requestId: string,
  rateLimit: RateLimitState | null,
): Response => {
  const headers: Record<string, string> = {
    'content-type': 'text/event-stream; charset=utf-8',
    // Not stored, not compressed, not gathered into larger pieces by whoever is in between.
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-request-id': requestId,
  }
  if (rateLimit !== null) setRateLimit(headers, rateLimit)
  return new Response(body, { headers })
}
