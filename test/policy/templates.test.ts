// The shipped templates can be saved, and the published JSON Schema agrees with the parser on templates, examples and
// malformed documents.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Ajv2020 from 'ajv/dist/2020'
import { parse } from 'yaml'
import { compileSource } from '../../src/policy/cel/compile.ts'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { POLICY_JSON_SCHEMA } from '../../src/policy/document/json-schema.ts'
import { FACTS } from '../../src/policy/facts.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { draftRevision } from '../../src/policy/revision.ts'
import { FUNCTION_WORDS } from '../../src/policy/tools/editor-words.ts'
import { FUNCTIONS, VELOCITY_METHODS } from '../../src/policy/tools/language.ts'

const ROOT = join(import.meta.dir, '..', '..')
const TEMPLATES = join(ROOT, 'docs', 'policies')
const templates = readdirSync(TEMPLATES)
  .filter((file) => file.endsWith('.yaml'))
  .sort()
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8')

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false })
// For editors only.
ajv.addKeyword('defaultSnippets')
ajv.addKeyword('markdownDescription')
const validate = ajv.compile(POLICY_JSON_SCHEMA)

const isReadable = (source: string): boolean => {
  try {
    parsePolicyDocument(source)
    return true
  } catch (error) {
    if (error instanceof PolicyInvalidError) return false
    throw error
  }
}

describe('templates', () => {
  test('are the six in the documentation', () => {
    const names =
      'allow-list-only function-allow-list identity-required people-automatically sanctions-and-geography value-and-velocity-limit'
    expect(templates).toEqual(names.split(' ').map((name) => `${name}.yaml`))
  })

  test.each(templates)('%s passes its tests and has one for each rule', (file) => {
    const { compiled, tests } = draftRevision(read('docs', 'policies', file))
    expect(tests.every(({ failure }) => failure === null)).toBe(true)
    const decided = new Set(compiled.document.tests.map(({ expected }) => expected.ruleId))
    const untested = compiled.document.rules.filter(({ id }) => !decided.has(id)).map(({ id }) => id)
    expect(untested).toEqual([])
    expect(compiled.document.description).not.toBe('')
  })
})

describe('docs/policy.schema.json', () => {
  test('is up to date', () => expect(JSON.parse(read('docs', 'policy.schema.json'))).toEqual(POLICY_JSON_SCHEMA))

  test.each([
    ...templates.map((file) => ['docs', 'policies', file]),
    ['docs', 'examples', 'withdrawals.yaml'],
    ['docs', 'examples', 'token-sale.yaml'],
    ['docs', 'examples', 'swap-hook.yaml'],
    ['bench', 'policies', 'six-rules.yaml'],
    ['bench', 'policies', 'erc20-transfer.yaml'],
  ])('accepts %s/%s/%s', (...path) => {
    const source = read(...path)
    expect(isReadable(source)).toBe(true)
    expect(validate(parse(source))).toBe(true)
  })

  const rule = { id: 'a', allow: 'true' }
  const wallet = '0x00000000000000000000000000000000000000b2'
  const contract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
  const testOf = (changes: object) => ({ tests: [{ request: { from: wallet }, verdict: 'deny', ...changes }] })

  test.each([
    ['an unchanged document', {}],
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a number as a name', { name: 5 }],
    ['a long name', { name: 'n'.repeat(129) }],
    ['another default', { default: 'maybe' }],
    ['a quorum of 17', { quorum: 17 }],
    ['a quorum of 1.5', { quorum: 1.5 }],
    ['an unknown key', { rule: [] }],
    ['no rules', { rules: undefined }],
    ['a mapping as the rules', { rules: {} }],
    ['a rule without an id', { rules: [{ allow: 'true' }] }],
    ['a rule of two kinds', { rules: [{ ...rule, deny: 'true' }] }],
    ['a rule of no kind', { rules: [{ id: 'a' }] }],
    ['a rule with an unknown key', { rules: [{ ...rule, reason: 'x' }] }],
    ['a code in lower case', { rules: [{ ...rule, code: 'nope' }] }],
    ['201 rules', { rules: Array.from({ length: 201 }, (_, i) => ({ id: `r${i}`, allow: 'true' })) }],
    ['a constant', { constants: { a: { type: 'ether', value: '1.5' }, b: { type: 'string', value: ['x', 'y'] } } }],
    ['a constant without a type', { constants: { a: { value: '1' } } }],
    ['a constant of an unknown type', { constants: { a: { type: 'float', value: '1' } } }],
    ['a constant with an invalid name', { constants: { 'A-b': { type: 'int', value: '1' } } }],
    ['a constant without values', { constants: { a: { type: 'int', value: [] } } }],
    ['an abi in text and JSON', { abi: ['function f()', { type: 'function', name: 'g', inputs: [{ type: 'bool' }] }] }],
    ['a text as the abi', { abi: 'function f()' }],
    ['numbers in the abi', { abi: [5] }],
    ['a list as the idl', { idl: [] }],
    ['a read', { reads: { a: { kind: 'token-balance', contract } } }],
    ['a read of an unknown kind', { reads: { a: { kind: 'balance' } } }],
    ['a read with an invalid contract', { reads: { a: { kind: 'token-balance', contract: '0x00' } } }],
    ['a test', testOf({ name: 'x', rule: 'a', facts: { client: { country: 'CH' }, lists: { a: [wallet] } } })],
    ['a test without a verdict', testOf({ verdict: undefined })],
    ['a test with an unknown verdict', testOf({ verdict: 'maybe' })],
    ['a test without a wallet', testOf({ request: {} })],
    ['a test with an unknown fact', testOf({ facts: { weather: 'fine' } })],
    ['a test with a long country', testOf({ facts: { client: { country: 'Cuba' } } })],
    ['a test with a text as a flag', testOf({ facts: { client: { vpn: 'yes' } } })],
    ['a test with an unknown window', testOf({ facts: { velocity: { '1d': {} } } })],
    ['a review rule for requests', { rules: [{ id: 'a', review: 'true' }] }],
    ['review as default for requests', { default: 'review' }],
    ['a test of requests that expects review', testOf({ verdict: 'review' })],
    ['a test of requests with facts of a session', testOf({ facts: { person: { age: 3 } } })],
    ['an unknown subject', { decides: 'people' }],
    ['sessions', { decides: 'sessions', default: 'review', rules: [rule, { id: 'b', review: 'true' }] }],
    ['a rejection of sessions', { decides: 'sessions', rules: [{ id: 'b', deny: 'true', message: 'No.' }] }],
    ['a rejection of sessions without a message', { decides: 'sessions', rules: [{ id: 'b', require: 'true' }] }],
    ['sessions with a quorum', { decides: 'sessions', quorum: 2 }],
    ['sessions that are allowed by default', { decides: 'sessions', default: 'allow' }],
    ['a test of sessions', { decides: 'sessions', tests: [{ facts: { person: { age: 3 } }, verdict: 'review' }] }],
    ['a test of sessions with a request', { decides: 'sessions', ...testOf({}) }],
    ['a test of sessions with lists', { decides: 'sessions', tests: [{ facts: { lists: {} }, verdict: 'review' }] }],
    ['a test with an identity of level 4', testOf({ facts: { identity: { verified: true, level: 4 } } })],
  ] as const)('agrees with the parser on %s', (_name, changes) => {
    const document: Record<string, unknown> = { name: 'P', rules: [rule], ...changes }
    for (const key of Object.keys(document)) if (document[key] === undefined) delete document[key]
    const source = JSON.stringify(document)
    expect({ valid: validate(JSON.parse(source)) }).toEqual({ valid: isReadable(source) })
  })

  test('is never stricter than the parser, because expressions are plain texts', () => {
    expect(validate({ name: 'P', rules: [{ id: 'a', allow: 'no such thing' }] })).toBe(true)
    expect(validate({ name: 'P', rules: [], constants: { a: { type: 'int', value: 'x' } } })).toBe(true)
  })

  describe('for editors', () => {
    const { condition } = POLICY_JSON_SCHEMA['$defs'] as Record<
      string,
      { defaultSnippets: { label: string }[]; markdownDescription: string }
    >
    const { defaultSnippets, markdownDescription } = condition!
    const labels = defaultSnippets.map(({ label }) => label)

    test('offers every fact and function with an explanation', () => {
      const facts = Object.entries(FACTS).flatMap(([group, fields]) =>
        Object.keys(fields).map((name) => `${group}.${name}`),
      )
      expect(facts.filter((name) => !labels.includes(name))).toEqual([])
      const functions = [...FUNCTIONS, ...[...VELOCITY_METHODS].map((name) => `velocity.${name}`)]
      expect(functions.filter((name) => !labels.some((label) => label.startsWith(`${name}(`)))).toEqual([])
      for (const label of labels) expect(markdownDescription).toContain(`- \`${label}\` `)
    })

    test.each(FUNCTION_WORDS)('$label compiles', ({ label }) => {
      const rule = { id: 'a', allow: `${label} == ${label}` }
      const { policy } = compileSource(JSON.stringify({ name: 'P', rules: [rule] }))
      expect(policy.document.rules).toHaveLength(1)
    })

    const files = [...templates.map((file) => `policies/${file}`), 'examples/withdrawals.yaml']
    test.each(files)('%s contains the path of the schema', (file) => {
      const path = /^# yaml-language-server: \$schema=(\S+)\n/.exec(read('docs', file))?.[1] ?? ''
      expect(join(ROOT, 'docs', dirname(file), path)).toBe(join(ROOT, 'docs', 'policy.schema.json'))
    })
  })
})
