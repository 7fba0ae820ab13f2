// Limits list uploads, requests for single entries, and rewrites of lists. An upload can use 300 MB of memory.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { createCountedSlots } from '../lib/counted-slots.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { createPacedTurns } from '../lib/paced-turns.ts'
import { type Clock, systemClock, systemTimers, type Timers } from '../lib/time.ts'
import { readAtPace, UploadFragmentedError, type UploadPace, UploadTooSlowError } from '../lib/upload-pace.ts'

export class ListFileRefusedError extends CountersignError {
  constructor(detail: string) {
    super('INVALID_REQUEST', `the list was not changed: ${detail}`)
  }
}

class ListUploadsBusyError extends fixedError('OVERLOADED', 'another list is being uploaded; try again in a moment', {
  retryAfterSeconds: 5,
}) {}

class ListEntriesBusyError extends fixedError(
  'OVERLOADED',
  'too many list requests are queued; try again in a moment',
  { retryAfterSeconds: 1 },
) {}

export interface ListUploads {
  /** Runs `work` with the bytes of a file. @throws ListUploadsBusyError, ListFileRefusedError */
  run<Result>(
    owner: string | null,
    body: ReadableStream<Uint8Array> | null,
    work: (bytes: AsyncIterable<Uint8Array>) => Promise<Result>,
  ): Promise<Result>
  /** Changes single entries. Owners take turns, with a pause after each. @throws ListEntriesBusyError */
  edit<Result>(owner: string | null, work: () => Promise<Result>): Promise<Result>
  read<Result>(owner: string | null, work: () => Promise<Result>): Promise<Result>
  /** Concurrent calls for one list share a rewrite. @throws ListUploadsBusyError */
  rewrite(owner: string | null, listId: string, work: () => Promise<void>): Promise<void>
}

const UPLOADS_MAX = 2
const UPLOADS_PER_OWNER_MAX = 1
const REWRITES_WAITING_MAX = 64
const OWN_REWRITES_WAITING_MAX = 4
/** Maximum size of an upload: a million lines of 300 characters. */
const UPLOAD_BYTES_MAX = 314_572_800
const UPLOAD_PACE: UploadPace = { timeLimitMs: 600_000, graceMs: 10_000, bytesPerSecondMin: 65_536 }

async function* limited(body: ReadableStream<Uint8Array>, pace: UploadPace): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of readAtPace(body, pace)) {
      size += chunk.length
      if (size > UPLOAD_BYTES_MAX) throw new ListFileRefusedError('the file is too large')
      yield chunk
    }
  } catch (error) {
    if (error instanceof UploadTooSlowError) throw new ListFileRefusedError('the file took too long to arrive')
    if (error instanceof UploadFragmentedError)
      throw new ListFileRefusedError('the file was sent in chunks that are too small: use larger chunks')
    throw error
  }
}

export const createListUploads = (
  pace: UploadPace = UPLOAD_PACE,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
  after: Timers['after'] = systemTimers.after,
): ListUploads => {
  const slots = createCountedSlots()
  const createTurns = () => createPacedTurns(() => new ListEntriesBusyError(), clock, after)
  const rewriteSlots = createFairSlots(1, REWRITES_WAITING_MAX, OWN_REWRITES_WAITING_MAX)
  const rewrites = new Map<string, Promise<void>>()
  const rewriteInTurn = async (owner: string | null, work: () => Promise<void>): Promise<void> => {
    const release = await rewriteSlots.acquire(owner ?? '')
    if (release === null) throw new ListUploadsBusyError()
    try {
      await work()
    } finally {
      release()
    }
  }
  return {
    edit: createTurns(),
    read: createTurns(),
    rewrite: (owner, listId, work) => {
      const running = rewrites.get(listId) ?? rewriteInTurn(owner, work).finally(() => void rewrites.delete(listId))
      rewrites.set(listId, running)
      return running
    },
    run: async (owner, body, work) => {
      if (body === null) throw new ListFileRefusedError('the file is missing')
      const release = slots.acquire([
        { key: 'all', maximum: UPLOADS_MAX },
        { key: `of ${owner}`, maximum: UPLOADS_PER_OWNER_MAX },
      ])
      try {
        if (release === null) throw new ListUploadsBusyError()
        return await work(limited(body, pace))
      } finally {
        release?.()
        // The upload was refused before its first byte was read. Keep that error, not the cancellation error.
        if (!body.locked) await body.cancel().catch(() => undefined)
      }
    },
  }
}
