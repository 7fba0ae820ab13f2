// The documents of a session's evidence: taken in, listed, opened and removed.
import type { EvidenceRecord, EvidenceTarget } from '../../domain/evidence.ts'
import {
  DOCUMENT_KINDS,
  DOCUMENT_RULES,
  type DocumentKind,
  type DocumentMediaType,
  type DocumentReceipt,
  type EvidenceService,
  type FieldName,
} from '../evidence-types.ts'
import { DocumentLimitError, EvidenceBusyError } from './errors.ts'
import { cleanFileName } from './fields.ts'
import { PERSON, type RecordAccess } from './record-writer.ts'
import type { DocumentScan } from './scan.ts'
import { FIELDS_KIND } from './typed-fields.ts'
import { cleanDocument, type DocumentPrograms, readUpload } from './upload.ts'
import { targetOf } from './vault.ts'

export interface DocumentsDependencies extends RecordAccess, DocumentPrograms {
  /** Scans each document as it was sent; left out when no scanner is configured. */
  readonly scan?: DocumentScan | undefined
  /** Uploads at once: each holds up to DOCUMENT_BYTES_MAX. */
  readonly uploadsMax?: number
  /** How long one upload may take to arrive. */
  readonly uploadTimeLimitMs?: number
}

const UPLOADS_PER_SESSION_MAX = 2

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

export const createDocuments = (
  dependencies: DocumentsDependencies,
): Pick<EvidenceService, 'addDocument' | 'listEvidence' | 'openDocument' | 'removeDocument'> => {
  const { store, vault, clock, writer, requireSession, scan } = dependencies
  const { uploadsMax = 16, uploadTimeLimitMs = 60_000 } = dependencies
  const uploading = new Map<string, number>()
  let uploads = 0

  const toReceipt = async (target: EvidenceTarget, record: EvidenceRecord): Promise<DocumentReceipt[]> => {
    const kind = toKind(record.kind)
    if (kind === undefined) return []
    const { id, byteLength, createdAtSeconds } = record
    const mediaType = record.mediaType as DocumentMediaType
    return [{ id, kind, mediaType, byteLength, createdAtSeconds, fileName: await vault.fileName(target, record) }]
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

  return {
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
        const { mediaType, bytes } = await cleanDocument(uploaded, { kind, declaredType }, dependencies)
        const { record, change } = await writer.sealAndCommit(
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
        await writer.finish(change)
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
      await writer.finish(change)
      return true
    },
  }
}
