// Stores, reads and erases a session's evidence. Source: decisions §5, "Levels"; threats rows 17 and 18.

import type { EvidenceTarget } from '../../domain/evidence.ts'
import { partOf, requirementsOf } from '../../domain/requirements.ts'
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { EvidenceService, EvidenceSession } from '../evidence-types.ts'
import { createDocuments, type DocumentsDependencies } from './documents.ts'
import type { EvidenceFiles } from './evidence-files.ts'
import { createRecordWriter, RETENTION_ACTOR, type RecordWriterDependencies } from './record-writer.ts'
import type { EvidenceRetentionStore } from './store-types.ts'
import { createTypedFields } from './typed-fields.ts'
import { targetOf } from './vault.ts'

export interface EvidenceDependencies
  extends RecordWriterDependencies,
    Omit<DocumentsDependencies, 'writer' | 'requireSession'> {
  readonly findSession: (organizationId: string, sessionId: string) => Promise<SessionState | null>
}

export const createEvidence = (dependencies: EvidenceDependencies): EvidenceService => {
  const { store, findSession } = dependencies
  const writer = createRecordWriter(dependencies)
  const requireSession = async ({ organizationId, id }: EvidenceSession): Promise<void> => {
    if ((await findSession(organizationId, id)) === null) throw new SessionUnknownError()
  }
  const parts = { ...dependencies, writer, requireSession }
  return {
    ...createTypedFields(parts),
    ...createDocuments(parts),

    missing: async (session, level = session.level) => {
      await requireSession(session)
      const records = await store.list(targetOf(session))
      const given = new Set(records.flatMap(({ kind, fieldNames }) => [kind, ...fieldNames]))
      return requirementsOf(session.checkType, level).filter((requirement) => !given.has(partOf(requirement)))
    },

    eraseSession: async (session, actor, write = (erase) => erase(store)) => {
      const { obsoleteFiles } = await writer.finish(await write((own) => own.eraseAll(targetOf(session), actor)))
      return obsoleteFiles.length
    },

    eraseExpired: async (target) => {
      await writer.finish(await store.eraseAll(target, RETENTION_ACTOR, { onlyExpired: true }))
    },
  }
}

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
/** A file is written before its row, so only older files without a row are orphans. */
const ORPHAN_AGE_SECONDS = 3_600

/** Erases expired evidence, and deletes orphans of crashes and failed deletions. */
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
      if (clock.unixSeconds() - modifiedAtSeconds < ORPHAN_AGE_SECONDS || (await store.isFileInUse(name))) continue
      await files.remove(name)
      removed += 1
    }
    return { sessions, files: removed }
  }
