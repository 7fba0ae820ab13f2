import { ADULT_YEARS, type Level } from '../../../domain/level.ts'
import type { Session } from '../../../domain/session.ts'
import { comparisonKey, type NewSessionCheck, type RepeatedPart } from '../../../identity/checks/checks.ts'
import type { EvidenceFields, EvidenceService } from '../../../identity/evidence-types.ts'
import { ageOn, type Clock } from '../../../lib/time.ts'

/** Minimum age in years: `years` for all levels (null: none), `levels` for individual levels. */
export interface MinimumAges {
  readonly years: number | null
  readonly levels: ReadonlyMap<Level, number>
}

interface AgeCheckDependencies {
  readonly evidence: Pick<EvidenceService, 'screenedFieldsOf'>
  readonly minimumAges: (organizationId: string | null) => Promise<ReadonlyMap<string, MinimumAges>>
  readonly clock: Clock
  readonly onError: (error: unknown, sessionId: string) => void
}

const AGE_CHECK = 'person.age'
const VERSION = 'age 1'
const NONE: MinimumAges = { years: null, levels: new Map() }
const NO_DATE = 'no date of birth: none was entered, or it was erased'
const UNREADABLE = 'could not read the entered fields'

export const createAgeChecks = ({ evidence, minimumAges, clock, onError }: AgeCheckDependencies): RepeatedPart => ({
  name: AGE_CHECK,
  begin: async (organization) => {
    const ages = await minimumAges(organization)
    const of = (organizationId: string): MinimumAges => ages.get(organizationId) ?? NONE
    const askedBy = (organizationId: string) => {
      const { years, levels } = of(organizationId)
      return [years, [...levels].sort()]
    }
    const keyOf = (organizationId: string): string => comparisonKey([VERSION, askedBy(organizationId)])

    const check = (
      { organizationId, level }: Session,
      birthDate: string,
    ): Pick<NewSessionCheck, 'outcome' | 'detail'> => {
      const { years, levels } = of(organizationId)
      const required = levels.get(level) ?? years
      const isOldEnough = ageOn(birthDate, clock.unixSeconds()) >= (required ?? ADULT_YEARS)
      return {
        outcome: isOldEnough ? 'passed' : required === null ? 'look' : 'failed',
        detail: { minimum: required ?? ADULT_YEARS },
      }
    }

    return {
      key: comparisonKey([VERSION, [...ages.keys()].sort().map((id) => [id, askedBy(id)])]),
      keyOf,
      compare: async (sessions) => {
        const fieldsOf = await evidence.screenedFieldsOf(sessions)
        return Promise.all(
          sessions.map(async (session): Promise<readonly NewSessionCheck[]> => {
            if (session.checkType !== 'kyc') return []
            const made = { name: AGE_CHECK, version: keyOf(session.organizationId) }
            let fields: EvidenceFields
            try {
              fields = await fieldsOf(session)
            } catch (error) {
              onError(error, session.id)
              return [{ ...made, outcome: 'not-done', detail: { problem: UNREADABLE } }]
            }
            const { birthDate } = fields
            if (birthDate === undefined) return [{ ...made, outcome: 'not-done', detail: { problem: NO_DATE } }]
            return [{ ...made, ...check(session, birthDate) }]
          }),
        )
      },
    }
  },
})
