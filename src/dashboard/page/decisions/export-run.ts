// Export of decisions to a file: one at a time, continuing while the user visits other pages. The browser stores the
// received rows outside the page's memory.
import { useEffect, useState } from 'preact/hooks'
import { call, type QueryOf } from '../api/client.ts'
import { NetworkError } from '../api/errors.ts'

type ExportFormat = QueryOf<'GET /organizations/{organization}/decisions/export'>['format']

const NEWLINE = 10
const QUOTE = 34

/** Counts the rows in an export's bytes; line breaks in quoted CSV values don't count. */
export const createRowCounter = (format: ExportFormat) => {
  let quoted = false
  return (bytes: Uint8Array): number => {
    let rows = 0
    for (const byte of bytes) {
      if (byte === QUOTE) quoted = !quoted
      else if (byte === NEWLINE && (format === 'ndjson' || !quoted)) rows += 1
    }
    return rows
  }
}

export interface ExportRun {
  readonly id: number
  readonly format: ExportFormat
  readonly state: 'running' | 'done' | 'failed' | 'cancelled'
  readonly rows: number
  readonly bytes: number
  /** Rows at the start; more decisions may have been made since. */
  readonly total: number
  /** False if there are more than `total` rows. */
  readonly exact: boolean
  readonly error: unknown
  /** URL of the finished file, valid only in this page; null until then. */
  readonly url: string | null
  readonly fileName: string
}

export interface ExportRequest {
  readonly organization: { readonly id: string; readonly slug: string }
  readonly query: Omit<QueryOf<'GET /organizations/{organization}/decisions/export'>, 'format'>
  readonly format: ExportFormat
}

/** Limit for an export, long enough for ten million rows; the browser limits the time without data. */
const TIMEOUT_MS = 6 * 3_600_000
/** Bytes after which parts move to the browser's blob store. */
const GATHER_BYTES = 8 * 1024 * 1024

let last = 0
let run: ExportRun | null = null
let running: AbortController | null = null
const watchers = new Set<(run: ExportRun | null) => void>()

const set = (next: ExportRun | null): void => {
  run = next
  for (const watcher of watchers) watcher(next)
}
const change = (id: number, changes: Partial<ExportRun>): void => {
  if (run?.id === id) set({ ...run, ...changes })
}

const gather = async (id: number, response: Response, format: ExportFormat): Promise<Blob> => {
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const count = createRowCounter(format)
  const whole: Blob[] = []
  let parts: Uint8Array<ArrayBuffer>[] = []
  let pending = 0
  let bytes = 0
  // The first CSV line contains the column names.
  let rows = format === 'csv' ? -1 : 0
  const reader = (response.body ?? new Blob([]).stream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    pending += value.byteLength
    bytes += value.byteLength
    rows += count(value)
    if (pending >= GATHER_BYTES) {
      whole.push(new Blob(parts))
      parts = []
      pending = 0
    }
    change(id, { rows: Math.max(rows, 0), bytes })
  }
  return new Blob([...whole, ...parts], { type })
}

const perform = async (id: number, request: ExportRequest, signal: AbortSignal): Promise<void> => {
  const { organization, query, format } = request
  const params = { organization: organization.id }
  const counted = await call('GET /organizations/{organization}/decisions/count', { params, query, signal })
  change(id, { total: counted.count, exact: counted.exact })
  const response = await call('GET /organizations/{organization}/decisions/export', {
    params,
    query: { ...query, format },
    signal,
    timeoutMs: TIMEOUT_MS,
  })
  const file = await gather(id, response, format)
  change(id, { state: 'done', url: URL.createObjectURL(file) })
}

export const dropExport = (): void => {
  running?.abort()
  running = null
  if (run?.url != null) URL.revokeObjectURL(run.url)
  set(null)
}

export const startExport = (request: ExportRequest): void => {
  dropExport()
  const controller = new AbortController()
  running = controller
  const id = ++last
  const day = new Date().toISOString().slice(0, 10)
  set({
    id,
    format: request.format,
    state: 'running',
    rows: 0,
    bytes: 0,
    total: 0,
    exact: true,
    error: null,
    url: null,
    fileName: `decisions-${request.organization.slug}-${day}.${request.format}`,
  })
  perform(id, request, controller.signal).catch((error: unknown) => {
    if (controller.signal.aborted) return
    // An interrupted stream throws a plain TypeError; the incomplete file is discarded.
    change(id, {
      state: 'failed',
      error: error instanceof TypeError ? new NetworkError('the response was cut off') : error,
    })
  })
}

export const useExport = (): ExportRun | null => {
  const [shown, setShown] = useState(run)
  useEffect(() => {
    watchers.add(setShown)
    setShown(run)
    return () => {
      watchers.delete(setShown)
    }
  }, [])
  return shown
}
