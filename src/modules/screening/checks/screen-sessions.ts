// Compares the names in sessions with listed names. Entered names stay in memory during the comparison.
import type { Zone } from '../../../domain/document-zone.ts'
import type { CheckType, Session } from '../../../domain/session.ts'
import type { EvidenceFields, EvidenceService } from '../../../identity/evidence-types.ts'
import { STATES } from '../../../zone-reader/zone/states.ts'
import { nameOfZone } from '../../documents/names.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import type { ScreeningAnswer } from '../matching/screen-subject.ts'
import type { NameScreener } from '../processes/screening-processes.ts'

export interface NamedSubject {
  readonly who: string
  readonly subject: ScreenedSubject
}

export type ScreenedFields = Pick<EvidenceService, 'screenedFieldsOf' | 'screenedZonesOf'>

const subjectOfZone = (zone: Zone, at: number): NamedSubject => ({
  who: at === 0 ? 'document' : `document ${at + 1}`,
  subject: {
    name: nameOfZone(zone),
    kind: 'person',
    isFromDocument: true,
    isCut: zone.namesCut,
    birthDate: zone.birthDate ?? undefined,
    country: STATES.get(zone.nationality) ?? undefined,
  },
})

export const subjectsOf = (
  checkType: CheckType,
  { fullName, birthDate, country, registeredName, owners = [] }: EvidenceFields,
  zones: readonly Zone[],
): readonly NamedSubject[] => {
  const at = country === undefined ? {} : { country }
  if (checkType === 'kyc') {
    if (fullName === undefined) return []
    const born = birthDate === undefined ? {} : { birthDate }
    return [{ who: 'person', subject: { name: fullName, kind: 'person', ...born, ...at } }, ...zones.map(subjectOfZone)]
  }
  const business: readonly NamedSubject[] =
    registeredName === undefined
      ? []
      : [{ who: 'business', subject: { name: registeredName, kind: 'organization', ...at } }]
  // An owner may be a person or a company.
  return [...business, ...owners.map(({ name }, at) => ({ who: `owner ${at + 1}`, subject: { name } }))]
}

/** A session's names with the answers. */
export interface ScreenedSession {
  readonly sessionId: string
  /** Null if the fields could not be read. */
  readonly subjects: readonly NamedSubject[] | null
  readonly answers: readonly ScreeningAnswer[]
}

/** Reads sessions one after another, so that the thread can handle requests in between. */
export const screenSessions = async (
  evidence: ScreenedFields,
  nameScreenerFor: () => Promise<Pick<NameScreener, 'screen'>>,
  sessions: readonly Session[],
  threshold: number,
  onError: (error: unknown, sessionId: string) => void,
): Promise<readonly ScreenedSession[]> => {
  const fieldsOf = await evidence.screenedFieldsOf(sessions)
  const zonesOf = await evidence.screenedZonesOf(sessions)
  const read: Omit<ScreenedSession, 'answers'>[] = []
  for (const session of sessions) {
    try {
      const subjects = subjectsOf(session.checkType, await fieldsOf(session), await zonesOf(session))
      read.push({ sessionId: session.id, subjects })
    } catch (error) {
      onError(error, session.id)
      read.push({ sessionId: session.id, subjects: null })
    }
  }
  const asked = read.flatMap(({ subjects }) => (subjects ?? []).map(({ subject }) => subject))
  const answers = asked.length === 0 ? [] : await (await nameScreenerFor()).screen(asked, threshold)
  let at = 0
  return read.map((session) => {
    at += session.subjects?.length ?? 0
    return { ...session, answers: answers.slice(at - (session.subjects?.length ?? 0), at) }
  })
}
