// A file is written before its row, and deleted after the key in its row is destroyed. A crash can leave an unreadable
// file, but never a row without a file.
import { CountersignError, OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { Clock } from '../../lib/time.ts'
import type { EvidenceSession } from '../evidence-types.ts'
import type { EvidenceChange, EvidenceStore } from './store-types.ts'
import type { NewEvidence, Vault } from './vault.ts'

export interface RecordWriterDependencies {
  readonly vault: Vault
  readonly changed: (state: SessionState) => void
  readonly counted?: (change: 'stored' | 'erased', pieces: number, bytes: number) => void
  readonly onError: (error: unknown) => void
}

export const PERSON = 'person'
export const RETENTION_ACTOR = 'retention'
/** Maximum attempts: enough for a rotation of the evidence key, which changes an organization's key twice. */
export const SEAL_ATTEMPTS = 3

export const createRecordWriter = (dependencies: RecordWriterDependencies) => {
  const { vault, changed, onError, counted = () => undefined } = dependencies

  const discard = async (storageNames: readonly string[]): Promise<void> => {
    try {
      await vault.discard(storageNames)
    } catch (error) {
      onError(error)
    }
  }

  /** Publishes the committed change, then deletes unreadable files. @throws SessionUnknownError */
  const finish = async (change: EvidenceChange | null): Promise<EvidenceChange> => {
    if (change === null) throw new SessionUnknownError()
    changed(change.state)
    if (change.obsoleteFiles.length > 0) counted('erased', change.obsoleteFiles.length, 0)
    await discard(change.obsoleteFiles)
    return change
  }

  /** Deletes the file if the store rejects the record. If the outcome is unknown, the file stays for the sweep. */
  const commit = async <Result extends EvidenceChange | false | null>(
    record: EvidenceRecord,
    write: () => Promise<Result>,
  ): Promise<Result> => {
    let written: Result
    try {
      written = await write()
    } catch (error) {
      const isUnknown = error instanceof CountersignError && error.code === 'DEPENDENCY_UNAVAILABLE'
      if (!isUnknown) await discard([record.storageName])
      throw error
    }
    if (written === null || written === false) await discard([record.storageName])
    else counted('stored', 1, record.byteLength)
    return written
  }

  /** Seals again if the organization's key was exchanged in the meantime. */
  const sealAndCommit = async <Result extends EvidenceChange | false | null>(
    target: EvidenceTarget,
    evidence: NewEvidence,
    write: (record: NewEvidenceRecord) => Promise<Result>,
  ): Promise<{ readonly record: EvidenceRecord; readonly change: Result }> => {
    for (let attempt = 1; ; attempt++) {
      const record = await vault.put(target, evidence)
      try {
        return { record, change: await commit(record, () => write(record)) }
      } catch (error) {
        if (!(error instanceof OrganizationKeyExchangedError) || attempt === SEAL_ATTEMPTS) throw error
      }
    }
  }

  return { finish, sealAndCommit }
}

export interface RecordAccess {
  readonly store: EvidenceStore
  readonly vault: Vault
  readonly clock: Clock
  readonly writer: ReturnType<typeof createRecordWriter>
  readonly requireSession: (session: EvidenceSession) => Promise<void>
}
