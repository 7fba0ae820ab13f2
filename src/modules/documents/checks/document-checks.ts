// Compares identity documents with the entered fields and the date. `unreadable` isn't a finding about the person.

import type { Zone } from '../../../domain/document-zone.ts'
import type { Session } from '../../../domain/session.ts'
import type { NewSessionCheck, SinglePart } from '../../../identity/checks/checks.ts'
import type { Traces } from '../../../identity/checks/traces.ts'
import { DocumentInvalidError } from '../../../identity/evidence/errors.ts'
import { collect } from '../../../identity/evidence/sealed-stream.ts'
import type { DocumentReadings, DocumentReceipt, EvidenceService } from '../../../identity/evidence-types.ts'
import type { Clock } from '../../../lib/time.ts'
import { READER_VERSION, type ZoneReading } from '../../../zone-reader/picture/read-zone.ts'
import { compareZone } from '../compare.ts'
import { nameOfZone } from '../names.ts'

/** `pdf`: not a picture. `picture`: it could not be decoded. */
type DocumentOutcome = ZoneReading['kind'] | 'pdf' | 'picture'

export interface TraceStore {
  replace(
    organizationId: string,
    sessionId: string,
    group: string,
    traces: readonly { readonly kind: string; readonly value: string }[],
  ): Promise<void>
  findValues(
    session: Session,
    kind: string,
    values: readonly string[],
  ): Promise<readonly { readonly sessionId: string }[]>
  findKinds(
    session: Session,
    kinds: readonly string[],
  ): Promise<readonly { readonly sessionId: string; readonly value: string }[]>
}

interface DocumentCheckDependencies {
  readonly evidence: Pick<EvidenceService, 'listEvidence' | 'openDocument' | 'readFields'>
  readonly readings: Pick<DocumentReadings, 'put'>
  readonly readZone: (picture: Uint8Array) => Promise<ZoneReading>
  readonly traces: Traces
  readonly traceStore: Pick<TraceStore, 'replace' | 'findValues'>
  readonly clock: Clock
}

export const CHECK_ACTOR = 'check'
export const DOCUMENT_CHECKS = 'document'
const GROUP = `${DOCUMENT_CHECKS}.`
const NUMBER = 'document.number'

interface ReadDocument {
  readonly id: string
  readonly outcome: DocumentOutcome
  readonly zone: Zone | null
}

const distinctZones = (documents: readonly ReadDocument[]): readonly Zone[] => {
  const zones: Zone[] = []
  for (const { zone } of documents) {
    if (zone !== null && !zones.some((other) => Bun.deepEquals(other, zone))) zones.push(zone)
  }
  return zones
}

export const createDocumentChecks = (dependencies: DocumentCheckDependencies): SinglePart => {
  const { evidence, readings, readZone, traces, traceStore, clock } = dependencies
  const check = (name: string, outcome: NewSessionCheck['outcome'], detail = {}): NewSessionCheck => ({
    name: `${GROUP}${name}`,
    outcome,
    detail,
    version: READER_VERSION,
  })

  const readDocument = async (session: Session, { id, mediaType }: DocumentReceipt): Promise<ReadDocument> => {
    if (mediaType === 'application/pdf') return { id, outcome: 'pdf', zone: null }
    const opened = await evidence.openDocument(session, id, CHECK_ACTOR)
    if (opened === null) return { id, outcome: 'picture', zone: null }
    const picture = await collect(opened.stream)
    try {
      const reading = await readZone(picture)
      return { id, outcome: reading.kind, zone: reading.kind === 'read' ? reading.decoded.zone : null }
    } catch (error) {
      if (!(error instanceof DocumentInvalidError)) throw error
      return { id, outcome: 'picture', zone: null }
    }
  }

  /** A person must review documents that contradict each other. */
  const ofZone = (documents: readonly ReadDocument[]): NewSessionCheck => {
    const detail = { documents: documents.map(({ id, outcome }) => ({ id, outcome })) }
    const persons = new Set(
      documents.flatMap(({ zone }) =>
        zone === null ? [] : JSON.stringify([zone.number, nameOfZone(zone), zone.birthDate]),
      ),
    )
    if (persons.size > 1) return check('zone', 'look', { ...detail, reason: 'documents-differ' })
    if (persons.size === 1) return check('zone', 'passed', detail)
    const wasTried = documents.some(({ outcome }) => outcome === 'none' || outcome === 'doubtful')
    return check('zone', wasTried ? 'unreadable' : 'not-done', detail)
  }

  const ofNumbers = async (session: Session, zones: readonly Zone[]): Promise<NewSessionCheck> => {
    const { organizationId, id } = session
    const numbers = new Set(zones.map(({ issuer, number }) => `${issuer}\n${number}`))
    const values = await Promise.all([...numbers].map((number) => traces.valueOf(organizationId, NUMBER, number)))
    const known = values.map((value) => ({ kind: NUMBER, value }))
    await traceStore.replace(organizationId, id, GROUP, known)
    const found = await traceStore.findValues(session, NUMBER, values)
    const sessions = [...new Set(found.map(({ sessionId }) => sessionId))]
    return check('number', sessions.length === 0 ? 'passed' : 'look', { sessions })
  }

  return {
    name: DOCUMENT_CHECKS,
    run: async (session) => {
      const { documents } = await evidence.listEvidence(session)
      const papers = documents.filter(({ kind }) => kind === 'identity-document')
      if (session.checkType !== 'kyc' || papers.length === 0) return []
      const read: ReadDocument[] = []
      for (const paper of papers) read.push(await readDocument(session, paper))
      const first = read.find(({ zone }) => zone !== null)
      const zone = first?.zone ?? null
      const zones = distinctZones(read)
      await readings.put(session, { documentId: first?.id ?? null, zone, otherZones: zones.slice(1) })
      if (zone === null) {
        await traceStore.replace(session.organizationId, session.id, GROUP, [])
        return [ofZone(read)]
      }
      const typed = await evidence.readFields(session, CHECK_ACTOR)
      const compared = compareZone(zone, typed, clock.unixSeconds())
      return [
        ofZone(read),
        ...compared.map(({ name, finding }) => check(name, finding, { document: first?.id })),
        await ofNumbers(session, zones),
      ]
    },
  }
}
