// Reads what a client sends only as long as it arrives fast enough, so that a client can't hold memory by sending nothing.
import { NamedError } from './named-error.ts'

export interface UploadPace {
  readonly timeLimitMs: number
  /** Before the lowest rate applies. */
  readonly graceMs: number
  /** Lowest average rate. */
  readonly bytesPerSecondMin: number
}

/** The client sends too slowly, or not at all. */
export class UploadTooSlowError extends NamedError {}

/** Cancels the stream unless all of it is read. @throws UploadTooSlowError, and what the stream throws */
export async function* readAtPace(
  stream: ReadableStream<Uint8Array>,
  { timeLimitMs, graceMs, bytesPerSecondMin }: UploadPace,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  const startedMs = performance.now()
  let length = 0
  let late = false
  let whole = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const watch = (): void => {
    const allowedMs = Math.min(timeLimitMs, graceMs + (length / bytesPerSecondMin) * 1000)
    const leftMs = startedMs + allowedMs - performance.now()
    if (leftMs > 0) {
      timer = setTimeout(watch, leftMs)
      return
    }
    late = true
    // Cancelling makes the read below return the end of the stream. It fails only if the stream has ended already.
    reader.cancel().catch(() => undefined)
  }
  watch()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (late) throw new UploadTooSlowError()
      if (done) break
      length += value.length
      yield value
    }
    whole = true
  } finally {
    clearTimeout(timer)
    // Ignore an error of cancelling; the first error is thrown.
    if (!whole && !late) await reader.cancel().catch(() => undefined)
  }
}
