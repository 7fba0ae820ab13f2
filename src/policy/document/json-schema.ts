// The policy document as JSON Schema (draft 2020-12), for editors and other tools; docs/policy.schema.json is generated
// from it. The schema describes only the form: `policy check` also verifies expressions and runs tests.
import { CONSTANT_KINDS } from '../cel/constants.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { FACT_SOURCES } from '../sources/all.ts'
import { conditionWords } from '../tools/editor-words.ts'
import { sessionTestSchemas } from '../tools/session-test-facts.ts'
import { POLICY_SUBJECTS } from '../types/document.ts'
import { READ_KINDS } from './document-reads.ts'
import { amount, duration, flag, list, object, type Schema, scalar, text } from './schema-shapes.ts'

const NAME = '^[a-z][a-z0-9_]{0,63}$'
const named = (description: string, members: Schema, maxProperties: number): Schema => ({
  type: 'object',
  description,
  maxProperties,
  propertyNames: { pattern: NAME },
  additionalProperties: members,
})

const CONDITION: Schema = {
  ...text('A CEL expression that is true or false.', POLICY_LIMITS.expressionLength),
  ...conditionWords(),
}
const condition = (description: string): Schema => ({ $ref: '#/$defs/condition', description })

const rule: Schema = {
  ...object('Decides, or passes on to the next rule.', ['id'], {
    id: { type: 'string', pattern: '^[a-z0-9_-]+$', maxLength: POLICY_LIMITS.identifierLength },
    allow: condition('True ends compliant.'),
    deny: condition('True ends non-compliant.'),
    require: condition('False ends non-compliant.'),
    review: condition('True leaves a session to a person.'),
    code: {
      type: 'string',
      pattern: '^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$',
      maxLength: POLICY_LIMITS.codeLength,
      description: 'The reason for programs.',
    },
    message: text(
      'The reason for people. A rule that rejects a session has one: the person reads it.',
      POLICY_LIMITS.messageLength,
    ),
  }),
  oneOf: [{ required: ['allow'] }, { required: ['deny'] }, { required: ['require'] }, { required: ['review'] }],
}

const constant: Schema = object('A value that rules name as constants.<name>.', ['type', 'value'], {
  type: { enum: Object.keys(CONSTANT_KINDS) },
  value: {
    anyOf: [
      scalar('One value.'),
      { ...list('Several, as a list.', scalar('A value.'), POLICY_LIMITS.listElements), minItems: 1 },
    ],
  },
})

const parameter: Schema = {
  type: 'object',
  required: ['type'],
  properties: {
    name: { type: 'string' },
    type: { type: 'string' },
    components: { type: 'array', items: { $ref: '#/$defs/parameter' } },
  },
}

const abi: Schema = list(
  'Functions whose calls the rules may read: in words, or items of a JSON ABI.',
  {
    anyOf: [
      text('For example "function transfer(address to, uint256 amount)".', POLICY_LIMITS.expressionLength),
      {
        type: 'object',
        properties: {
          type: { enum: ['function', 'event', 'error', 'constructor', 'fallback', 'receive'] },
          name: { type: 'string' },
          inputs: { type: 'array', items: { $ref: '#/$defs/parameter' } },
          outputs: { type: 'array', items: { $ref: '#/$defs/parameter' } },
          stateMutability: { type: 'string' },
        },
      },
    ],
  },
  POLICY_LIMITS.functions,
)

const ADDRESS = '^0x[0-9a-fA-F]{40}$'
const contract: Schema = { type: 'string', pattern: ADDRESS, description: 'The contract.' }
const holder: Schema = {
  type: 'string',
  pattern: `${ADDRESS}|^(wallet|onBehalf|target)\\.address$`,
  description: 'Whose; wallet.address unless stated.',
}

const read: Schema = object('State on chain that rules name as reads.<name>.', ['kind'], {
  kind: { enum: READ_KINDS },
  chain: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,63}$', description: 'The request’s chain unless stated.' },
  contract,
  of: holder,
  token_id: amount('The token’s id.'),
  function: text('For example "function tierOf(address who) view returns (uint8)".', POLICY_LIMITS.expressionLength),
  arguments: {
    type: 'array',
    items: scalar('wallet.address, onBehalf.address, target.address, tx.value, or a value.'),
  },
})

const REQUEST_FACTS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(FACT_SOURCES.map(({ group, testSchema }) => [group, testSchema])),
  screeners: {
    type: 'object',
    description: 'By name; "onBehalf.name" is what it says of onBehalf.address.',
    additionalProperties: object('Answer of a screener.', [], {
      flagged: flag,
      score: { type: 'integer' },
      categories: { type: 'array', items: { type: 'string' } },
    }),
  },
  reads: { type: 'object', additionalProperties: scalar('The value of a read.') },
  velocity: {
    type: 'object',
    propertyNames: duration('The window.'),
    additionalProperties: object('Within a window.', [], {
      count: amount('Compliant decisions.'),
      value: amount('Their value: a number, or an amount as "1.5 ether".'),
    }),
  },
  lists: {
    type: 'object',
    additionalProperties: {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        object('A list of some age.', [], {
          addresses: { type: 'array', items: { type: 'string' } },
          age: duration('How old it is.'),
        }),
      ],
    },
  },
}
const SESSION_FACT_SCHEMAS = sessionTestSchemas()
const testFacts: Schema = object('Answers of the sources. Omitted facts are unavailable.', [], {
  ...REQUEST_FACTS,
  ...SESSION_FACT_SCHEMAS,
})

const test: Schema = object('A request with facts, or facts of a session, and what the policy says.', ['verdict'], {
  name: text('What it shows.', POLICY_LIMITS.nameLength),
  request: object('The request.', ['from'], {
    from: { type: 'string' },
    on_behalf: { type: 'string', description: 'The user whom from represents.' },
    chain: { type: 'string', description: 'ethereum unless stated.' },
    chain_id: { type: 'integer', description: 'Required for a chain that is not built in.' },
    to: { type: 'string' },
    msg_value: amount('0 unless stated.'),
    data: { type: 'string', pattern: '^0x(?:[0-9a-fA-F]{2})*$' },
    user_ip: { type: 'string' },
    time: { type: 'string', description: '2026-01-01T00:00:00Z unless stated.' },
  }),
  facts: testFacts,
  verdict: { enum: ['allow', 'deny', 'review', 'failure'] },
  rule: text('The rule that decides (or fails), or "default".', POLICY_LIMITS.identifierLength),
})

/** Forbids these properties. */
const without = (...names: readonly string[]): Readonly<Record<string, false>> =>
  Object.fromEntries(names.map((name) => [name, false]))
const members = (properties: Readonly<Record<string, unknown>>): Schema => ({ type: 'object', properties })
const every = (items: Schema): Schema => ({ type: 'array', items })

export const POLICY_JSON_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Countersign policy',
  ...object('Ordered rules: the first decisive one wins.', ['name', 'rules'], {
    name: text('Shown to callers.', POLICY_LIMITS.nameLength),
    description: text('For its readers.', POLICY_LIMITS.descriptionLength),
    decides: { enum: POLICY_SUBJECTS, description: 'requests unless stated.' },
    default: {
      enum: ['allow', 'deny', 'review'],
      description: 'The verdict when no rule decides; deny unless stated, always review for sessions.',
    },
    quorum: { type: 'integer', minimum: 1, maximum: POLICY_LIMITS.quorum, description: 'Signatures of a v1 task.' },
    constants: named('Values with names.', constant, POLICY_LIMITS.constants),
    abi,
    idl: { type: 'object', description: 'The content of an Anchor IDL file, for Solana.' },
    reads: named('State on chain with names.', read, POLICY_LIMITS.reads),
    rules: list('In order.', rule, POLICY_LIMITS.rules),
    tests: list('Run whenever the policy is saved.', test, POLICY_LIMITS.tests),
  }),
  if: { required: ['decides'], ...members({ decides: { const: 'sessions' } }) },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: members({
    ...without('quorum', 'abi', 'idl', 'reads'),
    default: { const: 'review' },
    rules: every({
      type: 'object',
      anyOf: [{ required: ['message'] }, { required: ['allow'] }, { required: ['review'] }],
    }),
    tests: every(members({ ...without('request'), facts: members(without(...Object.keys(REQUEST_FACTS))) })),
  }),
  else: members({
    default: { enum: ['allow', 'deny'] },
    rules: every(members(without('review'))),
    tests: every({
      ...members({
        verdict: { enum: ['allow', 'deny', 'failure'] },
        facts: members(without(...Object.keys(SESSION_FACT_SCHEMAS))),
      }),
      required: ['request'],
    }),
  }),
  $defs: { parameter, condition: CONDITION },
}

/** Returns the content of docs/policy.schema.json. */
export const policyJsonSchemaText = (): string => `${JSON.stringify(POLICY_JSON_SCHEMA, null, 2)}\n`
