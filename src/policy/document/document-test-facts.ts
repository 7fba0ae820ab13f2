import { parseEvmAddress, parseSolanaAddress } from '../../domain/address.ts'
import { LiteralMalformedError, parseAddressLiteral, parseDurationLiteral, parseTestInteger } from '../cel/literals.ts'
import { FACT_SOURCES, type SourceAnswers, TEST_SCHEMAS } from '../sources/all.ts'
import type { PolicyRead, PolicyTest, TestList } from '../types/document.ts'
import type { ExternalFacts, ScreenerFacts, VelocityFacts } from '../types/facts.ts'
import type { ReadType, ReadValue } from '../types/reads.ts'
import { createMappingReader, type DocumentContext, type MappingReader, verbatimText } from './document-reader.ts'
import { parseTestAmount } from './read-value.ts'

const PARTS: readonly string[] = [...Object.keys(TEST_SCHEMAS), 'screeners', 'reads', 'velocity', 'lists']

const parseScore = (text: string): number => {
  const score = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(score)) return score
  throw new LiteralMalformedError('a score must be a whole number')
}

const readTexts = (context: DocumentContext, reader: MappingReader, key: string): readonly string[] => {
  const texts = (reader.sequence(key) ?? []).map((item) => verbatimText(context, item))
  if (texts.every((text) => text !== null)) return texts
  reader.complainOf(key, `${key} must be a list of texts`)
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
  throw new LiteralMalformedError(`the value of this read must be of type ${type}`)
}

const readVelocity = (reader: MappingReader): VelocityFacts => {
  reader.refuseUnknownKeys(['count', 'value'])
  return {
    count: (reader.has('count') ? reader.parsed('count', parseTestInteger) : null) ?? 0,
    value: (reader.has('value') ? reader.parsed('value', parseTestAmount) : null) ?? '0',
  }
}

const VELOCITY_FORM = 'write velocity per window in h, m or s: velocity: { 24h: { count: 3, value: 1 ether } }'

const windowSeconds = (text: string): number | null => {
  try {
    return parseDurationLiteral(text)
  } catch (error) {
    if (!(error instanceof LiteralMalformedError)) throw error
    return null
  }
}

/** Returns the addresses, optionally with the list's age. */
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
  if (addresses.length < texts.length) lists.complainOf(name, 'a list can contain only addresses')
  const age = reader?.has('age') === true ? reader.parsed('age', parseDurationLiteral) : 0
  return { addresses, ageSeconds: age ?? 0 }
}

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

export const readTestFacts = (
  context: DocumentContext,
  test: MappingReader,
  reads: readonly PolicyRead[],
): Pick<PolicyTest, 'external' | 'lists'> | null => {
  if (!test.has('facts')) return { external: {}, lists: {} }
  const facts = test.mapping('facts', 'facts')
  if (facts === null) return null
  const windows = facts.keys.filter((key) => windowSeconds(key) !== null)
  for (const window of windows) facts.complainOf(window, VELOCITY_FORM)
  facts.refuseUnknownKeys([...PARTS, ...windows])
  const groups = new Map(
    Object.entries(TEST_SCHEMAS).map(([group, { properties }]) => {
      const reader = facts.has(group) ? facts.mapping(group, group) : null
      reader?.refuseUnknownKeys(Object.keys(properties))
      return [group, reader]
    }),
  )
  // An omitted fact is unavailable.
  const answers: SourceAnswers = Object.fromEntries(
    FACT_SOURCES.map(({ part, group, readTest }) => {
      const reader = groups.get(group) ?? null
      return [part, reader === null ? null : readTest(reader)]
    }),
  )
  const external: ExternalFacts = {
    ...answers,
    screeners: readEach(facts, 'screeners', (members, name) => {
      const reader = members.mapping(name, 'a screener')
      return reader === null ? null : readScreener(context, reader)
    }),
    reads: readEach(facts, 'reads', (members, name) => {
      const read = reads.find((candidate) => candidate.name === name)
      if (read === undefined) return members.complainOf(name, `unknown read "${name.slice(0, 64)}"`)
      return members.parsed(name, (text) => parseReadValue(read.type, text))
    }),
    velocity: Object.fromEntries(
      Object.values(
        readEach(facts, 'velocity', (members, window) => {
          const seconds = windowSeconds(window)
          if (seconds === null || members.node(window)?.kind !== 'mapping') {
            return members.complainOf(window, VELOCITY_FORM)
          }
          const reader = members.mapping(window, 'velocity')
          return reader === null ? null : [String(seconds), readVelocity(reader)]
        }),
      ),
    ),
  }
  return { external, lists: readEach(facts, 'lists', (members, name) => readList(context, members, name)) }
}
