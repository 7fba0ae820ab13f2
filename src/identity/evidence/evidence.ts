// Stores, reads and erases a session's evidence. A file is written before its row, and deleted after the key in its row is
// destroyed: a crash can leave a file that nobody can read, but never a row without a file. Source: decisions §5, "Levels"; threats rows 17 and 18.

import { CountersignError, OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import type { Clock } from '../../domain/time.ts'
import {
  DOCUMENT_KINDS,
  DOCUMENT_RULES,
  type DocumentKind,
  type DocumentMediaType,
  type DocumentReading,
  type DocumentReceipt,
  type EvidenceFields,
  type EvidenceService,
  type EvidenceSession,
  type FieldName,
  requirementsOf,
  type SearchedEvidence,
} from '../evidence-types.ts'
import { DocumentLimitError, EvidenceBusyError, EvidenceUnreadableError } from './errors.ts'
import { cleanFileName, decodeFields } from './fields.ts'
import type { Reencoder } from './reencode.ts'
import type { DocumentScan } from './scan.ts'
import { collect } from './sealed-stream.ts'
import type { EvidenceChange, EvidenceStore } from './store-types.ts'
import { cleanDocument, readUpload } from './upload.ts'
import type { NewEvidence, Vault } from './vault.ts'

export interface EvidenceDependencies {
  readonly store: EvidenceStore
  /** Null when the organization has no such session. */
  readonly findSession: (organizationId: string, sessionId: string) => Promise<SessionState | null>
  readonly vault: Vault
  readonly reencoder: Reencoder
  /** Scans each document as it was sent; left out when no scanner is configured. */
  readonly scan?: DocumentScan | undefined
  readonly clock: Clock
  /** Called after each committed change. */
  readonly changed: (state: SessionState) => void
  /** Called with pieces that were stored, with their bytes, and with pieces whose key was destroyed. */
  readonly counted?: (change: 'stored' | 'erased', pieces: number, bytes: number) => void
  /** Called when a file could not be deleted; the sweep tries again. */
  readonly onError: (error: unknown) => void
  /** Uploads at once: each holds up to DOCUMENT_BYTES_MAX. */
  readonly uploadsMax?: number
  /** How long one upload may take to arrive. */
  readonly uploadTimeLimitMs?: number
}

const FIELDS_KIND = 'fields'
const READING_KIND = 'reading'
const FIELDS_TYPE = 'application/json'
const UPLOADS_PER_SESSION_MAX = 2
/** Attempts to seal: a rotation of the evidence key changes an organization's key twice. */
const SEAL_ATTEMPTS = 3
/** Attempts to save fields: two pages of one person may save at the same moment. */
const FIELD_ATTEMPTS = 5
/** The page acts for the person whose session it is. */
const PERSON = 'person'

/** Files that one search reads at the same time. */
const SEARCHES_AT_ONCE = 8

const targetOf = ({ organizationId, id }: EvidenceSession): EvidenceTarget => ({ organizationId, sessionId: id })

const toKind = (kind: string): DocumentKind | undefined => DOCUMENT_KINDS.find((known) => known === kind)

/** Reads the file on demand; cancelling the stream closes the file. */
const toStream = (source: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await source.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        await source.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )

export const createEvidence = (dependencies: EvidenceDependencies): EvidenceService => {
  const { store, vault, reencoder, clock, changed, onError, counted = () => undefined } = dependencies
  const { scan, uploadsMax = 16, uploadTimeLimitMs = 60_000 } = dependencies
  const uploading = new Map<string, number>()
  let uploads = 0

  const requireSession = async ({ organizationId, id }: EvidenceSession): Promise<void> => {
    if ((await dependencies.findSession(organizationId, id)) === null) throw new SessionUnknownError()
  }

  const discard = async (storageNames: readonly string[]): Promise<void> => {
    try {
      await vault.discard(storageNames)
    } catch (error) {
      onError(error)
    }
  }

  /** Reports the committed change, then deletes files that nobody can read any more. @throws SessionUnknownError */
  const finish = async (change: EvidenceChange | null): Promise<EvidenceChange> => {
    if (change === null) throw new SessionUnknownError()
    changed(change.state)
    if (change.obsoleteFiles.length > 0) counted('erased', change.obsoleteFiles.length, 0)
    await discard(change.obsoleteFiles)
    return change
  }

  /**
   * Stores the record. If the store refuses it, the file is deleted. If the store can't say whether it was stored, the file
   * stays: the sweep deletes it once it is old and no record names it.
   */
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

  /** Seals again when the organization's key was exchanged between sealing and storing. */
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

  const toReceipt = async (target: EvidenceTarget, record: EvidenceRecord): Promise<DocumentReceipt[]> => {
    const kind = toKind(record.kind)
    if (kind === undefined) return []
    const { id, byteLength, createdAtSeconds } = record
    const mediaType = record.mediaType as DocumentMediaType
    return [{ id, kind, mediaType, byteLength, createdAtSeconds, fileName: await vault.fileName(target, record) }]
  }

  const readValues = async (target: EvidenceTarget, record: EvidenceRecord): Promise<EvidenceFields> =>
    JSON.parse(Buffer.from(await collect(await vault.open(target, record))).toString())

  /** Null when the record was replaced, and its file deleted, after it was listed: there is a newer one to read. */
  const readUnlessReplaced = async (target: EvidenceTarget, record: EvidenceRecord): Promise<EvidenceFields | null> => {
    try {
      return await readValues(target, record)
    } catch (error) {
      if ((await store.list(target)).some(({ id }) => id === record.id)) throw error
      return null
    }
  }

  /** Null for a document, and for a record that was replaced meanwhile. */
  const searchedOf = async (target: EvidenceTarget, record: EvidenceRecord): Promise<SearchedEvidence | null> => {
    if (record.kind === FIELDS_KIND) return readUnlessReplaced(target, record)
    if (record.kind !== READING_KIND) return null
    const reading = (await readUnlessReplaced(target, record)) as Partial<DocumentReading> | null
    if (reading === null || reading.zone === null || reading.zone === undefined) return null
    const { number, surname, givenNames } = reading.zone
    return { number, surname, givenNames }
  }

  const tryPutFields = async (session: EvidenceSession, added: EvidenceFields): Promise<boolean> => {
    const target = targetOf(session)
    const current = (await store.list(target)).find(({ kind }) => kind === FIELDS_KIND)
    const before = current === undefined ? {} : await readUnlessReplaced(target, current)
    if (before === null) return false
    const fields = { ...before, ...added }
    const { change } = await sealAndCommit(
      target,
      {
        kind: FIELDS_KIND,
        mediaType: FIELDS_TYPE,
        fileName: null,
        createdAtSeconds: clock.unixSeconds(),
        bytes: Buffer.from(JSON.stringify(fields)),
        fieldNames: Object.keys(fields).sort(),
      },
      (record) => store.replaceFields(target, record, current?.id ?? null, PERSON),
    )
    if (change === false) return false
    await finish(change)
    return true
  }

  const takeUploadPlace = (sessionId: string): void => {
    const ofSession = uploading.get(sessionId) ?? 0
    if (uploads >= uploadsMax || ofSession >= UPLOADS_PER_SESSION_MAX) throw new EvidenceBusyError()
    uploads += 1
    uploading.set(sessionId, ofSession + 1)
  }

  const leaveUploadPlace = (sessionId: string): void => {
    const left = (uploading.get(sessionId) ?? 1) - 1
    uploads -= 1
    if (left === 0) uploading.delete(sessionId)
    else uploading.set(sessionId, left)
  }

  const screenedFields = async (session: EvidenceSession): Promise<EvidenceFields> => {
    const target = targetOf(session)
    for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) {
      const current = (await store.list(target)).find(({ kind }) => kind === FIELDS_KIND)
      if (current === undefined) return {}
      const values = await readUnlessReplaced(target, current)
      if (values !== null) return values
    }
    throw new EvidenceUnreadableError()
  }

  const service: EvidenceService = {
    putFields: async (session, fields) => {
      const decoded = decodeFields(fields, session.checkType, clock.unixSeconds())
      await requireSession(session)
      if (Object.keys(decoded).length === 0) return
      for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) if (await tryPutFields(session, decoded)) return
      throw new EvidenceBusyError()
    },

    screenedFields,

    screenedFieldsOf: async (sessions) => {
      const [first] = sessions
      if (first === undefined) return async () => ({})
      const records = await store.fieldsOf(
        first.organizationId,
        sessions.map(({ id }) => id),
      )
      return async (session) => {
        const record = records.get(session.id)
        if (record === undefined) return {}
        return (await readUnlessReplaced(targetOf(session), record)) ?? screenedFields(session)
      }
    },

    readFields: async (session, actor) => {
      await requireSession(session)
      const target = targetOf(session)
      for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) {
        const current = (await store.list(target)).find(({ kind }) => kind === FIELDS_KIND)
        if (current === undefined) return {}
        const record = await store.recordRead(target, current.id, actor)
        // The fields were replaced between the two reads: read the newer ones.
        const values = record === null ? null : await readUnlessReplaced(target, record)
        if (values !== null) return values
      }
      throw new EvidenceUnreadableError()
    },

    findByFields: async (sessions, matches, actor) => {
      const found = new Set<string>()
      const waiting = [...sessions]
      const look = async (): Promise<void> => {
        for (let session = waiting.shift(); session !== undefined; session = waiting.shift()) {
          const target = targetOf(session)
          for (const record of await store.list(target)) {
            const searched = await searchedOf(target, record)
            if (searched === null || !matches(searched)) continue
            await store.recordRead(target, record.id, actor)
            found.add(session.id)
            break
          }
        }
      }
      await Promise.all(Array.from({ length: SEARCHES_AT_ONCE }, look))
      return found
    },

    addDocument: async (session, { kind, fileName, stream, declaredType }) => {
      const target = targetOf(session)
      const { maximum } = DOCUMENT_RULES[kind]
      takeUploadPlace(session.id)
      try {
        await requireSession(session)
        // Refuse early, before the upload is read; the row's transaction checks again.
        const there = (await store.list(target)).filter((record) => record.kind === kind).length
        if (there >= maximum) throw new DocumentLimitError(maximum)
        const uploaded = await readUpload(stream, uploadTimeLimitMs)
        await scan?.(session, uploaded)
        const { mediaType, bytes } = await cleanDocument(uploaded, { kind, declaredType }, reencoder)
        const { record, change } = await sealAndCommit(
          target,
          {
            kind,
            mediaType,
            bytes,
            fileName: cleanFileName(fileName),
            fieldNames: [],
            createdAtSeconds: clock.unixSeconds(),
          },
          (sealed) => store.addDocument(target, sealed, maximum, PERSON),
        )
        if (change === false) throw new DocumentLimitError(maximum)
        await finish(change)
        const [receipt] = await toReceipt(target, record)
        if (receipt === undefined) throw new Error('a document of no kind was stored')
        return receipt
      } finally {
        leaveUploadPlace(session.id)
        // Refused or read to its end: the rest is not needed.
        if (!stream.locked) await stream.cancel()
      }
    },

    listEvidence: async (session) => {
      await requireSession(session)
      const target = targetOf(session)
      const records = await store.list(target)
      return {
        fields: records.flatMap((record) => record.fieldNames as FieldName[]),
        documents: (await Promise.all(records.map((record) => toReceipt(target, record)))).flat(),
      }
    },

    openDocument: async (session, documentId, actor) => {
      await requireSession(session)
      const target = targetOf(session)
      const isDocument = (await store.list(target)).some(({ id, kind }) => id === documentId && kind !== FIELDS_KIND)
      const record = isDocument ? await store.recordRead(target, documentId, actor) : null
      if (record === null) return null
      const [receipt] = await toReceipt(target, record)
      if (receipt === undefined) return null
      return { receipt, stream: toStream(await vault.open(target, record)) }
    },

    removeDocument: async (session, documentId) => {
      const change = await store.removeDocument(targetOf(session), documentId, PERSON)
      if (change === false) return false
      await finish(change)
      return true
    },

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
      const { obsoleteFiles } = await finish(await store.eraseAll(targetOf(session), actor))
      return obsoleteFiles.length
    },
  }
  return service
}
