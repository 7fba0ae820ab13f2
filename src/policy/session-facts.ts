// Everything that a rule may read about a submitted session, for policies that decide sessions. Validation, document
// tests, their JSON Schema and the table in the documentation are derived from this table. An unavailable fact fails
// the rule that reads it, and a person reviews the session.
import { type FactField, type FactGroup, intOf, isOfType, matching, oneOf } from './fact-field.ts'
import { FactUnavailableError } from './fact-unavailable.ts'

type Options = Pick<FactField, 'description' | 'maxLength' | 'refuseLiteral'> & {
  readonly type: 'bool' | 'int' | 'string'
}
type Declared = Readonly<Record<string, Options>>

const COUNTRY = /^[A-Z]{2}$/

/** Facts by their first name or first two names: `checks.document` contains `checks.document.matches`. */
const DECLARED: Readonly<Record<string, Declared>> = {
  session: {
    type: {
      type: 'string',
      maxLength: 10,
      description: '"individual" or "business".',
      refuseLiteral: oneOf(['individual', 'business'], 'session.type is "individual" or "business"'),
    },
    level: { type: 'int', description: '1 basic, 2 standard, 3 enhanced.' },
    environment: {
      type: 'string',
      maxLength: 4,
      description: '"live" or "test", by the key that created the session.',
      refuseLiteral: oneOf(['live', 'test'], 'session.environment is "live" or "test"'),
    },
    retries: { type: 'int', description: 'How often the session was sent back to the person.' },
  },
  person: {
    age: { type: 'int', description: 'Whole years, by the typed birth date. Fails for a business.' },
    country: {
      type: 'string',
      maxLength: 2,
      description: 'Typed country of residence or registration, ISO 3166-1: "CH".',
      refuseLiteral: matching(COUNTRY, 'person.country must be two capital letters (ISO 3166-1), for example "CH"'),
    },
  },
  checks: {
    duplicate: {
      type: 'bool',
      description:
        'Whether document, person or portrait belong to another identity of the organization, or to a session that an operator rejected.',
    },
  },
  'checks.sanctions': {
    score: {
      type: 'int',
      description: 'Highest score of the hits that are not cleared; 0 without hits. Fails if nothing was compared.',
    },
    list_age_hours: {
      type: 'int',
      description:
        'Whole hours since the oldest enabled list was confirmed. Fails if no list is enabled, or if one was never read.',
    },
    uncleared: {
      type: 'bool',
      description:
        'Whether a hit is open or confirmed; no policy completes such a session. Fails if a name or wallet was not compared.',
    },
  },
  'checks.document': {
    read: { type: 'bool', description: 'Whether a machine-readable zone was read. Fails if none was expected.' },
    matches: {
      type: 'bool',
      description: 'Whether the zone matches the typed name and birth date. Fails if a reviewer must compare them.',
    },
    expired: { type: 'bool', description: 'Whether the document has expired. Fails if no zone was read.' },
    same_country: {
      type: 'bool',
      description: 'Whether nationality or issuer is the typed country. Fails if no zone was read.',
    },
  },
  wallets: {
    denied: {
      type: 'bool',
      description:
        'Whether a list or screener contains or flags a connected wallet. Fails if one was unavailable, or if none is used.',
    },
  },
}

const fieldOf = (name: string, options: Options): FactField => {
  const unavailable = new FactUnavailableError(name)
  return {
    ...options,
    mayFail: true,
    read: (evaluation) => {
      const known = evaluation.facts.session?.[name] ?? null
      const value = options.type === 'int' ? intOf(known) : known
      if (!isOfType(options, value)) throw evaluation.noteUnavailable(unavailable)
      return value
    },
  }
}

/** The facts of sessions by group, like FACTS for requests. */
export const SESSION_FACTS: Readonly<Record<string, FactGroup>> = Object.fromEntries(
  Object.entries(DECLARED).map(([group, fields]) => [
    group,
    Object.fromEntries(Object.entries(fields).map(([name, options]) => [name, fieldOf(`${group}.${name}`, options)])),
  ]),
)
