// Facts of a session for policies. An uncertain fact is null: a rule that reads it fails, and a person decides. An
// internal error yields no fact (invariant 12).

import {
  isCheckMade,
  isUncompared,
  NAME_CHECK,
  NAME_CHECKS,
  outcomesOfPart,
  WALLET_CHECKS,
} from '../domain/screening-hit.ts'
import { SESSION_TYPES, type Session } from '../domain/session.ts'
import { ageOn } from '../lib/time.ts'
import type { SessionFacts } from '../policy/types/session-facts.ts'
import type { EvidenceFields } from './evidence-types.ts'

export interface KnownOfSession {
  readonly session: Pick<Session, 'checkType' | 'level' | 'environment' | 'retryCount'>
  readonly fields: Pick<EvidenceFields, 'birthDate' | 'country'>
  readonly checks: readonly { readonly name: string; readonly outcome: string }[]
  readonly hits: readonly {
    readonly check: string
    readonly score: number
    readonly state: 'open' | 'cleared' | 'confirmed'
  }[]
  /** Seconds since each sanctions list in use was last confirmed; null for a list that was never read. */
  readonly listAges: readonly (number | null)[]
  readonly atSeconds: number
}

const SAME_PERSON = ['document.number', 'person.name', 'person.portrait']

type Outcomes = ReadonlyMap<string, string>

/** Maps two outcomes to true and false; null for any other outcome, or without an outcome. */
const factOf = (outcomes: Outcomes, name: string, yes: string, no: string): boolean | null => {
  const outcome = outcomes.get(name)
  return outcome === yes ? true : outcome === no ? false : null
}

const documentFacts = (outcomes: Outcomes): SessionFacts => {
  // Uncertain if two documents contradict each other.
  const isCertain = outcomes.get('document.zone') !== 'look'
  const of = (name: string, yes: string, no: string) => (isCertain ? factOf(outcomes, name, yes, no) : null)
  const compared = ['document.name', 'document.birth-date'].map((name) => of(name, 'passed', 'failed'))
  return {
    'checks.document.read': of('document.zone', 'passed', 'unreadable'),
    'checks.document.matches': compared.includes(false) ? false : compared.includes(null) ? null : true,
    'checks.document.expired': of('document.expiry', 'failed', 'passed'),
    'checks.document.same_country': of('document.country', 'passed', 'look'),
  }
}

const isDuplicate = (outcomes: Outcomes): boolean | null => {
  const found = SAME_PERSON.map((name) => outcomes.get(name))
  if (found.includes('look')) return true
  // Uncertain if a document's number is unreadable, because duplicates couldn't be searched for.
  const isUnsure =
    found.some((outcome) => outcome !== undefined && outcome !== 'passed') ||
    (outcomes.has('document.zone') && !outcomes.has('document.number')) ||
    outcomes.has('document') ||
    !outcomes.has('person.name')
  return isUnsure ? null : false
}

const oldestHours = (ages: readonly (number | null)[]): number | null => {
  const known = ages.filter((age) => age !== null)
  return known.length === 0 || known.length < ages.length ? null : Math.floor(Math.max(0, ...known) / 3_600)
}

const walletsDenied = (checks: KnownOfSession['checks']): boolean | null => {
  const found = outcomesOfPart(checks, WALLET_CHECKS)
  if (found.some((outcome) => outcome === 'look' || outcome === 'failed')) return true
  // Uncertain if no wallet was looked up.
  return found.length > 0 && found.every((outcome) => outcome === 'passed') ? false : null
}

export const sessionFactsOf = ({
  session,
  fields,
  checks,
  hits,
  listAges,
  atSeconds,
}: KnownOfSession): SessionFacts => {
  const outcomes: Outcomes = new Map(checks.map(({ name, outcome }) => [name, outcome]))
  const { birthDate, country } = fields
  const names = outcomesOfPart(checks, NAME_CHECKS)
  const wasCompared = names.length > 0 && names.every(isCheckMade)
  const isUncleared = hits.some(({ state }) => state !== 'cleared')
  const scores = hits.flatMap(({ check, state, score }) => (check === NAME_CHECK && state !== 'cleared' ? [score] : []))
  const isPerson = session.checkType === 'kyc'
  return {
    'session.type': SESSION_TYPES[session.checkType],
    'session.level': session.level,
    'session.environment': session.environment,
    'session.retries': session.retryCount,
    'person.age': isPerson && birthDate !== undefined ? ageOn(birthDate, atSeconds) : null,
    'person.country': country ?? null,
    'checks.duplicate': isPerson ? isDuplicate(outcomes) : null,
    'checks.sanctions.score': wasCompared ? Math.max(0, ...scores) : null,
    'checks.sanctions.list_age_hours': oldestHours(listAges),
    // Without a comparison, finding no hits proves nothing.
    'checks.sanctions.uncleared': isUncleared || (wasCompared && !isUncompared(checks) ? false : null),
    ...documentFacts(outcomes),
    'wallets.denied': walletsDenied(checks),
  }
}
