// Reads `tests`. Tests of session policies have only facts.

import { isHexBytes, parseAddress, parseRepresented, type WalletAddress, zeroAddressOf } from '../../domain/address.ts'
import type { AttestationRequest } from '../../domain/attestation.ts'
import { BUILT_IN_CHAINS, type Chain, type ChainFamily } from '../../domain/chain.ts'
import { hasHidden } from '../../lib/hidden-characters.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import {
  INTEGER_TOO_LARGE,
  LiteralMalformedError,
  parseTimestampLiteral,
  parseUint256Literal,
} from '../cel/literals.ts'
import { readSessionTestFacts } from '../tools/session-test-facts.ts'
import type { PolicyRead, PolicySubject, PolicyTest, TestExpectation } from '../types/document.ts'
import { createMappingReader, type DocumentContext, type MappingReader } from './document-reader.ts'
import { DEFAULT_RULE } from './document-rules.ts'
import { readTestFacts } from './document-test-facts.ts'
import { parseTestAmount } from './read-value.ts'

export interface TestScope {
  readonly decides: PolicySubject
  readonly rules: readonly string[]
  readonly reads: readonly PolicyRead[]
}

/** Default time of a request. */
const TEST_TIME_SECONDS = Date.UTC(2026, 0, 1) / 1000
const DATA_MAX_LENGTH = 2 + 2 * 65_536
const TEST_KEYS: Readonly<Record<PolicySubject, readonly string[]>> = {
  requests: ['name', 'request', 'facts', 'verdict', 'rule'],
  sessions: ['name', 'facts', 'verdict', 'rule'],
}
const OUTCOMES: Readonly<Record<PolicySubject, readonly TestExpectation['outcome'][]>> = {
  requests: ['allow', 'deny', 'failure'],
  sessions: ['allow', 'deny', 'review', 'failure'],
}

const parseData = (text: string): string => {
  if (isHexBytes(text) && text.length <= DATA_MAX_LENGTH) return text
  throw new LiteralMalformedError('data must be 0x followed by an even number of hex digits, at most 64 KiB')
}

const parseIp = (text: string): string => {
  if (text !== '' && text.length <= 45 && !hasHidden(text)) return text
  throw new LiteralMalformedError('user_ip must be an IPv4 or IPv6 address')
}

const addressOf = (family: ChainFamily, text: string, parse = parseAddress): WalletAddress => {
  const address = parse(family, text)
  if (address !== null) return address
  throw new LiteralMalformedError(
    family === 'evm' ? 'an address must be 0x followed by 40 hex digits' : 'an address must be 32 bytes in base58',
  )
}

const readChain = (reader: MappingReader): Chain | null => {
  const fallback: Chain = { name: 'ethereum', family: 'evm', chainId: 1 }
  const name = reader.has('chain') ? reader.text('chain', 64) : null
  if (name === null) return fallback
  const chain = BUILT_IN_CHAINS.find((candidate) => candidate.name === name)
  if (chain !== undefined) return chain
  if (!reader.has('chain_id')) return reader.complainOf('chain', 'a chain that is not built in also needs a chain_id')
  const chainId = reader.parsed('chain_id', (text) => Number(parseUint256Literal(text).value))
  if (chainId === null) return null
  // Keeps the test: saved documents contain such ids, and comparisons must distinguish their tests.
  if (!Number.isSafeInteger(chainId)) reader.complainOf('chain_id', INTEGER_TOO_LARGE)
  return { name, family: 'evm', chainId }
}

const readRequest = (test: MappingReader): AttestationRequest | null => {
  const reader = test.has('request')
    ? test.mapping('request', 'a request')
    : test.complainOf('request', 'the test has no request')
  if (reader === null) return null
  reader.refuseUnknownKeys(['from', 'on_behalf', 'chain', 'chain_id', 'to', 'msg_value', 'data', 'user_ip', 'time'])
  if (!reader.has('from')) return reader.complainOf('from', 'the request has no "from"')
  const chain = readChain(reader)
  // Chains that aren't built in are EVM chains.
  const family = chain?.family ?? 'evm'
  const from = reader.parsed('from', (text) => addressOf(family, text))
  const onBehalf = reader.has('on_behalf')
    ? reader.parsed('on_behalf', (text) => addressOf(family, text, parseRepresented))
    : ''
  const to = reader.has('to') ? reader.parsed('to', (text) => addressOf(family, text)) : zeroAddressOf(family)
  const value = reader.has('msg_value') ? reader.parsed('msg_value', parseTestAmount) : '0'
  const data = reader.has('data') ? reader.parsed('data', parseData) : '0x'
  const userIp = reader.has('user_ip') ? reader.parsed('user_ip', parseIp) : ''
  const nowSeconds = reader.has('time') ? reader.parsed('time', parseTimestampLiteral) : TEST_TIME_SECONDS
  if (chain === null || from === null || onBehalf === null || to === null || value === null) return null
  if (data === null || userIp === null || nowSeconds === null) return null
  return { chain, from, onBehalf, to, value, data, userIp, nowSeconds }
}

const readExpectation = (reader: MappingReader, { decides, rules }: TestScope): TestExpectation | null => {
  if (!reader.has('verdict')) return reader.complainOf('verdict', 'the test has no verdict')
  const stated = reader.text('verdict', 16)
  if (stated === null) return null
  const outcome = OUTCOMES[decides].find((candidate) => candidate === stated)
  if (outcome === undefined)
    return reader.complainOf('verdict', `verdict must be one of ${OUTCOMES[decides].join(', ')}`)
  if (!reader.has('rule')) return { outcome, ruleId: undefined }
  const rule = reader.text('rule', POLICY_LIMITS.identifierLength)
  if (rule === null) return null
  // A rule named "default" has precedence over the document's default.
  if (rules.includes(rule)) return { outcome, ruleId: rule }
  if (rule === DEFAULT_RULE && outcome !== 'failure') return { outcome, ruleId: null }
  return reader.complainOf('rule', `unknown rule "${rule}"`)
}

const readTest = (
  context: DocumentContext,
  reader: MappingReader,
  index: number,
  scope: TestScope,
): PolicyTest | null => {
  const ofSessions = scope.decides === 'sessions'
  reader.refuseUnknownKeys(TEST_KEYS[scope.decides])
  const name = reader.has('name') ? reader.text('name', POLICY_LIMITS.nameLength) : `test ${index + 1}`
  if (ofSessions) {
    const session = readSessionTestFacts(reader)
    const expected = readExpectation(reader, scope)
    if (name === null || session === null || expected === null) return null
    return { name, external: {}, lists: {}, session, expected }
  }
  const request = readRequest(reader)
  const facts = readTestFacts(context, reader, scope.reads)
  const expected = readExpectation(reader, scope)
  if (name === null || request === null || facts === null || expected === null) return null
  return { name, request, ...facts, expected }
}

export const readTests = (
  context: DocumentContext,
  reader: MappingReader,
  scope: TestScope,
): readonly { readonly test: PolicyTest; readonly start: number }[] => {
  const items = reader.has('tests') ? reader.sequence('tests') : null
  if (items === null) return []
  if (items.length > POLICY_LIMITS.tests) {
    reader.complainOf('tests', `a policy can have at most ${POLICY_LIMITS.tests} tests`)
    return []
  }
  return items.flatMap((item, index) => {
    if (item.kind !== 'mapping') {
      context.complain(
        item.start,
        `/tests/${index}`,
        `a test must be a mapping with ${TEST_KEYS[scope.decides].join(', ')}`,
      )
      return []
    }
    const test = readTest(context, createMappingReader(context, item, `/tests/${index}`, 'a test'), index, scope)
    return test === null ? [] : [{ test, start: item.start }]
  })
}
