// Keeps the decision index up with the log. Runs in a process of its own at the lowest priority: what it does can't slow
// signing down, and can be thrown away and done again.
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
  /** The last look left nothing of the log unread. */
  readonly upToDate: boolean
}

export interface DecisionIndex extends DecisionFinder {
  /** Takes in some of what is new. False: there is no more for now. */
  ingest(): boolean
  /** Does one of the chores that make searching quicker. False: there was none. */
  improve(): boolean
  status(): IndexStatus
  /** Forgets everything and begins again. */
  rebuild(): void
  close(): void
}

/** Unix milliseconds of the newest decision among those and before. */
export const newestOf = (lines: readonly IndexedLine[], before: number | null): number | null =>
  lines.reduce<number | null>(
    (newest, line) => (line.kind === 'decision' ? Math.max(newest ?? 0, line.atMs) : newest),
    before,
  )

/** @throws DecisionDirectoryMissingError and system errors from what reads the log */
export const createDecisionIndex = (options: DecisionIndexOptions): DecisionIndex => {
  const { directory, path, monotonicMs, generationRows } = options
  const intake = createLogIntake(directory, monotonicMs)
  let file: IndexFile
  let writer: IndexWriter
  let finder: DecisionFinder
  let unreadable = 0
  let newestAtMs: number | null = null
  let upToDate = false

  const open = (fresh: boolean): void => {
    file = openIndexFile(path, fresh)
    writer = createIndexWriter(file, generationRows)
    finder = createDecisionFinder({ directory, file, monotonicMs })
    unreadable = 0
    newestAtMs = null
  }

  open(false)

  return {
    ingest: () => {
      let more = false
      try {
        const taken = intake.take(() => writer.positions())
        more = taken.more
        if (taken.read > 0 || taken.cuts.length > 0) writer.append(taken.lines, taken.positions, taken.cuts)
        unreadable += taken.unreadable
        newestAtMs = newestOf(taken.lines, newestAtMs)
      } catch (error) {
        // What was read and not stored is read again from where the index stands.
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
      open(true)
    },
    close: () => {
      intake.close()
      file.close()
    },
  }
}
