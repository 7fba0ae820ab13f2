// The typed-in fields of a session's evidence, which are one encrypted file: saved by the person, read by whoever decides,
// compared and searched by the service.
import type { EvidenceRecord, EvidenceTarget } from '../../domain/evidence.ts'
import type {
  DocumentReading,
  EvidenceFields,
  EvidenceService,
  EvidenceSession,
  SearchedEvidence,
} from '../evidence-types.ts'
import { EvidenceBusyError, EvidenceUnreadableError } from './errors.ts'
import { decodeFields } from './fields.ts'
import { PERSON, type RecordAccess } from './record-writer.ts'
import { collect } from './sealed-stream.ts'
import { targetOf } from './vault.ts'

export const FIELDS_KIND = 'fields'
const READING_KIND = 'reading'
const FIELDS_TYPE = 'application/json'
/** Attempts to save fields: two pages of one person may save at the same moment. */
const FIELD_ATTEMPTS = 5
/** Files that one search reads at the same time. */
const SEARCHES_AT_ONCE = 8

export const createTypedFields = ({
  store,
  vault,
  clock,
  writer,
  requireSession,
}: RecordAccess): Pick<
  EvidenceService,
  'putFields' | 'readFields' | 'screenedFields' | 'screenedFieldsOf' | 'findByFields'
> => {
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
    const { change } = await writer.sealAndCommit(
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
    await writer.finish(change)
    return true
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

  return {
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
  }
}
