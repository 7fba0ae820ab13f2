// Limits the number, size and duration of list file uploads, and of rewrites of lists with many single entries. An upload holds its entries in memory, up to 300 MB, from
// the first byte until they are stored.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { createCountedSlots } from '../lib/counted-slots.ts'
import { createFairSlots } from '../lib/fair-slots.ts'
import { readAtPace, UploadFragmentedError, type UploadPace, UploadTooSlowError } from '../lib/upload-pace.ts'

/** The file isn't a valid list; nothing was changed. */
export class ListFileRefusedError extends CountersignError {
  constructor(detail: string) {
    super('INVALID_REQUEST', `the list was not changed: ${detail}`)
  }
}

/** Another list is being uploaded, for the same organization or for too many others. */
class ListUploadsBusyError extends fixedError('OVERLOADED', 'another list is being uploaded; try again in a moment', {
  retryAfterSeconds: 5,
}) {}

export interface ListUploads {
  /**
   * Runs `work` with the bytes of a file. The owner's slot is released when the work ends.
   * @param owner organization id, or null for the deployment
   * @throws ListUploadsBusyError, ListFileRefusedError, and the errors of `work`
   */
  run<Result>(
    owner: string | null,
    body: ReadableStream<Uint8Array> | null,
    work: (bytes: AsyncIterable<Uint8Array>) => Promise<Result>,
  ): Promise<Result>
  /**
   * Rewrites a stored list. Calls for the same list during a rewrite share its result; owners take turns.
   * @throws ListUploadsBusyError, and the errors of `work`
   */
  rewrite(owner: string | null, listId: string, work: () => Promise<void>): Promise<void>
}

const UPLOADS_MAX = 2
const UPLOADS_PER_OWNER_MAX = 1
/** Lists that wait for their rewrite, in total and per owner. */
const REWRITES_WAITING_MAX = 64
const OWN_REWRITES_WAITING_MAX = 4
/** A million lines of 300 characters, more than any list needs. */
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
    if (error instanceof UploadFragmentedError) throw new ListFileRefusedError('the chunks of the file are too small')
    throw error
  }
}

/** @param pace replaced in tests */
export const createListUploads = (pace: UploadPace = UPLOAD_PACE): ListUploads => {
  const slots = createCountedSlots()
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
    rewrite: (owner, listId, work) => {
      const running = rewrites.get(listId) ?? rewriteInTurn(owner, work).finally(() => void rewrites.delete(listId))
      rewrites.set(listId, running)
      return running
    },
    run: async (owner, body, work) => {
      if (body === null) throw new ListFileRefusedError('there is no file')
      const release = slots.acquire([
        { key: 'all', maximum: UPLOADS_MAX },
        { key: `of ${owner}`, maximum: UPLOADS_PER_OWNER_MAX },
      ])
      try {
        if (release === null) throw new ListUploadsBusyError()
        return await work(limited(body, pace))
      } finally {
        release?.()
        // Refused before the first byte was read. The earlier error is thrown, not the cancellation's.
        if (!body.locked) await body.cancel().catch(() => undefined)
      }
    },
  }
}
