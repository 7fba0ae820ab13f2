// Makes every append of a worker, inside the latch that the pool closes before it reassigns the worker's jobs
// (invariant 3). An abandoned worker therefore records nothing more, even if it resumes later.
import type { LogRecord, SegmentWriter } from '../../src/decision-log/types.ts'
import { beginCommit, endCommit } from '../../src/pool/protocol.ts'

export type CommitResult =
  | { readonly status: 'recorded' }
  /** The pool has abandoned this worker, which must not answer anymore. */
  | { readonly status: 'fenced' }
  /** Nothing was recorded, so nothing may be answered (invariant 2). */
  | { readonly status: 'failed'; readonly error: unknown }

export interface Recorder {
  /** Appends the records in one write, after any withheld uuids that are not recorded yet. */
  commit(records: readonly LogRecord[]): CommitResult
  /** Records answers that came too late. If this fails, each later commit retries it. */
  withhold(uuids: readonly string[]): CommitResult
}

export interface RecorderDependencies {
  readonly words: Int32Array
  readonly segment: Pick<SegmentWriter, 'append'>
  readonly clock: { unixMs(): number }
  readonly onWithheld: (uuids: readonly string[]) => void
}

export const createRecorder = ({ words, segment, clock, onWithheld }: RecorderDependencies): Recorder => {
  let withheld: string[] = []

  const append = (records: readonly LogRecord[]): CommitResult => {
    try {
      segment.append(records)
      return { status: 'recorded' }
    } catch (error) {
      return { status: 'failed', error }
    }
  }

  const commit = (records: readonly LogRecord[]): CommitResult => {
    if (records.length === 0 && withheld.length === 0) return { status: 'recorded' }
    if (!beginCommit(words)) return { status: 'fenced' }
    const late = withheld
    const at = late.length === 0 ? 0 : clock.unixMs()
    const lines =
      late.length === 0 ? records : [...late.map((uuid) => ({ kind: 'withheld' as const, uuid, at })), ...records]
    const result = append(lines)
    if (!endCommit(words)) return { status: 'fenced' }
    if (result.status === 'recorded' && late.length > 0) {
      withheld = []
      onWithheld(late)
    }
    return result
  }

  return {
    commit,
    withhold: (uuids) => {
      withheld.push(...uuids)
      return commit([])
    },
  }
}
