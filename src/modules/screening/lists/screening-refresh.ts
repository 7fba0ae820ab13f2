// Refreshes due lists: fetches changed files, parses them in a separate process, and stores a version.

import type { Lead } from '../../../cluster/leader.ts'
import { fetchFiles } from '../../../facts/lists/fetch-files.ts'
import { type Clock, secondsSince } from '../../../lib/time.ts'
import type { ScreeningList, ScreeningListTable } from '../../../store/lists/screening-lists.ts'
import type { Logger } from '../../../telemetry/log.ts'
import { publisherOf, SCREENING_FORMATS } from '../formats/publishers.ts'
import type { ScreeningProcesses } from '../processes/screening-processes.ts'

interface ScreeningRefreshDependencies {
  readonly lists: ScreeningListTable
  readonly processes: Pick<ScreeningProcesses, 'readFiles'>
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'error'>
  readonly fetch?: typeof fetchFiles
}

/** Maximum size of a file. The largest known list has 25 MB. */
const FILE_BYTES_MAX = 268_435_456
const FETCH_TIME_LIMIT_MS = 300_000
/** Length of the lease: longer than any refresh takes. */
const LEASE_SECONDS = 900
const RETRY_SECONDS = 600
/** A truncated file in these formats may look complete. */
const FORMATS_WITHOUT_END: ReadonlySet<string> = new Set(['ofac-csv', 'csv'])

const describeFailure = (error: unknown): string => {
  const detail = (error as { detail?: unknown } | null)?.detail
  return typeof detail === 'string' ? detail.slice(0, 300) : error instanceof Error ? error.name : 'unknown error'
}

const readOne = async (
  { lists, processes, clock, fetch = fetchFiles }: ScreeningRefreshDependencies,
  list: ScreeningList,
  lead: Pick<Lead, 'leads'>,
  signal: AbortSignal,
): Promise<'loaded' | 'confirmed' | 'outdated' | { readonly failure: string }> => {
  const publisher = publisherOf(list.name)
  const nextDueAtSeconds = clock.unixSeconds() + list.intervalSeconds
  const fetched = await fetch({
    urls: list.urls,
    redirectsTo: publisher?.redirectsTo ?? [],
    reach: list.reach,
    // Otherwise, "not modified" would leave the list empty.
    validators: list.version === null ? {} : list.validators,
    maxBytes: FILE_BYTES_MAX,
    timeoutMs: FETCH_TIME_LIMIT_MS,
    needsLength: FORMATS_WITHOUT_END.has(list.format),
    signal,
  })
  if (!lead.leads()) return 'outdated'
  if (fetched === null) {
    await lists.confirm(list, nextDueAtSeconds)
    return 'confirmed'
  }
  const format = SCREENING_FORMATS.find((known) => known === list.format)
  if (format === undefined) return { failure: `this version does not support the format ${list.format}` }
  const { packed, refusal } = await processes.readFiles(fetched.files, format, {
    entriesMin: publisher?.entriesMin ?? 1,
    now: list.version,
  })
  if (packed === null) return { failure: refusal ?? 'could not read the file' }
  if (!lead.leads()) return 'outdated'
  const { token } = list
  const { validators } = fetched
  return (await lists.replace(list.name, packed, { token, validators, nextDueAtSeconds })) ?? 'outdated'
}

/** Refreshes due lists one after another. Rejects only if the store fails. */
export const refreshScreeningLists = async (
  dependencies: ScreeningRefreshDependencies,
  lead: Pick<Lead, 'leads'>,
  signal: AbortSignal,
): Promise<void> => {
  const { lists, clock, log } = dependencies
  while (!signal.aborted && lead.leads()) {
    const list = await lists.takeDue(LEASE_SECONDS)
    if (list === null) return
    const result = await readOne(dependencies, list, lead, signal).catch((error: unknown) => {
      return { failure: signal.aborted ? 'reading was interrupted' : describeFailure(error) }
    })
    if (typeof result === 'string') {
      if (result !== 'outdated') log.info('read a sanctions list', { list: list.name, result })
      continue
    }
    const retrySeconds = signal.aborted ? 0 : Math.min(list.intervalSeconds, RETRY_SECONDS)
    await lists.fail(list, result.failure, clock.unixSeconds() + retrySeconds)
    const ageSeconds = secondsSince(list.confirmedAtSeconds, clock.unixSeconds())
    log.error('could not read a sanctions list', { list: list.name, failure: result.failure, ageSeconds })
  }
}
