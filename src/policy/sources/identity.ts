import { parseTestInteger, parseTimestampLiteral } from '../cel/literals.ts'
import type { MappingReader } from '../document/document-reader.ts'
import { flag, object } from '../document/schema-shapes.ts'
import { intOf, oneOf, timeOf } from '../fact-field.ts'
import { defineSource, type SourceDeclaration } from './source.ts'

export interface IdentityFacts {
  /** Whether the wallet is verified at the organization's current level (spec, verification-level rule). */
  readonly verified: boolean
  /** Null unless verified. */
  readonly type: 'individual' | 'business' | null
  /** 1 basic, 2 standard, 3 enhanced; 0 unless verified. */
  readonly level: number
  readonly verifiedAtSeconds: number | null
}

const LEVEL_MAX = 3

const readTest = (reader: MappingReader): IdentityFacts => {
  const verified = reader.has('verified')
    ? reader.bool('verified')
    : reader.complainOf('verified', 'the identity has no field verified')
  if (verified !== true) return { verified: false, type: null, level: 0, verifiedAtSeconds: null }
  const type = reader.has('type') ? reader.text('type', 16) : 'individual'
  if (type !== null && type !== 'individual' && type !== 'business') {
    reader.complainOf('type', 'type must be individual or business')
  }
  const level = reader.has('level') ? reader.parsed('level', parseTestInteger) : 1
  if (level !== null && (level < 1 || level > LEVEL_MAX)) reader.complainOf('level', 'level must be 1, 2 or 3')
  return {
    verified,
    type: type === 'business' ? 'business' : 'individual',
    level: level ?? 1,
    verifiedAtSeconds: reader.has('verified_at') ? reader.parsed('verified_at', parseTimestampLiteral) : null,
  }
}

const identitySource = <const Kind extends string, const Part extends string>(
  names: Pick<SourceDeclaration<Kind, Part, IdentityFacts>, 'kind' | 'part' | 'group' | 'digest' | 'words'>,
  whose: string,
  testDescription: string,
) =>
  defineSource<IdentityFacts>()({
    ...names,
    metered: false,
    fields: {
      verified: {
        type: 'bool',
        description: `Whether ${whose} is verified at the organization’s level.`,
        select: ({ verified }) => verified,
      },
      type: {
        type: 'string',
        maxLength: 10,
        description: 'Type of the identity: "individual" or "business"; empty if not verified.',
        refuseLiteral: oneOf(
          ['individual', 'business', ''],
          `${names.group}.type must be "individual", "business" or empty`,
        ),
        select: ({ type }) => type ?? '',
      },
      level: {
        type: 'int',
        description: 'Verification level: 1 basic, 2 standard, 3 enhanced; 0 if not verified.',
        select: ({ level }) => intOf(level),
      },
      verified_at: {
        type: 'google.protobuf.Timestamp',
        description: `Time of the verification. Fails if ${names.group}.verified is false.`,
        select: ({ verifiedAtSeconds }) => timeOf(verifiedAtSeconds),
      },
    },
    readTest,
    testSchema: object(testDescription, ['verified'], {
      verified: flag,
      type: { enum: ['individual', 'business'] },
      level: { type: 'integer', minimum: 1, maximum: LEVEL_MAX },
      verified_at: { type: 'string' },
    }),
    example: { verified: true, type: 'individual', level: 2, verifiedAtSeconds: 1_760_000_000 },
  })

export const IDENTITY = identitySource(
  {
    kind: 'identity',
    part: 'identity',
    group: 'identity',
    digest: 'identity',
    words: 'identity of the wallet',
  },
  'the wallet',
  'Identity of the wallet.',
)

export const ON_BEHALF_IDENTITY = identitySource(
  {
    kind: 'on-behalf-identity',
    part: 'onBehalfIdentity',
    group: 'onBehalf',
    digest: 'on_behalf_identity',
    words: 'identity of the represented user',
  },
  'onBehalf.address',
  'Identity of the represented user.',
)
