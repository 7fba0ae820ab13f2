// The facts of one test, under the names that rules read them by.
import { parseEvmAddress, parseSolanaAddress } from '../domain/address.ts'
import { createMappingReader, type DocumentContext, type MappingReader, verbatimText } from './document-reader.ts'
import {
  LiteralMalformedError,
  parseAddressLiteral,
  parseDurationLiteral,
  parseTimestampLiteral,
  parseUint256Literal,
} from './literals.ts'
import { parseTestAmount } from './test-amount.ts'
import type { PolicyRead, PolicyTest, TestList } from './types/document.ts'
import type { ExternalFacts, GeographyFacts, IdentityFacts, ScreenerFacts, VelocityFacts } from './types/facts.ts'
import type { ReadType, ReadValue } from './types/reads.ts'

type TestFacts = Pick<PolicyTest, 'external' | 'lists'>

const LEVEL_MAX = 3
const PARTS = ['client', 'identity', 'onBehalf', 'screeners', 'reads', 'velocity', 'lists'] as const

const matching =
  (pattern: RegExp, rule: string) =>
  (text: string): string => {
    if (pattern.test(text)) return text
    throw new LiteralMalformedError(rule)
  }
const parseCountry = matching(/^[A-Z]{2}$/, 'a country is two capital letters (ISO 3166-1)')
const parseRegion = matching(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, 'a region is a country and a region (ISO 3166-2)')

const parseCount = (text: string): number => {
  const count = Number(parseUint256Literal(text).value)
  if (Number.isSafeInteger(count)) return count
  throw new LiteralMalformedError('the number is too large')
}

const parseScore = (text: string): number => {
  const score = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(score)) return score
  throw new LiteralMalformedError('a score is a whole number')
}

const readClient = (reader: MappingReader): GeographyFacts => {
  const flags = ['anonymous', 'vpn', 'proxy', 'tor', 'hosting'] as const
  reader.refuseUnknownKeys(['country', 'region', ...flags])
  const flag = (key: string): boolean | null => (reader.has(key) ? reader.bool(key) : null)
  return {
    country: reader.has('country') ? reader.parsed('country', parseCountry) : null,
    region: reader.has('region') ? reader.parsed('region', parseRegion) : null,
    anonymous: flag('anonymous'),
    vpn: flag('vpn'),
    proxy: flag('proxy'),
    tor: flag('tor'),
    hosting: flag('hosting'),
  }
}

const readIdentity = (reader: MappingReader): IdentityFacts => {
  reader.refuseUnknownKeys(['verified', 'type', 'level', 'verified_at'])
  const verified = reader.has('verified')
    ? reader.bool('verified')
    : reader.complainOf('verified', 'verified is missing')
  if (verified !== true) return { verified: false, type: null, level: 0, verifiedAtSeconds: null }
  const type = reader.has('type') ? reader.text('type', 16) : 'individual'
  if (type !== null && type !== 'individual' && type !== 'business') {
    reader.complainOf('type', 'type is individual or business')
  }
  const level = reader.has('level') ? reader.parsed('level', parseCount) : 1
  if (level !== null && (level < 1 || level > LEVEL_MAX)) reader.complainOf('level', 'level is 1, 2 or 3')
  return {
    verified,
    type: type === 'business' ? 'business' : 'individual',
    level: level ?? 1,
    verifiedAtSeconds: reader.has('verified_at') ? reader.parsed('verified_at', parseTimestampLiteral) : null,
  }
}

const readTexts = (context: DocumentContext, reader: MappingReader, key: string): readonly string[] => {
  const texts = (reader.sequence(key) ?? []).map((item) => verbatimText(context, item))
  if (texts.every((text) => text !== null)) return texts
  reader.complainOf(key, `${key} is a list of texts`)
  return []
}

const readScreener = (context: DocumentContext, reader: MappingReader): ScreenerFacts => {
  reader.refuseUnknownKeys(['flagged', 'score', 'categories'])
  return {
    flagged: reader.has('flagged') ? reader.bool('flagged') : null,
    score: reader.has('score') ? reader.parsed('score', parseScore) : null,
    categories: reader.has('categories') ? readTexts(context, reader, 'categories') : null,
  }
}

const parseReadValue = (type: ReadType, text: string): ReadValue => {
  if (type === 'uint256') return parseTestAmount(text)
  if (type === 'address') return parseAddressLiteral(text).text
  if (type === 'bool' && (text === 'true' || text === 'false')) return text === 'true'
  if (type === 'string') return text
  if (type === 'int' && /^-?[0-9]{1,19}$/.test(text)) return BigInt(text).toString()
  throw new LiteralMalformedError(`the read yields a value of type ${type}`)
}

const readVelocity = (reader: MappingReader): VelocityFacts => {
  reader.refuseUnknownKeys(['count', 'value'])
  return {
    count: (reader.has('count') ? reader.parsed('count', parseCount) : null) ?? 0,
    value: (reader.has('value') ? reader.parsed('value', parseTestAmount) : null) ?? '0',
  }
}

/** Addresses, or addresses and an age. */
const readList = (context: DocumentContext, lists: MappingReader, name: string): TestList => {
  const node = lists.node(name)
  const reader = node?.kind === 'mapping' ? createMappingReader(context, node, `${lists.path}/${name}`, 'a list') : null
  reader?.refuseUnknownKeys(['addresses', 'age'])
  const texts =
    reader === null
      ? readTexts(context, lists, name)
      : reader.has('addresses')
        ? readTexts(context, reader, 'addresses')
        : []
  const addresses = texts.flatMap((text) => parseEvmAddress(text) ?? parseSolanaAddress(text) ?? [])
  if (addresses.length < texts.length) lists.complainOf(name, 'a list holds addresses')
  const age = reader?.has('age') === true ? reader.parsed('age', parseDurationLiteral) : 0
  return { addresses, ageSeconds: age ?? 0 }
}

/** Each member of a mapping under `key`, read. */
const readEach = <Value>(
  facts: MappingReader,
  key: string,
  read: (members: MappingReader, name: string) => Value | null,
): Readonly<Record<string, Value>> => {
  const members = facts.has(key) ? facts.mapping(key, key) : null
  if (members === null) return {}
  return Object.fromEntries(
    members.keys.flatMap((name) => {
      const value = read(members, name)
      return value === null ? [] : [[name, value]]
    }),
  )
}

/** Null when there is nothing to go on with; mistakes were complained of. */
export const readTestFacts = (
  context: DocumentContext,
  test: MappingReader,
  reads: readonly PolicyRead[],
): TestFacts | null => {
  if (!test.has('facts')) return { external: {}, lists: {} }
  const facts = test.mapping('facts', 'facts')
  if (facts === null) return null
  facts.refuseUnknownKeys(PARTS)
  const part = <Value>(key: string, read: (reader: MappingReader) => Value): Value | null => {
    const reader = facts.has(key) ? facts.mapping(key, key) : null
    return reader === null ? null : read(reader)
  }
  const external: ExternalFacts = {
    geography: part('client', readClient),
    identity: part('identity', readIdentity),
    onBehalfIdentity: part('onBehalf', readIdentity),
    screeners: readEach(facts, 'screeners', (members, name) => {
      const reader = members.mapping(name, 'a screener')
      return reader === null ? null : readScreener(context, reader)
    }),
    reads: readEach(facts, 'reads', (members, name) => {
      const read = reads.find((candidate) => candidate.name === name)
      if (read === undefined) return members.complainOf(name, `the policy has no read "${name.slice(0, 64)}"`)
      return members.parsed(name, (text) => parseReadValue(read.type, text))
    }),
    velocity: Object.fromEntries(
      Object.entries(
        readEach(facts, 'velocity', (members, window) => {
          const reader = members.mapping(window, 'velocity')
          return reader === null ? null : readVelocity(reader)
        }),
      ).flatMap(([window, value]) => {
        try {
          return [[String(parseDurationLiteral(window)), value]]
        } catch (error) {
          if (!(error instanceof LiteralMalformedError)) throw error
          facts.complainOf('velocity', `a window is a duration, for example "24h"`)
          return []
        }
      }),
    ),
  }
  return { external, lists: readEach(facts, 'lists', (members, name) => readList(context, members, name)) }
}
