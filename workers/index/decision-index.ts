// Keeps the decision index up to date with the log. The index can be deleted and rebuilt at any time.
import { type IndexFile, openIndexFile } from '../../src/store/decision-index/file.ts'
import type { IndexedLine } from '../../src/store/decision-index/types.ts'
import { createIndexWriter, type IndexWriter } from '../../src/store/decision-index/writer.ts'
import { createDecisionFinder, type DecisionFinder } from './decision-finder.ts'
import { createLogIntake } from './log-intake.ts'

export interface DecisionIndexOptions {
  readonly directory: string
  readonly path: string
  readonly monotonicMs: () => number
  readonly generationRows?: number
}

export interface IndexStatus {
  readonly decisions: number
  /** Number of unreadable lines; `decisions verify` lists them. */
  readonly unreadable: number
  /** Time of the newest indexed decision in Unix milliseconds; null before the first. */
  readonly newestAtMs: number | null
  readonly upToDate: boolean
}

export interface DecisionIndex extends DecisionFinder {
  ingest(): boolean
  /** Creates one missing database index for faster searches. Returns false if none is missing. */
  improve(): boolean
  status(): IndexStatus
  rebuild(): void
  close(): void
}

export const newestOf = (lines: readonly IndexedLine[], before: number | null): number | null =>
  lines.reduce<number | null>(
    (newest, line) => (line.kind === 'decision' ? Math.max(newest ?? 0, line.atMs) : newest),
    before,
  )

/** @throws DecisionDirectoryMissingError, or system errors if the log cannot be read */
export const createDecisionIndex = (options: DecisionIndexOptions): DecisionIndex => {
  const { directory, path, monotonicMs, generationRows } = options
  const intake = createLogIntake(directory, monotonicMs)
  let file: IndexFile
  let writer: IndexWriter
  let finder: DecisionFinder
  let unreadable = 0
  let newestAtMs: number | null = null
  let upToDate = false
  /** False after a failed rebuild; the next batch retries it. */
  let isOpen = false

  const open = (fresh: boolean): void => {
    file = openIndexFile(path, fresh)
    writer = createIndexWriter(file, generationRows)
    finder = createDecisionFinder({ directory, file, monotonicMs })
    unreadable = 0
    newestAtMs = null
    isOpen = true
  }

  open(false)

  return {
    ingest: () => {
      if (!isOpen) open(true)
      let more = false
      try {
        const taken = intake.take(() => writer.positions())
        more = taken.more
        if (taken.read > 0 || taken.cuts.length > 0) writer.append(taken.lines, taken.positions, taken.cuts)
        unreadable += taken.unreadable
        newestAtMs = newestOf(taken.lines, newestAtMs)
      } catch (error) {
        // Lines that were read but not stored are read again, from the positions in the index.
        intake.close()
        throw error
      }
      upToDate = !more
      return more
    },
    improve: () => writer.improve(),
    search: (filter, after, limit) => finder.search(filter, after, limit),
    find: (organizationId, uuid) => finder.find(organizationId, uuid),
    count: (filter) => finder.count(filter),
    tally: (question) => finder.tally(question),
    status: () => ({ decisions: writer.count(), unreadable, newestAtMs, upToDate }),
    rebuild: () => {
      intake.close()
      file.close()
      upToDate = false
      isOpen = false
      open(true)
    },
    close: () => {
      intake.close()
      file.close()
    },
  }
}
