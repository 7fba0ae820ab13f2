// Whom the wallet, or the user whom it represents, belongs to.

import type { MappingReader } from '../document-reader.ts'
import { intOf, oneOf, timeOf } from '../fact-field.ts'
import { parseTestCount, parseTimestampLiteral } from '../literals.ts'
import { flag, object } from '../schema-shapes.ts'
import type { IdentityFacts } from '../types/facts.ts'
import { type FactSource, type FieldOptions, sourceField } from './source.ts'

const LEVEL_MAX = 3

const readTest = (reader: MappingReader): IdentityFacts => {
  reader.refuseUnknownKeys(['verified', 'type', 'level', 'verified_at'])
  const verified = reader.has('verified')
    ? reader.bool('verified')
    : reader.complainOf('verified', 'verified is missing')
  if (verified !== true) return { verified: false, type: null, level: 0, verifiedAtSeconds: null }
  const type = reader.has('type') ? reader.text('type', 16) : 'individual'
  if (type !== null && type !== 'individual' && type !== 'business') {
    reader.complainOf('type', 'type is individual or business')
  }
  const level = reader.has('level') ? reader.parsed('level', parseTestCount) : 1
  if (level !== null && (level < 1 || level > LEVEL_MAX)) reader.complainOf('level', 'level is 1, 2 or 3')
  return {
    verified,
    type: type === 'business' ? 'business' : 'individual',
    level: level ?? 1,
    verifiedAtSeconds: reader.has('verified_at') ? reader.parsed('verified_at', parseTimestampLiteral) : null,
  }
}

type IdentityKind = 'identity' | 'on-behalf-identity'

/** What differs between the two sources; descriptions use `whose` to name the address. */
type Names<Kind extends IdentityKind> = Pick<FactSource<Kind>, 'kind' | 'part' | 'group' | 'digest' | 'words'> & {
  readonly whose: string
  readonly testDescription: string
}

const identitySource = <Kind extends IdentityKind>({
  whose,
  testDescription,
  ...names
}: Names<Kind>): FactSource<Kind> => {
  const { group } = names
  const field = (name: string, options: FieldOptions, select: (identity: IdentityFacts) => unknown) =>
    sourceField<Kind>(names, `${group}.${name}`, options, select)
  return {
    ...names,
    metered: false,
    facts: {
      verified: field(
        'verified',
        { type: 'bool', description: `Whether ${whose} is verified at the organization’s current level.` },
        ({ verified }) => verified,
      ),
      type: field(
        'type',
        {
          type: 'string',
          maxLength: 10,
          description: '"individual" or "business"; empty when not verified.',
          refuseLiteral: oneOf(['individual', 'business', ''], `${group}.type is "individual", "business" or empty`),
        },
        ({ type }) => type ?? '',
      ),
      level: field(
        'level',
        { type: 'int', description: '1 basic, 2 standard, 3 enhanced; 0 when not verified.' },
        ({ level }) => intOf(level),
      ),
      verified_at: field(
        'verified_at',
        {
          type: 'google.protobuf.Timestamp',
          description: `When it was verified. Fails while ${group}.verified is false.`,
        },
        ({ verifiedAtSeconds }) => timeOf(verifiedAtSeconds),
      ),
    },
    readTest,
    testSchema: object(testDescription, ['verified'], {
      verified: flag,
      type: { enum: ['individual', 'business'] },
      level: { type: 'integer', minimum: 1, maximum: LEVEL_MAX },
      verified_at: { type: 'string' },
    }),
    example: { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 1_760_000_000 },
  }
}

export const IDENTITY = identitySource({
  kind: 'identity',
  part: 'identity',
  group: 'identity',
  digest: 'identity',
  words: 'identity of the wallet',
  whose: 'the wallet',
  testDescription: 'Who the wallet belongs to.',
})

export const ON_BEHALF_IDENTITY = identitySource({
  kind: 'on-behalf-identity',
  part: 'onBehalfIdentity',
  group: 'onBehalf',
  digest: 'on_behalf_identity',
  words: 'identity of the represented user',
  whose: 'onBehalf.address',
  testDescription: 'Who the represented user is.',
})
