import type { EvidenceRecord, EvidenceTarget } from '../../domain/evidence.ts'
import { DOCUMENT_KINDS, type DocumentKind, type FieldName } from '../../domain/requirements.ts'
import type { UploadPace } from '../../lib/upload-pace.ts'
import {
  DOCUMENT_RULES,
  type DocumentMediaType,
  type DocumentReceipt,
  type EvidenceService,
} from '../evidence-types.ts'
import type { DocumentScan } from './document-scan.ts'
import { DocumentLimitError } from './errors.ts'
import { cleanFileName } from './fields.ts'
import { PERSON, type RecordAccess } from './record-writer.ts'
import { FIELDS_KIND } from './typed-fields.ts'
import { cleanDocument, type DocumentPrograms, readUpload, UPLOAD_PACE } from './upload.ts'
import { createUploadSlots, type UploadLimits } from './upload-slots.ts'
import { targetOf } from './vault.ts'

export interface DocumentsDependencies extends RecordAccess, DocumentPrograms {
  readonly scan?: DocumentScan | undefined
  readonly uploadLimits?: UploadLimits
  readonly uploadPace?: UploadPace
}

const toKind = (kind: string): DocumentKind | undefined => DOCUMENT_KINDS.find((known) => known === kind)

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
  const { uploadPace = UPLOAD_PACE } = dependencies
  const slots = createUploadSlots(dependencies.uploadLimits)

  const toReceipt = async (target: EvidenceTarget, record: EvidenceRecord): Promise<DocumentReceipt[]> => {
    const kind = toKind(record.kind)
    if (kind === undefined) return []
    const { id, byteLength, createdAtSeconds } = record
    const mediaType = record.mediaType as DocumentMediaType
    return [{ id, kind, mediaType, byteLength, createdAtSeconds, fileName: await vault.fileName(target, record) }]
  }

  return {
    addDocument: async (session, { kind, fileName, stream, declaredType, address }) => {
      const target = targetOf(session)
      const { maximum } = DOCUMENT_RULES[kind]
      const releases = [slots.acquireArrival(session, address)]
      try {
        await requireSession(session)
        // Rejects early, before the upload is read; the transaction checks again.
        const there = (await store.list(target)).filter((record) => record.kind === kind).length
        if (there >= maximum) throw new DocumentLimitError(maximum)
        const uploaded = await readUpload(stream, uploadPace)
        // Acquired after the upload, so that slow senders occupy no slot.
        releases.push(await slots.acquireOpening(session, address))
        await scan?.(session, uploaded)
        const { mediaType, bytes } = await cleanDocument(
          uploaded,
          { kind, declaredType, organizationId: session.organizationId },
          dependencies,
        )
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
        if (receipt === undefined) throw new Error('a stored document has no kind')
        return receipt
      } finally {
        for (const release of releases) release()
        // A rejected document may not have been read to its end.
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
