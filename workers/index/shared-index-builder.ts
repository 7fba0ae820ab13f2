// Writes this node's decisions to the index that all nodes share. Like the local index, it can be deleted and rebuilt.
import type { SharedIndexWriter } from '../../src/store/decision-index/shared-writer.ts'
import { type IndexStatus, newestOf } from './decision-index.ts'
import { createLogIntake } from './log-intake.ts'

export interface SharedIndexBuilderOptions {
  readonly directory: string
  readonly writer: SharedIndexWriter
  readonly monotonicMs: () => number
}

export const createSharedIndexBuilder = (options: SharedIndexBuilderOptions) => {
  const { directory, writer, monotonicMs } = options
  const intake = createLogIntake(directory, monotonicMs)
  let positions: Awaited<ReturnType<typeof writer.positions>> | null = null
  let unreadable = 0
  let newestAtMs: number | null = null
  let upToDate = false

  const begin = (): void => {
    intake.close()
    positions = null
    upToDate = false
  }

  return {
    /** Indexes a batch of new lines of this node's log. Returns false at the end of the log. */
    ingest: async (): Promise<boolean> => {
      positions ??= await writer.positions()
      const known = positions
      try {
        const taken = intake.take(() => known)
        if (taken.read > 0 || taken.cuts.length > 0) await writer.append(taken.lines, taken.positions, taken.cuts)
        unreadable += taken.unreadable
        newestAtMs = newestOf(taken.lines, newestAtMs)
        positions = new Map([...known, ...taken.positions.map((position) => [position.slot, position] as const)])
        upToDate = !taken.more
        return taken.more
      } catch (error) {
        // The batch may or may not have been stored: continue from the positions in the index.
        begin()
        throw error
      }
    },
    /** `decisions` counts the decisions of all nodes; the other fields describe this node. */
    status: async (): Promise<IndexStatus> => ({ decisions: await writer.count(), unreadable, newestAtMs, upToDate }),
    rebuild: async (): Promise<void> => {
      begin()
      unreadable = 0
      newestAtMs = null
      await writer.clear()
    },
    close: intake.close,
  }
}
