// The rule builder: each rule is unchanged after a round trip through the form, and so is the rest of the document.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { sourceSteps } from '../../src/policy/cel/compile.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import { FACTS } from '../../src/policy/facts.ts'
import { addRule, arrangeRules, changeRule, type RuleText, readRules } from '../../src/policy/rule-form/policy-rules.ts'
import {
  type FactTypes,
  hasValue,
  type Operator,
  operatorsOf,
  parseCondition,
  renderCondition,
} from '../../src/policy/rule-form/rule-condition.ts'
import { SESSION_FACTS } from '../../src/policy/session-facts.ts'
import { readTemplates } from '../../src/policy/tools/templates.ts'

setDefaultTimeout(30_000)

const typesOf = (groups: typeof FACTS | typeof SESSION_FACTS): FactTypes =>
  Object.fromEntries(
    Object.entries(groups).flatMap(([group, fields]) =>
      Object.entries(fields).map(([name, { type }]) => [`${group}.${name}`, type] as const),
    ),
  )
const TYPES = { requests: typesOf(FACTS), sessions: typesOf(SESSION_FACTS) }

const ADDRESS = '0x00000000000000000000000000000000000000a1'
const VALUES: Readonly<Record<string, readonly string[]>> = {
  int: ['0', '18', '-5'],
  uint256: ['0', '1000000', '1.5 ether', '2 gwei', '1.5 sol'],
  address: [ADDRESS],
  'google.protobuf.Timestamp': ['2026-01-31T00:00:00Z'],
  'google.protobuf.Duration': ['7 days', '1 hours', '30 minutes', '1h30m'],
}

const valuesOf = (type: string, operator: Operator): fc.Arbitrary<string> => {
  if (!hasValue(operator)) return fc.constant('')
  if (operator === 'listed' || operator === 'not listed') return fc.constantFrom('members', 'own-list')
  const constant = fc.constantFrom('constants.limit', 'constants.not_served')
  const item = fc.constantFrom('CU', 'two words', "it's", '#', 'a: b', '- x', 'true', '12', '{', 'ü', 'constants')
  if (operator === 'in' || operator === 'not in') {
    return fc.oneof(
      constant,
      fc.array(item, { minLength: 1, maxLength: 4 }).map((items) => items.join(', ')),
    )
  }
  return fc.oneof(constant, type === 'string' ? item : fc.constantFrom(...(VALUES[type] ?? [])))
}

const condition = (types: FactTypes) =>
  fc
    .constantFrom(...Object.keys(types))
    .chain((fact) =>
      fc
        .constantFrom(...operatorsOf(types[fact]))
        .chain((operator) => valuesOf(types[fact] ?? '', operator).map((value) => ({ fact, operator, value }))),
    )

describe('a condition', () => {
  for (const subject of ['requests', 'sessions'] as const) {
    const types = TYPES[subject]
    test(`of ${subject} is unchanged after rendering and parsing`, () => {
      fc.assert(
        fc.property(condition(types), (one) => {
          const text = renderCondition(one, types)
          expect(text).not.toBeNull()
          expect(parseCondition(text ?? '', types)).toEqual(one)
        }),
      )
    })

    test(`of ${subject} compiles for every fact and operator`, () => {
      for (const [fact, type] of Object.entries(types)) {
        expect([fact, operatorsOf(type).length > 0]).toEqual([fact, true])
        for (const operator of operatorsOf(type)) {
          if (subject === 'sessions' && (operator === 'listed' || operator === 'not listed')) continue
          const value = !hasValue(operator) ? '' : /listed/.test(operator) ? 'members' : (VALUES[type]?.[0] ?? 'x')
          const expression = renderCondition({ fact, operator, value }, types) ?? ''
          const kind =
            subject === 'sessions' ? { decides: 'sessions' } : { default: 'deny', abi: ['function x(uint256 a)'] }
          const document = { name: 'x', description: 'x', ...kind, rules: [{ id: 'a', allow: expression }] }
          try {
            finish(sourceSteps(JSON.stringify(document)))
          } catch (error) {
            // Some facts can be compared only with their own values.
            const issues = JSON.stringify((error as { issues?: unknown }).issues)
            expect(`${expression}: ${issues}`).toMatch(/must be|has no function/)
          }
        }
      }
    })
  }

  test.each([
    ['tx.value > ether(10)', '10 ether', 'tx.value > ether(10)'],
    ['tx.value > ether("10")', '10 ether', 'tx.value > ether(10)'],
    ['tx.value > ether("1.5")', '1.5 ether', 'tx.value > ether("1.5")'],
    ['tx.value > uint256(5)', '5', 'tx.value > uint256("5")'],
    ['tx.value > uint256("5")', '5', 'tx.value > uint256("5")'],
    ['request.time_of_day > hours(9)', '9 hours', 'request.time_of_day > hours(9)'],
    ['request.time_of_day > duration("9h30m")', '9h30m', 'request.time_of_day > duration("9h30m")'],
  ])('%s has the value %s in the form', (text, value, rendered) => {
    const shown = parseCondition(text, TYPES.requests)
    expect(shown?.value).toBe(value)
    expect(shown === null ? null : renderCondition(shown, TYPES.requests)).toBe(rendered)
  })

  test.each([
    'client.region_known && client.region in constants.regions',
    'client.country=="CU"',
    'client.country == "constants.x"',
    'client.country == "a\\"b"',
    'client.country in ["a,b"]',
    'in_list(wallet.address, "sanctions", constants.list_age)',
    '!(call.decoded)',
    'request.time.getHours("Europe/Zurich") < 9',
    'tx.value > ether(1.5)',
    'tx.value > 10',
    'request.time_of_day > hours("9.5") && true',
    'unknown.fact',
    'wallet.address == address("0x1") || true',
    '',
  ])('%p has no form', (text) => expect(parseCondition(text, TYPES.requests)).toBeNull())
})

const FLOW = `# first
rules: [{ id: a, allow: "true" }, {id: b, deny: "true", code: X}] # last
default: deny`
const BLOCKS = `default: deny # the end
rules:
  # about a
  - id: a # its id
    # why
    deny: >- # folded
      client.country in
      constants.x

    code: 'X' # code

  - "deny": client.anonymous   # inline
    # before the id
    id: b
  - id: c
    allow: |- # literal
      chain.id == 1
  - id: d
    allow: 'true'
  # after the last
# far below
tests: []
`
const ENDS = [
  'default: deny\nrules:\n- id: a\n  allow: "true" # why',
  'rules:\n    - id: a\n      allow: |\n        chain.id == 1\n',
  'rules:\n  - { id: a, allow: "true" } # why\ndefault: deny',
]
const SOURCES = [...ENDS, ...readTemplates().map(({ source }) => source), FLOW, BLOCKS, BLOCKS.replaceAll('\n', '\r\n')]

const rule: fc.Arbitrary<RuleText> = fc.record({
  id: fc.constantFrom('a-rule', 'b_2', '12', 'true'),
  kind: fc.constantFrom('allow', 'deny', 'require'),
  expression: condition(TYPES.requests).map((one) => renderCondition(one, TYPES.requests) ?? ''),
  code: fc.constantFrom('', 'COUNTRY', 'NOT_SERVED'),
  message: fc.constantFrom('', 'Not here.', 'Colon: and #', '- "quoted"', 'true'),
})

const COMMENT = /(?:^|\s)#[^\r\n]*/g

describe('a changed rule', () => {
  test('is the only change of the document', () => {
    let written = 0
    fc.assert(
      fc.property(fc.constantFrom(...SOURCES), fc.nat(), rule, fc.boolean(), (source, number, changed, isKept) => {
        const before = readRules(source)?.rules ?? []
        const index = number % before.length
        const old = before[index]?.rule
        if (old == null) return
        const { code, message } = changed
        const expression = isKept ? old.expression : changed.expression
        const next = { ...changed, expression, code: code || old.code, message: message || old.message }
        const text = changeRule(source, index, next)
        expect(text).not.toBeNull()
        const after = readRules(text ?? '')?.rules ?? []
        expect(after.map((each) => each.rule)).toEqual(before.map((each, at) => (at === index ? next : each.rule)))
        // All text before the rule's line and after the next rule's line is unchanged, byte for byte.
        const start = (document: string, line = 1) => document.split('\n').slice(0, line - 1)
        expect(start(text ?? '', before[index]?.line)).toEqual(start(source, before[index]?.line))
        const [endBefore, endAfter] = [before[index + 1], after[index + 1]].map((each) => each?.line)
        if (endBefore !== undefined && endAfter !== undefined && source !== FLOW) {
          expect((text ?? '').split('\n').slice(endAfter - 1)).toEqual(source.split('\n').slice(endBefore - 1))
        }
        if (source === BLOCKS || source === FLOW) {
          for (const comment of source.match(COMMENT) ?? []) expect(text).toContain(comment.trim())
        }
        written += 1
      }),
      { numRuns: 200 },
    )
    expect(written).toBeGreaterThan(100)
  })

  test('without a difference leaves the text unchanged', () => {
    for (const source of SOURCES) {
      for (const [index, { rule: found }] of (readRules(source)?.rules ?? []).entries()) {
        if (found !== null) expect(changeRule(source, index, found)).toBe(source)
      }
    }
  })
})

describe('a new rule', () => {
  test('is added at the end, and all other text is unchanged', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SOURCES.filter((source) => source !== FLOW), 'name: x\nrules: [] # none\ndefault: deny\n'),
        rule,
        (source, next) => {
          const text = addRule(source, next) ?? ''
          const rulesOf = (document: string) => (readRules(document)?.rules ?? []).map((each) => each.rule)
          expect(rulesOf(text)).toEqual([...rulesOf(source), next])
          if (source.includes('rules: []')) return
          // The text has one insertion.
          let same = 0
          while (same < source.length && text[same] === source[same]) same += 1
          expect(text.endsWith(source.slice(same))).toBe(true)
        },
      ),
    )
  })

  test('can be added only to a YAML document with a block of rules', () => {
    const next = { id: 'x', kind: 'allow', expression: 'true', code: '', message: '' }
    for (const source of [FLOW, 'a: [', 'name: x', '', 'rules: 1']) expect(addRule(source, next)).toBeNull()
  })
})

describe('reordered or removed rules', () => {
  test('keep their lines and comments, and all other text is unchanged', () => {
    let written = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...SOURCES.filter((source) => source !== FLOW)).chain((source) => {
          const indices = [...(readRules(source)?.rules ?? []).keys()]
          return fc.tuple(fc.constant(source), fc.shuffledSubarray(indices, { minLength: 1 }))
        }),
        ([source, order]) => {
          const text = arrangeRules(source, order)
          expect(text).not.toBeNull()
          const [before, after] = [source, text ?? ''].map((each) => readRules(each)?.rules ?? [])
          expect(after?.map((each) => each.rule)).toEqual(order.map((index) => before?.[index]?.rule ?? null))
          const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')
          if (order.length === before?.length) {
            expect(linesOf(text ?? '').sort()).toEqual(linesOf(source).sort())
            written += 1
          }
          if (order.every((index, at) => index === at) && order.length === before?.length && source.endsWith('\n')) {
            expect(text).toBe(source)
          }
        },
      ),
    )
    expect(written).toBeGreaterThan(10)
  })

  test('keep the comments above them', () => {
    const [a, b] = ['  # about a\n  - id: a\n    allow: "true"\n', '  # about b\n  - id: b\n    deny: "true"\n']
    const source = `rules:\n${a}\n${b}# end\n`
    expect(arrangeRules(source, [1, 0])).toBe(`rules:\n${b}${a}\n# end\n`)
    expect(arrangeRules(source, [1])).toBe(`rules:\n${b}# end\n`)
  })

  test('are refused if rules are on one line, if no rule remains, and if a rule needs an earlier rule', () => {
    expect(arrangeRules(FLOW, [1, 0])).toBeNull()
    expect(arrangeRules('rules:\n  - id: a\n    allow: "true"\n', [])).toBeNull()
    const anchored = 'rules:\n  - id: a\n    allow: &all "true"\n  - id: b\n    allow: *all\n'
    expect(arrangeRules(anchored, [1, 0])).toBeNull()
  })
})

test('an emptied code or message is removed with its key', () => {
  const texts = '    code: A\n    message: Denied.\n'
  const source = `name: x\nrules:\n  - id: a # first\n    deny: 'true'\n${texts}  - { id: b, deny: 'true', code: B }\n`
  const rule = { id: 'a', kind: 'deny', expression: 'true', code: '', message: '' }
  expect(changeRule(source, 0, rule)).toBe(source.replace(texts, ''))
  // The form cannot remove a key of a rule in braces.
  expect(changeRule(source, 1, { ...rule, id: 'b' })).toBeNull()
})

test('a rule is added only if the resulting document contains it', () => {
  const rule = { id: 'a', kind: 'allow', expression: 'true', code: '', message: 'One.\nTwo.' }
  expect(addRule('{version: 1, rules: []}', rule)).toBeNull()
  expect(addRule('name: x\nrules: [] # none\n', rule)).toBeNull()
  expect(addRule('name: x\nrules: []\n', rule)).toContain('  - id: a\n')
})
