import type { Zone } from '../../domain/document-zone.ts'
import type { EvidenceRecord, EvidenceTarget } from '../../domain/evidence.ts'
import type { PersonDetails } from '../../domain/standing.ts'
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
import type { EvidenceStore } from './store-types.ts'
import { targetOf, type Vault } from './vault.ts'

export const FIELDS_KIND = 'fields'
const READING_KIND = 'reading'
const FIELDS_TYPE = 'application/json'
/** Maximum attempts, because two pages of the same person may save concurrently. */
const FIELD_ATTEMPTS = 5
const SEARCHES_AT_ONCE = 8

const zonesOf = (reading: DocumentReading | null): readonly Zone[] =>
  reading === null || reading.zone === null ? [] : [reading.zone, ...(reading.otherZones ?? [])]

interface FieldAccess {
  readonly store: Pick<EvidenceStore, 'list'>
  readonly vault: Pick<Vault, 'open'>
}

const createRecordReader = ({ store, vault }: FieldAccess) => {
  const readValues = async <Values = EvidenceFields>(target: EvidenceTarget, record: EvidenceRecord): Promise<Values> =>
    JSON.parse(Buffer.from(await collect(await vault.open(target, record))).toString())

  const readUnlessReplaced = async <Values = EvidenceFields>(
    target: EvidenceTarget,
    record: EvidenceRecord,
  ): Promise<Values | null> => {
    try {
      return await readValues<Values>(target, record)
    } catch (error) {
      if ((await store.list(target)).some(({ id }) => id === record.id)) throw error
      return null
    }
  }

  const readCurrent = async <Values>(target: EvidenceTarget, kind: string): Promise<Values | null> => {
    for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) {
      const current = (await store.list(target)).find((record) => record.kind === kind)
      if (current === undefined) return null
      const values = await readUnlessReplaced<Values>(target, current)
      if (values !== null) return values
    }
    throw new EvidenceUnreadableError()
  }

  return { readUnlessReplaced, readCurrent }
}

interface DetailsDependencies extends FieldAccess {
  /** Returns the session's sequence number; null unless policies may use the details of this completed session. */
  readonly findDetailsUse: (organizationId: string, sessionId: string) => Promise<number | null>
}

/** Reads the country and birth date of a session for policies. The access is not recorded, because no person sees them. */
export const createDetailsReader = ({ findDetailsUse, ...access }: DetailsDependencies) => {
  const { readCurrent } = createRecordReader(access)
  return async (organizationId: string, sessionId: string): Promise<PersonDetails | null> => {
    const sequence = await findDetailsUse(organizationId, sessionId)
    if (sequence === null) return null
    const fields = await readCurrent<EvidenceFields>({ organizationId, sessionId }, FIELDS_KIND)
    // Fields that a person changed while they were read are not verified.
    if ((await findDetailsUse(organizationId, sessionId)) !== sequence) return null
    const { country, birthDate } = fields ?? {}
    return country === undefined || birthDate === undefined ? null : { country, birthDate }
  }
}

export const createTypedFields = ({
  store,
  vault,
  clock,
  writer,
  requireSession,
}: RecordAccess): Pick<
  EvidenceService,
  'putFields' | 'readFields' | 'screenedFields' | 'screenedFieldsOf' | 'screenedZonesOf' | 'findByFields'
> => {
  const { readUnlessReplaced, readCurrent } = createRecordReader({ store, vault })

  const searchedOf = async (target: EvidenceTarget, record: EvidenceRecord): Promise<readonly SearchedEvidence[]> => {
    if (record.kind === FIELDS_KIND) {
      const fields = await readUnlessReplaced(target, record)
      return fields === null ? [] : [fields]
    }
    if (record.kind !== READING_KIND) return []
    const zones = zonesOf(await readUnlessReplaced<DocumentReading>(target, record))
    return zones.map(({ number, surname, givenNames }) => ({ number, surname, givenNames }))
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
      (record) =>
        store.replaceFields(target, record, { replacedId: current?.id ?? null, changed: Object.keys(added) }, PERSON),
    )
    if (change === false) return false
    await writer.finish(change)
    return true
  }

  /** One query for all sessions, which must belong to one organization. Decrypts records on demand. */
  const currentOf = async <Values>(sessions: readonly EvidenceSession[], kind: string) => {
    const [first] = sessions
    const ids = sessions.map(({ id }) => id)
    const records = first === undefined ? new Map() : await store.recordsOf(first.organizationId, ids, kind)
    return async (session: EvidenceSession): Promise<Values | null> => {
      const record = records.get(session.id)
      const target = targetOf(session)
      if (record === undefined) return null
      return (await readUnlessReplaced<Values>(target, record)) ?? readCurrent<Values>(target, kind)
    }
  }

  return {
    putFields: async (session, fields) => {
      const decoded = decodeFields(fields, session.checkType, clock.unixSeconds())
      await requireSession(session)
      if (Object.keys(decoded).length === 0) return
      for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) if (await tryPutFields(session, decoded)) return
      throw new EvidenceBusyError()
    },

    screenedFields: async (session) => (await readCurrent<EvidenceFields>(targetOf(session), FIELDS_KIND)) ?? {},

    screenedFieldsOf: async (sessions) => {
      const fieldsOf = await currentOf<EvidenceFields>(sessions, FIELDS_KIND)
      return async (session) => (await fieldsOf(session)) ?? {}
    },

    screenedZonesOf: async (sessions) => {
      const readingOf = await currentOf<DocumentReading>(sessions, READING_KIND)
      return async (session) => zonesOf(await readingOf(session))
    },

    readFields: async (session, actor) => {
      await requireSession(session)
      const target = targetOf(session)
      for (let attempt = 0; attempt < FIELD_ATTEMPTS; attempt++) {
        const current = (await store.list(target)).find(({ kind }) => kind === FIELDS_KIND)
        if (current === undefined) return {}
        const record = await store.recordRead(target, current.id, actor)
        // The fields were replaced between the reads, so read the newer fields.
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
            if (!(await searchedOf(target, record)).some(matches)) continue
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
