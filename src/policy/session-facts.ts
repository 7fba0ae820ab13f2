// Facts about a submitted session. A rule that reads an unavailable fact fails, and a person reviews the session.
import { type FactField, type FactGroup, intOf, isOfType, matching, oneOf } from './fact-field.ts'
import { FactUnavailableError } from './fact-unavailable.ts'

type Options = Pick<FactField, 'description' | 'maxLength' | 'refuseLiteral'> & {
  readonly type: 'bool' | 'int' | 'string'
}
type Declared = Readonly<Record<string, Options>>

const COUNTRY = /^[A-Z]{2}$/

/** Facts by group: `checks.document` contains `checks.document.matches`. */
const DECLARED: Readonly<Record<string, Declared>> = {
  session: {
    type: {
      type: 'string',
      maxLength: 10,
      description: '"individual" or "business".',
      refuseLiteral: oneOf(['individual', 'business'], 'session.type must be "individual" or "business"'),
    },
    level: { type: 'int', description: 'Verification level of the session: 1 basic, 2 standard, 3 enhanced.' },
    environment: {
      type: 'string',
      maxLength: 4,
      description: 'Environment of the key: "live" or "test".',
      refuseLiteral: oneOf(['live', 'test'], 'session.environment must be "live" or "test"'),
    },
    retries: { type: 'int', description: 'Number of times that the session was returned to the person.' },
  },
  person: {
    age: {
      type: 'int',
      description: 'Age in whole years, from the entered birth date. Fails for a business.',
    },
    country: {
      type: 'string',
      maxLength: 2,
      description: 'Entered country of residence or registration, such as "CH".',
      refuseLiteral: matching(COUNTRY, 'person.country must be two capital letters (ISO 3166-1), for example "CH"'),
    },
  },
  checks: {
    duplicate: {
      type: 'bool',
      description:
        'Whether the document, person or portrait belongs to another identity of the organization, or to a session that an operator rejected.',
    },
  },
  'checks.sanctions': {
    score: {
      type: 'int',
      description: 'Highest score of the uncleared hits; 0 if there are none. Fails if nothing was compared.',
    },
    list_age_hours: {
      type: 'int',
      description:
        'Whole hours since the oldest enabled list was confirmed. Fails if no list is enabled, or if an enabled list was never read.',
    },
    uncleared: {
      type: 'bool',
      description: 'Whether a hit is open or confirmed. Fails if a name or wallet was not compared.',
    },
  },
  'checks.document': {
    read: { type: 'bool', description: 'Whether a machine-readable zone was read. Fails if no zone was expected.' },
    matches: {
      type: 'bool',
      description: 'Whether the zone matches the entered name and birth date. Fails if a reviewer must compare them.',
    },
    expired: { type: 'bool', description: 'Whether the document has expired. Fails if no zone was read.' },
    same_country: {
      type: 'bool',
      description: 'Whether the nationality or issuer matches the entered country. Fails if no zone was read.',
    },
  },
  wallets: {
    denied: {
      type: 'bool',
      description:
        'Whether a list contains or a screener flags a connected wallet. Fails if a list or screener was unavailable, or if neither is used.',
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

export const SESSION_FACTS: Readonly<Record<string, FactGroup>> = Object.fromEntries(
  Object.entries(DECLARED).map(([group, fields]) => [
    group,
    Object.fromEntries(Object.entries(fields).map(([name, options]) => [name, fieldOf(`${group}.${name}`, options)])),
  ]),
)
