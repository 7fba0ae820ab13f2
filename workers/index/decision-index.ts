// Keeps the decision index up to date with the log. It runs in a process of its own at the lowest priority, so that it
// does not slow down signing. The index can be deleted and built again.
import { type IndexFile, openIndexFile } from '../../src/store/decision-index/file.ts'
import type { IndexedLine } from '../../src/store/decision-index/types.ts'
import { createIndexWriter, type IndexWriter } from '../../src/store/decision-index/writer.ts'
import { createDecisionFinder, type DecisionFinder } from './decision-finder.ts'
import { createLogIntake } from './log-intake.ts'

export interface DecisionIndexOptions {
  readonly directory: string
  /** The index's own file. */
  readonly path: string
  readonly monotonicMs: () => number
  /** For tests. */
  readonly generationRows?: number
}

export interface IndexStatus {
  readonly decisions: number
  /** Lines that could not be read; `decisions verify` says which. */
  readonly unreadable: number
  /** Unix milliseconds of the newest decision taken in; null before the first. */
  readonly newestAtMs: number | null
  /** Whether the last batch reached the end of the log. */
  readonly upToDate: boolean
}

export interface DecisionIndex extends DecisionFinder {
  /** Takes in a batch of new lines. False at the end of the log. */
  ingest(): boolean
  /** Creates one index that makes searches quicker. False when none is missing. */
  improve(): boolean
  status(): IndexStatus
  /** Deletes the index and starts from the beginning of the log. */
  rebuild(): void
  close(): void
}

/** Unix milliseconds of the newest decision: among `lines`, or `before` if that is newer. */
export const newestOf = (lines: readonly IndexedLine[], before: number | null): number | null =>
  lines.reduce<number | null>(
    (newest, line) => (line.kind === 'decision' ? Math.max(newest ?? 0, line.atMs) : newest),
    before,
  )

/** @throws DecisionDirectoryMissingError, and system errors when the log can't be read */
export const createDecisionIndex = (options: DecisionIndexOptions): DecisionIndex => {
  const { directory, path, monotonicMs, generationRows } = options
  const intake = createLogIntake(directory, monotonicMs)
  let file: IndexFile
  let writer: IndexWriter
  let finder: DecisionFinder
  let unreadable = 0
  let newestAtMs: number | null = null
  let upToDate = false
  /** False after a rebuild that failed: the next batch tries it again. */
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
        // Lines that were read and not stored are read again, from the positions in the index.
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
