// Compares the names of a session's person or company with listed names. Entered names stay in memory.

import type { Zone } from '../../../domain/document-zone.ts'
import {
  DEFAULT_THRESHOLD,
  type FoundHit,
  NAME_CHECK,
  type ScreeningSettings,
  type ScreeningSettingsOfAll,
} from '../../../domain/screening-hit.ts'
import type { CheckType, Session } from '../../../domain/session.ts'
import { type Comparison, comparisonKey, NOTHING, type RepeatedPart } from '../../../identity/checks/checks.ts'
import type { EvidenceFields, EvidenceService } from '../../../identity/evidence-types.ts'
import { STATES } from '../../../zone-reader/zone/states.ts'
import { DOCUMENT_CHECKS } from '../../documents/checks/document-checks.ts'
import { nameOfZone } from '../../documents/names.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import { NAME_PROBLEMS } from '../matching/names/name-problems.ts'
import type { ScreeningAnswer } from '../matching/screen-subject.ts'
import type { ListsInUse, ListVersions } from '../processes/held-screener.ts'
import type { Screener } from '../processes/screening-processes.ts'

interface NameCheckDependencies {
  readonly listsInUse: () => Promise<ListsInUse | null>
  readonly screenerFor: (versions: ListVersions) => Promise<Pick<Screener, 'screen'>>
  readonly settings: (organizationId: string | null) => Promise<ScreeningSettingsOfAll>
  readonly evidence: Pick<EvidenceService, 'screenedFieldsOf' | 'screenedZonesOf'>
  readonly onError: (error: unknown, sessionId: string) => void
}

export interface NamedSubject {
  readonly who: string
  readonly subject: ScreenedSubject
}

/** Changing it compares all sessions again. */
const MATCHER = 'names 7'

type NameSettings = Pick<ScreeningSettings, 'threshold'>
const thresholdIn = ({ threshold }: NameSettings): number => threshold ?? DEFAULT_THRESHOLD

export const nameVersion = (versions: ListVersions, settings: NameSettings): string =>
  comparisonKey([MATCHER, versions, thresholdIn(settings)])

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
  fields: EvidenceFields,
  zones: readonly Zone[],
): readonly NamedSubject[] => {
  const { fullName, birthDate, country, registeredName, owners = [] } = fields
  const at = country === undefined ? {} : { country }
  if (checkType === 'kyc') {
    if (fullName === undefined) return []
    return [
      {
        who: 'person',
        subject: { name: fullName, kind: 'person', ...(birthDate === undefined ? {} : { birthDate }), ...at },
      },
      ...zones.map(subjectOfZone),
    ]
  }
  const business: readonly NamedSubject[] =
    registeredName === undefined
      ? []
      : [{ who: 'business', subject: { name: registeredName, kind: 'organization', ...at } }]
  // An owner may be a person or a company.
  return [...business, ...owners.map(({ name }, at) => ({ who: `owner ${at + 1}`, subject: { name } }))]
}

/** A decision about a hit remains valid while this data is unchanged. */
const basisOf = ({ isFromDocument: _, ...data }: ScreenedSubject): object => data

const NO_NAME = 'no name to compare: none was entered, or it was erased'
const UNREADABLE = 'could not read the entered fields'

/** Deletes the checks of lists that are no longer in use. */
const NO_LISTS: Comparison = {
  key: comparisonKey([MATCHER]),
  keyOf: () => NOTHING,
  compare: async (sessions) => sessions.map(() => []),
}

type Asked = { readonly problem: string } | { readonly subjects: readonly NamedSubject[] }
/** `problem`: why a name could not be compared; null if all were. */
interface Found {
  readonly hits: readonly FoundHit[]
  readonly subjects: readonly string[]
  readonly problem: string | null
}

export const createNameChecks = (dependencies: NameCheckDependencies): RepeatedPart => {
  const { screenerFor, evidence, onError } = dependencies

  const read = async (sessions: readonly Session[]): Promise<readonly Asked[]> => {
    const fieldsOf = await evidence.screenedFieldsOf(sessions)
    const zonesOf = await evidence.screenedZonesOf(sessions)
    return Promise.all(
      sessions.map(async (session): Promise<Asked> => {
        try {
          const subjects = subjectsOf(session.checkType, await fieldsOf(session), await zonesOf(session))
          return subjects.length === 0 ? { problem: NO_NAME } : { subjects }
        } catch (error) {
          onError(error, session.id)
          return { problem: UNREADABLE }
        }
      }),
    )
  }

  const foundOf = (
    subjects: readonly NamedSubject[],
    answers: readonly ScreeningAnswer[],
    { versions, enabled }: ListsInUse,
  ): Found => {
    const problem = answers.find((answer) => answer.problem !== null)?.problem ?? null
    const hits = subjects.flatMap(({ who, subject }, at) =>
      (answers[at]?.hits ?? []).map(
        ({ content, ...hit }): FoundHit => ({
          ...hit,
          subject: who,
          versionId: versions[hit.list] ?? '',
          listing: enabled.find((name) => name.split(' ', 1)[0] === hit.list) ?? null,
          compared: JSON.stringify([basisOf(subject), content]),
          comparedSubject: JSON.stringify(basisOf(subject)),
        }),
      ),
    )
    return {
      hits,
      subjects: subjects.map(({ subject }) => JSON.stringify(basisOf(subject))),
      problem: problem === null ? null : NAME_PROBLEMS[problem],
    }
  }

  const find = async (
    sessions: readonly Session[],
    inUse: ListsInUse,
    threshold: number,
  ): Promise<readonly Found[]> => {
    const asked = await read(sessions)
    const subjects = asked.flatMap((each) => ('subjects' in each ? each.subjects : []))
    const answers =
      subjects.length === 0
        ? []
        : await (await screenerFor(inUse.versions)).screen(
            subjects.map(({ subject }) => subject),
            threshold,
          )
    let at = 0
    return asked.map((each) => {
      if ('problem' in each) return { ...each, hits: [], subjects: [] }
      at += each.subjects.length
      return foundOf(each.subjects, answers.slice(at - each.subjects.length, at), inUse)
    })
  }

  return {
    name: 'lists',
    after: [DOCUMENT_CHECKS],
    begin: async (organization) => {
      const inUse = await dependencies.listsInUse()
      if (inUse === null) return NO_LISTS
      const { versions, enabled } = inUse
      const { of, key } = await dependencies.settings(organization)
      const keyOf = (organizationId: string): string => nameVersion(versions, of(organizationId))
      return {
        key: comparisonKey([MATCHER, versions, key]),
        keyOf,
        compare: async (sessions) => {
          const [first] = sessions
          if (first === undefined) return []
          const threshold = thresholdIn(of(first.organizationId))
          const check = {
            name: NAME_CHECK,
            version: keyOf(first.organizationId),
            settings: comparisonKey([threshold, enabled]),
            lowestScore: threshold,
          }
          const detail = { threshold, versions }
          return (await find(sessions, inUse, threshold)).map(({ problem, ...found }) => [
            problem === null
              ? { ...check, ...found, detail, outcome: 'passed' }
              : { ...check, ...found, detail: { ...detail, problem }, outcome: 'not-done' },
          ])
        },
      }
    },
  }
}
