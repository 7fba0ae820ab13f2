// Stores, reads and erases a session's evidence. Source: decisions §5, "Levels"; threats rows 17 and 18.

import { partOf, requirementsOf } from '../../domain/requirements.ts'
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { EvidenceService, EvidenceSession } from '../evidence-types.ts'
import { createDocuments, type DocumentsDependencies } from './documents.ts'
import { createRecordWriter, RETENTION_ACTOR, type RecordWriterDependencies } from './record-writer.ts'
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
