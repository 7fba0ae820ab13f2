// Erases expired evidence, and deletes orphans of crashes and failed deletions.
import type { EvidenceTarget } from '../../domain/evidence.ts'
import type { Clock } from '../../lib/time.ts'
import type { EvidenceFiles } from './evidence-files.ts'
import type { EvidenceRetentionStore } from './store-types.ts'

interface RetentionDependencies {
  readonly store: EvidenceRetentionStore
  readonly erase: (target: EvidenceTarget) => Promise<unknown>
  readonly files: Pick<EvidenceFiles, 'list' | 'remove'>
  readonly clock: Clock
  /** Throws while the clock is untrusted, because erasure is irreversible. */
  readonly requireSteadyClock: () => void
}

export interface SweepResult {
  readonly sessions: number
  readonly files: number
}

const BATCH = 100
/** Minimum age of a file whose row was erased, but which could not be deleted. */
const ERASED_AGE_SECONDS = 3_600
/**
 * Minimum age of a file without a row. Its key is lost with the row, so it is unreadable; but the database may be an
 * older copy that was restored by mistake.
 */
const ORPHAN_AGE_SECONDS = 30 * 86_400

export const createRetentionSweep =
  ({ store, erase, files, clock, requireSteadyClock }: RetentionDependencies) =>
  async (): Promise<SweepResult> => {
    let sessions = 0
    for (;;) {
      requireSteadyClock()
      const expired = await store.listExpired(BATCH)
      for (const target of expired) await erase(target)
      sessions += expired.length
      if (expired.length < BATCH) break
    }
    let removed = 0
    for await (const { name, modifiedAtSeconds } of files.list()) {
      const ageSeconds = clock.unixSeconds() - modifiedAtSeconds
      if (ageSeconds < ERASED_AGE_SECONDS) continue
      const state = await store.findFile(name)
      if (state === 'in-use' || (state === null && ageSeconds < ORPHAN_AGE_SECONDS)) continue
      await files.remove(name)
      removed += 1
    }
    return { sessions, files: removed }
  }
