// Compares sessions with the lists: those that were handed in at once, and completed ones again when a list changes. What a
// person typed is read in memory, and only what the list says is kept beside the session.
import type { CheckType } from '../domain/session.ts'
import type { EvidenceFields, EvidenceService } from '../identity/evidence-types.ts'
import type { ScreenedSubject } from '../screening/entry.ts'
import { DEFAULT_THRESHOLD } from '../screening/thresholds.ts'
import type { FoundHit, ScreeningCheckTable, SessionToScreen } from '../store/screening-checks.ts'
import type { Screener } from './screening-processes.ts'

export interface ListsInUse {
  /** Changes when any of them does. */
  readonly key: string
  /** Name of the list → id of its version. */
  readonly versions: Readonly<Record<string, string>>
}

export interface SessionScreeningDependencies {
  readonly checks: ScreeningCheckTable
  readonly evidence: Pick<EvidenceService, 'screenedFields'>
  /** What a session's person typed could not be read. */
  readonly onError: (error: unknown, sessionId: string) => void
}

const BATCH = 50

interface NamedSubject {
  readonly who: string
  readonly subject: ScreenedSubject
}

const subjectsOf = (checkType: CheckType, fields: EvidenceFields): readonly NamedSubject[] => {
  const { fullName, birthDate, country, registeredName, owners = [] } = fields
  const at = country === undefined ? {} : { country }
  if (checkType === 'kyc') {
    if (fullName === undefined) return []
    return [
      {
        who: 'person',
        subject: { name: fullName, kind: 'person', ...(birthDate === undefined ? {} : { birthDate }), ...at },
      },
    ]
  }
  const business: readonly NamedSubject[] =
    registeredName === undefined
      ? []
      : [{ who: 'business', subject: { name: registeredName, kind: 'organization', ...at } }]
  // An owner may be a person or a company.
  return [...business, ...owners.map(({ name }, at) => ({ who: `owner ${at + 1}`, subject: { name } }))]
}

const PROBLEMS = {
  'too-long': 'a name is too long to be one',
  'no-letters': 'a name has fewer than two letters',
} as const
const NO_NAME = 'there is no name to compare: nothing was typed in, or it was erased'
const UNREADABLE = 'what was typed in can not be read'

export const createSessionScreening = ({ checks, evidence, onError }: SessionScreeningDependencies) => {
  const thresholdOf = async (known: Map<string, number>, organizationId: string): Promise<number> => {
    const threshold = known.get(organizationId) ?? (await checks.readThreshold(organizationId)) ?? DEFAULT_THRESHOLD
    known.set(organizationId, threshold)
    return threshold
  }

  const screenOne = async (
    screener: Screener,
    { versions }: ListsInUse,
    { organizationId, sessionId, checkType, level }: SessionToScreen,
    threshold: number,
  ): Promise<{ readonly problem: string | null; readonly hits: readonly FoundHit[] }> => {
    let fields: EvidenceFields
    try {
      fields = await evidence.screenedFields({ organizationId, id: sessionId, checkType, level: level as 1 | 2 | 3 })
    } catch (error) {
      onError(error, sessionId)
      return { problem: UNREADABLE, hits: [] }
    }
    const subjects = subjectsOf(checkType, fields)
    if (subjects.length === 0) return { problem: NO_NAME, hits: [] }
    const answers = await screener.screen(
      subjects.map(({ subject }) => subject),
      threshold,
    )
    const problem = answers.find((answer) => answer.problem !== null)?.problem ?? null
    const hits = answers.flatMap((answer, at) =>
      answer.hits.map(
        (hit): FoundHit => ({ ...hit, subject: subjects[at]?.who ?? '', versionId: versions[hit.list] ?? '' }),
      ),
    )
    // A name that can't be compared beside one that is a hit: the hit is what has to be looked at.
    return { problem: problem === null || hits.length > 0 ? null : PROBLEMS[problem], hits }
  }

  return {
    /**
     * The next sessions of a status, in the order of organization and id.
     * @returns how many were compared, how many hits are new, and where to go on; null: there is none left
     */
    screenNext: async (
      screener: Screener,
      inUse: ListsInUse,
      status: 'submitted' | 'completed',
      after: Pick<SessionToScreen, 'organizationId' | 'sessionId'>,
    ): Promise<{ readonly compared: number; readonly opened: number; readonly last: SessionToScreen } | null> => {
      const sessions = await checks.toScreen(status, inUse.key, after, BATCH)
      const last = sessions.at(-1)
      if (last === undefined) return null
      const thresholds = new Map<string, number>()
      const done = []
      for (const session of sessions) {
        const threshold = await thresholdOf(thresholds, session.organizationId)
        const { problem, hits } = await screenOne(screener, inUse, session, threshold)
        done.push({ session, hits, listsKey: inUse.key, check: { versions: inUse.versions, threshold, problem } })
      }
      return { compared: sessions.length, opened: await checks.record(done), last }
    },
  }
}
