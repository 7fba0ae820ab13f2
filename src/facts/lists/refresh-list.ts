// Replaces a list with its source's file if the file is valid. Otherwise, the list ages, and policies can reject old
// lists (threats row 14).

import { createReadStream } from 'node:fs'
import type { ListFormat, Reach } from '../../domain/list.ts'
import { counted } from '../../lib/counted.ts'
import { errorCodeOf } from '../../lib/named-error.ts'
import { singleFlight } from '../../lib/single-flight.ts'
import type { Clock } from '../../lib/time.ts'
import { FetchFailedError, guardedFetch } from '../guarded-fetch.ts'
import { type ListReading, readList } from './read-list.ts'
import {
  KEEPER_CHANGED,
  ListChangedError,
  type ListConfirmation,
  type ListContents,
  replaceList,
} from './write-list.ts'

export interface RefreshedSource {
  readonly listId: string
  readonly location: string
  readonly format: ListFormat
  readonly reach: Reach
  readonly skipsBadLines: boolean
  readonly intervalSeconds: number
  readonly fileSha256: string | null
  /** Lease token; results are written only while the source has it. */
  readonly token: string
}

export interface RefreshDependencies {
  readonly contents: ListContents
  readonly sources: {
    takeDue(leaseSeconds: number): Promise<RefreshedSource | null>
    /** Returns false if the source was changed, removed or leased again. */
    hasToken(taken: RefreshedSource): Promise<boolean>
    confirm(taken: RefreshedSource, nextDueAtSeconds: number): Promise<boolean>
    fail(taken: RefreshedSource, failure: string, nextDueAtSeconds: number): Promise<void>
  }
  readonly clock: Clock
  readonly open?: (source: RefreshedSource, signal: AbortSignal | undefined) => AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

export type RefreshResult =
  | {
      readonly status: 'loaded' | 'confirmed'
      readonly listId: string
      readonly entries: number
      readonly skipped: ReadonlyMap<string, number>
      readonly badLineCount: number
    }
  | { readonly status: 'failed'; readonly listId: string; readonly failure: string; readonly error: unknown }

const SOURCE_TIMEOUT_MS = 300_000
/** Maximum size of a source. The file sdn_advanced.xml is over 100 MB, as is a list of a million entries with memos. */
const SOURCE_BYTES_MAX = 1_073_741_824
/** Length of the lease: longer than reading any source takes. */
export const LEASE_SECONDS = 600
/** Retry delay, unless the source's interval is shorter. */
const RETRY_SECONDS = 300
const FAILURE_LENGTH_MAX = 300

const isUrl = (location: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(location)

async function* openFile(path: string, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  let bytes = 0
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
      signal?.throwIfAborted()
      bytes += chunk.length
      if (bytes > SOURCE_BYTES_MAX) throw new FetchFailedError(`the file has more than ${SOURCE_BYTES_MAX} bytes`)
      yield chunk
    }
  } catch (error) {
    const code = errorCodeOf(error)
    if (typeof code === 'string') throw new FetchFailedError(`the file could not be read (${code})`, error)
    throw error
  }
}

const openSource = (
  { location, reach, format }: RefreshedSource,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> =>
  isUrl(location)
    ? guardedFetch({
        url: location,
        reach,
        timeoutMs: SOURCE_TIMEOUT_MS,
        maxBytes: SOURCE_BYTES_MAX,
        // An XML document ends with its root element; the other formats have no end marker.
        needsLength: format !== 'sdn-advanced',
        signal,
      })
    : openFile(location, signal)

const describeFailure = (error: unknown): string => {
  const detail = (error as { detail?: unknown } | null)?.detail
  const text = typeof detail === 'string' ? detail : error instanceof Error ? error.name : 'unexpected error'
  return text.slice(0, FAILURE_LENGTH_MAX)
}

const refusalOf = ({ badLines, badLineCount, entries }: ListReading, skipsBadLines: boolean): string | null => {
  const [first] = badLines
  if (first !== undefined && !skipsBadLines) {
    const others =
      badLineCount === 1 ? '' : `, and ${counted(badLineCount - 1, 'more invalid line', 'more invalid lines')}`
    return `line ${first.line}: ${first.problem}${others}`
  }
  // An empty file more likely means a broken source than an empty list.
  return entries.added === 0 ? 'the file contains no EVM or Solana address' : null
}

/** Writes nothing if the source was changed or leased again. Rejects only if the store fails. */
export const refreshList = async (
  dependencies: RefreshDependencies,
  source: RefreshedSource,
): Promise<RefreshResult> => {
  const { contents, sources, clock, signal, open = openSource } = dependencies
  const { listId, intervalSeconds, skipsBadLines } = source
  const failWith = async (failure: string, error: unknown): Promise<RefreshResult> => {
    const retrySeconds = signal?.aborted ? 0 : Math.min(intervalSeconds, RETRY_SECONDS)
    await sources.fail(source, failure, clock.unixSeconds() + retrySeconds)
    return { status: 'failed', listId, failure, error }
  }
  try {
    const reading = await readList(open(source, signal), source.format)
    // An interrupted source may end without an error.
    signal?.throwIfAborted()
    const refusal = refusalOf(reading, skipsBadLines)
    if (refusal !== null) return await failWith(refusal, null)
    const { skipped, badLineCount, entries, sha256 } = reading
    const nextDueAtSeconds = clock.unixSeconds() + intervalSeconds
    const result = { listId, entries: entries.added, skipped, badLineCount }
    if (sha256 === source.fileSha256) {
      if (!(await sources.confirm(source, nextDueAtSeconds))) throw new ListChangedError(KEEPER_CHANGED)
      return { status: 'confirmed', ...result }
    }
    const confirmation: ListConfirmation = {
      fileSha256: sha256,
      fileBytes: reading.bytes,
      skippedCount: [...skipped.values()].reduce((sum, count) => sum + count, badLineCount),
      nextDueAtSeconds,
      token: source.token,
    }
    const stamp = { author: 'source', addedAtSeconds: clock.unixSeconds() }
    await replaceList(contents, listId, entries.chunks(stamp), confirmation)
    return { status: 'loaded', ...result }
  } catch (error) {
    return failWith(signal?.aborted ? 'reading was interrupted' : describeFailure(error), error)
  }
}

const CHECK_INTERVAL_MS = 5_000
/** Number of concurrent readers. Each reader holds a whole list in memory. */
const READERS = 4

export const createListRefresher = (
  dependencies: Omit<RefreshDependencies, 'signal'> & {
    readonly onResult: (result: RefreshResult) => void
    readonly onError: (error: unknown) => void
  },
) => {
  let timer: ReturnType<typeof setInterval> | undefined
  const stopping = new AbortController()
  const reads = new Map<RefreshedSource, AbortController>()

  const read = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const source = await dependencies.sources.takeDue(LEASE_SECONDS)
      if (source === null) return
      const outdated = new AbortController()
      reads.set(source, outdated)
      try {
        const signal = AbortSignal.any([stopping.signal, outdated.signal])
        dependencies.onResult(await refreshList({ ...dependencies, signal }, source))
      } finally {
        reads.delete(source)
      }
    }
  }

  /** A change of a source ends its lease. Otherwise, one organization's changes could occupy all readers. */
  const endOutdated = (): Promise<unknown> =>
    Promise.all(
      [...reads].map(async ([source, outdated]) => {
        if (!(await dependencies.sources.hasToken(source))) outdated.abort()
      }),
    )

  // Separate readers, so that a slow server doesn't block the others.
  const readers = Array.from({ length: READERS }, () => singleFlight(read))
  const refreshDue = async (): Promise<void> => {
    await endOutdated()
    await Promise.all(readers.map((reader) => reader()))
  }

  return {
    refreshDue,
    start: () => {
      timer = setInterval(() => void refreshDue().catch(dependencies.onError), CHECK_INTERVAL_MS)
      timer.unref()
    },
    stop: async (): Promise<void> => {
      stopping.abort()
      clearInterval(timer)
      await Promise.all(readers.map((reader) => reader.settled()))
    },
  }
}

export type ListRefresher = ReturnType<typeof createListRefresher>
