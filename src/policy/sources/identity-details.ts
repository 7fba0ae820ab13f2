// Country and age of the wallet's person, if the person agreed to their use in the organization's policies.

import { matchingText, parseTestInteger } from '../cel/literals.ts'
import { object } from '../document/schema-shapes.ts'
import { intOf, matching } from '../fact-field.ts'
import { defineSource } from './source.ts'

/** Both values are null, or neither is. */
export interface IdentityDetails {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null
  /** Whole years on the day of the request, in UTC. */
  readonly age: number | null
}

const COUNTRY = /^[A-Z]{2}$/
const AGE_MAX = 150

export const IDENTITY_DETAILS = defineSource<IdentityDetails>()({
  kind: 'identity-details',
  part: 'identityDetails',
  group: 'identity',
  words: 'country and age of the wallet’s person',
  metered: false,
  digest: 'identity_details',
  isEvidence: true,
  fields: {
    details_known: {
      type: 'bool',
      description: 'Whether the person’s country and age are available to policies.',
      select: ({ country }) => country !== null,
    },
    country: {
      type: 'string',
      maxLength: 2,
      description: 'Country of residence, such as "CH". Fails if identity.details_known is false.',
      refuseLiteral: matching(COUNTRY, 'identity.country must be two capital letters (ISO 3166-1), for example "CH"'),
      select: ({ country }) => country,
    },
    age: {
      type: 'int',
      description: 'Age in whole years (UTC). Fails if identity.details_known is false.',
      select: ({ age }) => intOf(age),
    },
  },
  readTest: (reader) => {
    const parseCountry = matchingText(COUNTRY, 'a country must be two capital letters (ISO 3166-1)')
    const country = reader.has('country') ? reader.parsed('country', parseCountry) : null
    const age = reader.has('age') ? reader.parsed('age', parseTestInteger) : null
    if (age !== null && (age < 0 || age > AGE_MAX)) reader.complainOf('age', `age must be 0 to ${AGE_MAX}`)
    if (reader.has('country') !== reader.has('age')) {
      reader.complainOf(reader.has('age') ? 'age' : 'country', 'country and age must be given together')
    }
    return { country, age }
  },
  testSchema: object('Country and age, if the person agreed to their use.', [], {
    country: { type: 'string', pattern: COUNTRY.source },
    age: { type: 'integer', minimum: 0, maximum: AGE_MAX },
  }),
  example: { country: 'CH', age: 30 },
})
