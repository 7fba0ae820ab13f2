// The policy document's form as JSON Schema (draft 2020-12) for editors; source of docs/policy.schema.json.
import { CONSTANT_KINDS } from '../cel/constants.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import { TEST_SCHEMAS } from '../sources/all.ts'
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
  ...text('CEL expression of type bool.', POLICY_LIMITS.expressionLength),
  ...conditionWords(),
}
const condition = (description: string): Schema => ({ $ref: '#/$defs/condition', description })

const rule: Schema = {
  ...object('Decides the request or session, or leaves the decision to the next rule.', ['id'], {
    id: { type: 'string', pattern: '^[a-z0-9_-]+$', maxLength: POLICY_LIMITS.identifierLength },
    allow: condition('If true, the verdict is compliant.'),
    deny: condition('If true, the verdict is denied.'),
    require: condition('If false, the verdict is denied.'),
    review: condition('If true, a person reviews the session.'),
    code: {
      type: 'string',
      pattern: '^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$',
      maxLength: POLICY_LIMITS.codeLength,
      description: 'Machine-readable reason.',
    },
    message: text('Reason shown to people. Required for rules that reject a session.', POLICY_LIMITS.messageLength),
  }),
  oneOf: [{ required: ['allow'] }, { required: ['deny'] }, { required: ['require'] }, { required: ['review'] }],
}

const constant: Schema = object('Value that rules read as constants.<name>.', ['type', 'value'], {
  type: { enum: Object.keys(CONSTANT_KINDS) },
  value: {
    anyOf: [
      scalar('Single value.'),
      { ...list('List of values.', scalar('Value.'), POLICY_LIMITS.listElements), minItems: 1 },
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
  'Functions whose calls rules can read: human-readable lines, or items of a JSON ABI.',
  {
    anyOf: [
      text(
        'Human-readable function, for example "function transfer(address to, uint256 amount)".',
        POLICY_LIMITS.expressionLength,
      ),
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
const contract: Schema = { type: 'string', pattern: ADDRESS, description: 'Contract address.' }
const holder: Schema = {
  type: 'string',
  pattern: `${ADDRESS}|^(wallet|onBehalf|target)\\.address$`,
  description: 'Address of the holder. Defaults to wallet.address.',
}

const read: Schema = object('On-chain state that rules read as reads.<name>.', ['kind'], {
  kind: { enum: READ_KINDS },
  chain: {
    type: 'string',
    pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
    description: 'Chain name. Defaults to the request’s chain.',
  },
  contract,
  of: holder,
  token_id: amount('Token id.'),
  function: text(
    'View function, for example "function tierOf(address who) view returns (uint8)".',
    POLICY_LIMITS.expressionLength,
  ),
  arguments: {
    type: 'array',
    items: scalar('Argument: wallet.address, onBehalf.address, target.address, tx.value, or a value.'),
  },
})

const REQUEST_FACTS: Readonly<Record<string, Schema>> = {
  ...TEST_SCHEMAS,
  screeners: {
    type: 'object',
    description: 'Screener results by name. "onBehalf.name" is the result for onBehalf.address.',
    additionalProperties: object('Result of a screener.', [], {
      flagged: flag,
      score: { type: 'integer' },
      categories: { type: 'array', items: { type: 'string' } },
    }),
  },
  reads: { type: 'object', additionalProperties: scalar('Value of a read.') },
  velocity: {
    type: 'object',
    propertyNames: duration('Time window.'),
    additionalProperties: object('Compliant decisions within the window.', [], {
      count: amount('Number of compliant decisions.'),
      value: amount('Total value: a number, or an amount such as "1.5 ether".'),
    }),
  },
  lists: {
    type: 'object',
    additionalProperties: {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        object('Addresses with the age of the list.', [], {
          addresses: { type: 'array', items: { type: 'string' } },
          age: duration('Age of the list.'),
        }),
      ],
    },
  },
}
const SESSION_FACT_SCHEMAS = sessionTestSchemas()
const testFacts: Schema = object('Facts from the sources. Omitted facts are unavailable.', [], {
  ...REQUEST_FACTS,
  ...SESSION_FACT_SCHEMAS,
})

const test: Schema = object('Request with facts, or facts of a session, and the expected verdict.', ['verdict'], {
  name: text('Name of the test.', POLICY_LIMITS.nameLength),
  request: object('Request to evaluate.', ['from'], {
    from: { type: 'string' },
    on_behalf: { type: 'string', description: 'User whom `from` represents.' },
    chain: { type: 'string', description: 'Chain name. Defaults to ethereum.' },
    chain_id: { type: 'integer', description: 'Required for a chain that is not built in.' },
    to: { type: 'string' },
    msg_value: amount('Transaction value. Defaults to 0.'),
    data: { type: 'string', pattern: '^0x(?:[0-9a-fA-F]{2})*$' },
    user_ip: { type: 'string' },
    time: { type: 'string', description: 'Time of the request. Defaults to 2026-01-01T00:00:00Z.' },
  }),
  facts: testFacts,
  verdict: { enum: ['allow', 'deny', 'review', 'failure'] },
  rule: text('Rule that decides or fails, or "default".', POLICY_LIMITS.identifierLength),
})

const without = (...names: readonly string[]): Readonly<Record<string, false>> =>
  Object.fromEntries(names.map((name) => [name, false]))
const members = (properties: Readonly<Record<string, unknown>>): Schema => ({ type: 'object', properties })
const every = (items: Schema): Schema => ({ type: 'array', items })

export const POLICY_JSON_SCHEMA: Schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Countersign policy',
  ...object('Ordered rules: the first rule that matches decides.', ['name', 'rules'], {
    name: text('Name shown to API clients.', POLICY_LIMITS.nameLength),
    description: text('Description for readers of the policy.', POLICY_LIMITS.descriptionLength),
    decides: { enum: POLICY_SUBJECTS, description: 'Subject of the policy. Defaults to requests.' },
    default: {
      enum: ['allow', 'deny', 'review'],
      description: 'Verdict if no rule decides. Defaults to deny; always review for sessions.',
    },
    quorum: {
      type: 'integer',
      minimum: 1,
      maximum: POLICY_LIMITS.quorum,
      description: 'Number of signatures per v1 task.',
    },
    constants: named('Named values.', constant, POLICY_LIMITS.constants),
    abi,
    idl: { type: 'object', description: 'Content of an Anchor IDL file (Solana).' },
    reads: named('Named on-chain state.', read, POLICY_LIMITS.reads),
    rules: list('Rules in order of evaluation.', rule, POLICY_LIMITS.rules),
    tests: list('Tests that run each time the policy is saved.', test, POLICY_LIMITS.tests),
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

export const policyJsonSchemaText = (): string => `${JSON.stringify(POLICY_JSON_SCHEMA, null, 2)}\n`
