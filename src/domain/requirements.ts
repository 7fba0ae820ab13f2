// Required evidence of each level, and missing parts of a session. Source: decisions §5, "Levels".
import type { Level } from './level.ts'
import type { CheckType, Session } from './session.ts'

export type FieldName = 'fullName' | 'birthDate' | 'country' | 'registeredName' | 'registrationNumber' | 'owners'

export const DOCUMENT_KINDS = ['identity-document', 'portrait', 'proof-of-address', 'registration-document'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

export type Requirement =
  | { readonly part: 'field'; readonly name: FieldName }
  | { readonly part: 'document'; readonly kind: DocumentKind }

/** Part of a session that a person submits. */
export type SessionPart = FieldName | DocumentKind | 'wallets'

const field = (name: FieldName): Requirement => ({ part: 'field', name })
const document = (kind: DocumentKind): Requirement => ({ part: 'document', kind })

/** Requirements in addition to the requirements of lower levels. */
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

/** Returns the required evidence in the order in which it is requested. */
export const requirementsOf = (checkType: CheckType, level: Level): readonly Requirement[] =>
  LEVELS_ASCENDING.filter((step) => step <= level).flatMap((step) => ADDED[checkType][step])

export const partOf = (requirement: Requirement): FieldName | DocumentKind =>
  requirement.part === 'field' ? requirement.name : requirement.kind

type Required = Pick<Session, 'checkType' | 'level'>

/** Returns `wallets`, for at least one proven wallet, and the evidence for the level. */
export const requiredParts = ({ checkType, level }: Required): readonly SessionPart[] => [
  'wallets',
  ...requirementsOf(checkType, level).map(partOf),
]

/**
 * Without these parts, only an override completes the session. @param given parts that the session has; other names are
 * ignored
 */
export const missingParts = (session: Required, given: ReadonlySet<string>): readonly SessionPart[] =>
  requiredParts(session).filter((part) => !given.has(part))
