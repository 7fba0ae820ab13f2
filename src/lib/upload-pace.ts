// Reads an upload only while it arrives fast enough and in large enough chunks: a client can tie up neither memory by
// sending nothing nor the main thread by sending single bytes.
import { NamedError } from './named-error.ts'

export interface UploadPace {
  readonly timeLimitMs: number
  /** Time before the minimum rate applies. */
  readonly graceMs: number
  readonly bytesPerSecondMin: number
}

export class UploadTooSlowError extends NamedError {}
/** The chunks are too small. */
export class UploadFragmentedError extends NamedError {}

// Number of chunks of any size. Each chunk costs microseconds regardless of its size, and the sender chooses the sizes.
const CHUNKS_FREE = 1_000
const CHUNK_BYTES_MIN = 256

export const isFragmented = (chunks: number, bytes: number): boolean => chunks > CHUNKS_FREE + bytes / CHUNK_BYTES_MIN

/** @throws UploadTooSlowError, UploadFragmentedError; the stream's errors */
export async function* readAtPace(
  stream: ReadableStream<Uint8Array>,
  { timeLimitMs, graceMs, bytesPerSecondMin }: UploadPace,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  const startedMs = performance.now()
  let length = 0
  let chunks = 0
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
    // Canceling ends the read below. It fails only if the stream has already ended.
    reader.cancel().catch(() => undefined)
  }
  watch()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (late) throw new UploadTooSlowError()
      if (done) break
      length += value.length
      chunks += 1
      if (isFragmented(chunks, length)) throw new UploadFragmentedError()
      yield value
    }
    whole = true
  } finally {
    clearTimeout(timer)
    // Ignore cancellation errors, because the first error is thrown.
    if (!whole && !late) await reader.cancel().catch(() => undefined)
  }
}
