// Stores, reads and erases a session's evidence. Source: decisions §5, "Levels"; threats rows 17 and 18.
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import { type EvidenceService, type EvidenceSession, requirementsOf } from '../evidence-types.ts'
import { createDocuments, type DocumentsDependencies } from './documents.ts'
import { createRecordWriter, type RecordWriterDependencies } from './record-writer.ts'
import { createTypedFields } from './typed-fields.ts'
import { targetOf } from './vault.ts'

export interface EvidenceDependencies
  extends RecordWriterDependencies,
    Omit<DocumentsDependencies, 'writer' | 'requireSession'> {
  /** Null when the organization has no such session. */
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
      const fields = new Set(records.flatMap(({ fieldNames }) => fieldNames))
      const kinds = new Set(records.map(({ kind }) => kind))
      return requirementsOf(session.checkType, level).filter((requirement) =>
        requirement.part === 'field' ? !fields.has(requirement.name) : !kinds.has(requirement.kind),
      )
    },

    eraseSession: async (session, actor) => {
      const { obsoleteFiles } = await writer.finish(await store.eraseAll(targetOf(session), actor))
      return obsoleteFiles.length
    },
  }
}
