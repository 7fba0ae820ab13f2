// The check `lists.names`: compares the names of a session's person or company with listed names.

import {
  DEFAULT_THRESHOLD,
  type FoundHit,
  NAME_CHECK,
  type ScreeningSettings,
  type ScreeningSettingsOfAll,
} from '../../../domain/screening-hit.ts'
import { type Comparison, comparisonKey, NOTHING, type RepeatedPart } from '../../../identity/checks/checks.ts'
import { DOCUMENT_CHECKS } from '../../documents/checks/document-checks.ts'
import type { ScreenedSubject } from '../matching/entry.ts'
import { NAME_PROBLEMS } from '../matching/names/name-problems.ts'
import type { ListsInUse, ListVersions } from '../processes/held-name-screener.ts'
import type { NameScreener } from '../processes/screening-processes.ts'
import { type ScreenedFields, type ScreenedSession, screenSessions } from './screen-sessions.ts'

interface NameCheckDependencies {
  readonly listsInUse: () => Promise<ListsInUse | null>
  readonly nameScreenerFor: (versions: ListVersions) => Promise<Pick<NameScreener, 'screen'>>
  readonly settings: (organizationId: string | null) => Promise<ScreeningSettingsOfAll>
  readonly evidence: ScreenedFields
  readonly onError: (error: unknown, sessionId: string) => void
}

/** A change to this value causes all sessions to be compared again. */
const MATCHER = 'names 7'

type NameSettings = Pick<ScreeningSettings, 'threshold'>
const thresholdIn = ({ threshold }: NameSettings): number => threshold ?? DEFAULT_THRESHOLD

export const nameVersion = (versions: ListVersions, settings: NameSettings): string =>
  comparisonKey([MATCHER, versions, thresholdIn(settings)])

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

/** Returns the reason that a name could not be compared; null if all were compared. */
const problemOf = ({ subjects, answers }: ScreenedSession): string | null => {
  if (subjects === null) return UNREADABLE
  if (subjects.length === 0) return NO_NAME
  const problem = answers.find((answer) => answer.problem !== null)?.problem ?? null
  return problem === null ? null : NAME_PROBLEMS[problem]
}

const hitsOf = ({ subjects, answers }: ScreenedSession, { versions, enabled }: ListsInUse): readonly FoundHit[] =>
  (subjects ?? []).flatMap(({ who, subject }, at) =>
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

export const createNameChecks = (dependencies: NameCheckDependencies): RepeatedPart => ({
  name: 'lists',
  after: [DOCUMENT_CHECKS],
  begin: async (organization) => {
    const { nameScreenerFor, evidence, onError } = dependencies
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
        const screened = await screenSessions(evidence, () => nameScreenerFor(versions), sessions, threshold, onError)
        return screened.map((session) => {
          const problem = problemOf(session)
          return [
            {
              ...check,
              hits: hitsOf(session, inUse),
              subjects: (session.subjects ?? []).map(({ subject }) => JSON.stringify(basisOf(subject))),
              outcome: problem === null ? 'passed' : 'not-done',
              detail: { threshold, versions, ...(problem === null ? {} : { problem }) },
            },
          ]
        })
      },
    }
  },
})
