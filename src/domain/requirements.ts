// The requirements of each level, and the missing parts of a session. The verification page, the review and the refusal
// to complete a session use this file. Source: decisions §5, "Levels".
import type { Level } from './level.ts'
import type { CheckType, Session } from './session.ts'

/** Fields that people enter. */
export type FieldName = 'fullName' | 'birthDate' | 'country' | 'registeredName' | 'registrationNumber' | 'owners'

export const DOCUMENT_KINDS = ['identity-document', 'portrait', 'proof-of-address', 'registration-document'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

export type Requirement =
  | { readonly part: 'field'; readonly name: FieldName }
  | { readonly part: 'document'; readonly kind: DocumentKind }

/** A part of a session that a person submits: a field, a kind of document, or the wallets. */
export type SessionPart = FieldName | DocumentKind | 'wallets'

const field = (name: FieldName): Requirement => ({ part: 'field', name })
const document = (kind: DocumentKind): Requirement => ({ part: 'document', kind })

/** Requirements of a level in addition to those of lower levels. */
const ADDED: Readonly<Record<CheckType, Readonly<Record<Level, readonly Requirement[]>>>> = {
  kyc: {
    1: [field('fullName'), field('birthDate'), field('country')],
    2: [document('identity-document'), document('portrait')],
    3: [document('proof-of-address')],
  },
  kyb: {
    1: [field('registeredName'), field('registrationNumber'), field('country'), document('registration-document')],
    2: [],
    3: [field('owners')],
  },
}

const LEVELS_ASCENDING: readonly Level[] = [1, 2, 3]

/** Returns the evidence that a session of this type and level requires, in the order of the requests. */
export const requirementsOf = (checkType: CheckType, level: Level): readonly Requirement[] =>
  LEVELS_ASCENDING.filter((step) => step <= level).flatMap((step) => ADDED[checkType][step])

export const partOf = (requirement: Requirement): FieldName | DocumentKind =>
  requirement.part === 'field' ? requirement.name : requirement.kind

type Required = Pick<Session, 'checkType' | 'level'>

/** Returns everything that a session requires: at least one proven wallet, and the evidence for its level. */
export const requiredParts = ({ checkType, level }: Required): readonly SessionPart[] => [
  'wallets',
  ...requirementsOf(checkType, level).map(partOf),
]

/**
 * Returns the required parts that a session lacks. Without them, only an override completes it.
 * @param given the parts of the session; other names are ignored
 */
export const missingParts = (session: Required, given: ReadonlySet<string>): readonly SessionPart[] =>
  requiredParts(session).filter((part) => !given.has(part))
