// The form of a policy document: accepted forms, and invalid forms, each refused at its line and column (decisions §4).
import { describe, expect, spyOn, test } from 'bun:test'
import { Composer } from 'yaml'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { issuesOf, NO_PARTS, thrownBy } from './support.ts'

const rule = (extra = ''): string => `  - id: a\n    allow: "true"\n${extra}`
const policy = (rules: string): string => `name: P\nrules:\n${rules}`

const INVISIBLE = 'remove the invisible character: it can hide the effect of a policy from reviewers'

/** `line:column message` of each mistake. */
const mistakes = (source: string): string[] =>
  issuesOf(() => parsePolicyDocument(source)).map(({ line, column, message }) => `${line}:${column} ${message}`)

describe('the parser accepts', () => {
  test('a document with defaults', () => {
    const defaults = { name: 'P', description: '', default: 'deny', quorum: 1, ...NO_PARTS, rules: [] } as const
    expect(parsePolicyDocument('name: P\nrules: []\n')).toEqual(defaults)
  })

  test('a document with every field', () => {
    const source = `
name: Limits
description: |
  Two lines
  of text.
default: allow
quorum: 16
rules:
  - id: first-rule_1
    deny: >-
      tx.value > 1
      && true
    code: TOO_MUCH
    message: No more than that.
  - {id: second, require: 'true'}
`
    const texts = { code: 'TOO_MUCH', message: 'No more than that.' }
    expect(parsePolicyDocument(source)).toEqual({
      name: 'Limits',
      description: 'Two lines\nof text.\n',
      default: 'allow',
      quorum: 16,
      ...NO_PARTS,
      rules: [
        { id: 'first-rule_1', kind: 'deny', expression: 'tx.value > 1 && true', ...texts },
        { id: 'second', kind: 'require', expression: 'true', code: null, message: null },
      ],
    })
  })

  test('JSON with tabs and escapes', () => {
    const source = '{\n\t"name": "\\u0050\\/",\n\t"rules": [{"id": "a", "allow": "\\"x\\" == \\"x\\""}]\n}'
    expect(parsePolicyDocument(source)).toMatchObject({ name: 'P/', rules: [{ expression: '"x" == "x"' }] })
  })

  test('Windows line ends', () => {
    expect(parsePolicyDocument('name: P\r\nrules:\r\n  - id: a\r\n    deny: "true"\r\n').rules[0]?.kind).toBe('deny')
  })

  test('Persian joiners', () => {
    const message = 'پرداخت نمی\u200cشود'
    expect(parsePolicyDocument(policy(rule(`    message: ${message}\n`))).rules[0]?.message).toBe(message)
  })

  const rules = (count: number) => Array.from({ length: count }, (_, i) => `  - {id: r${i}, allow: "true"}\n`)
  const mapped = (key: string, value: string) => (count: number) =>
    `name: n\nrules: []\n${key}: {${Array.from({ length: count }, (_, i) => `k${i}: ${value}`).join(', ')}}\n`
  test.each<[string, number, (length: number) => string, string]>([
    ['name', 128, (length) => `name: ${'n'.repeat(length)}\nrules: []\n`, '1:7 name can have at most 128 characters'],
    ['rules', 200, (count) => policy(rules(count).join('')), '3:3 a policy can have at most 200 rules'],
    [
      'constants',
      128,
      mapped('constants', '{type: bool, value: true}'),
      '3:12 a policy can have at most 128 constants',
    ],
    ['reads', 16, mapped('reads', '{kind: native-balance}'), '3:8 a policy can have at most 16 reads'],
    [
      'message',
      512,
      (length) => policy(rule(`    message: ${'m'.repeat(length)}\n`)),
      '5:14 message can have at most 512 characters',
    ],
    [
      'code',
      64,
      (length) => policy(rule(`    code: ${'C'.repeat(length)}\n`)),
      '5:11 code can have at most 64 characters',
    ],
    [
      'id',
      64,
      (length) => policy(`  - id: ${'i'.repeat(length)}\n    allow: "true"\n`),
      '3:9 id can have at most 64 characters',
    ],
  ])('%s up to its limit %d', (field, limit, sourceOf, message) => {
    const document = parsePolicyDocument(sourceOf(limit))
    expect({ ...document.rules[0], ...document }[field as 'name']).toHaveLength(limit)
    expect(mistakes(sourceOf(limit + 1))).toEqual([message])
  })
})

const NOT_A_MAPPING = '1:1 a policy must be a mapping with name and rules'
const QUORUM = '2:9 quorum must be a whole number from 1 to 16'
const RULE = 'a rule must be a mapping with an id and one of allow, deny, require'
const ID = '3:9 id must consist of a-z, 0-9, "-" and "_"'
const CODE = '5:11 code must be upper snake case, for example LIMIT_EXCEEDED'
const POLICY_KEYS = 'name, description, decides, default, quorum, constants, abi, idl, reads, rules, tests'
const NO_KIND = '3:5 the rule needs one of allow, deny, require'
const NO_RULES = '1:1 the policy has no rules; write "rules: []" for none'
const quorum = (value: string) => `name: P\nquorum: ${value}\nrules: []`
const idOf = (id: string) => policy(`  - id: ${id}\n    allow: "true"\n`)

describe('rejects at its position', () => {
  test.each<[string, string, ...string[]]>([
    ['an empty document', '', NOT_A_MAPPING],
    ['a comment', '# nothing', NOT_A_MAPPING],
    ['a text', 'allow everything', NOT_A_MAPPING],
    ['a list', '- name: P', NOT_A_MAPPING],
    ['missing name and rules', 'default: deny', '1:1 the policy has no name', NO_RULES],
    ['an empty name', 'name: ""\nrules: []', '1:7 name is empty'],
    ['a blank name', 'name: "  "\nrules: []', '1:7 name is empty'],
    ['a name without a value', 'name:\nrules: []', '1:6 name must be text: put it in quotes'],
    ['a number as name', 'name: 12\nrules: []', '1:7 name must be text: put it in quotes'],
    ['a list as name', 'name: [a]\nrules: []', '1:7 name must be text'],
    ['a name with a line break', 'name: "a\\nb"\nrules: []', '1:7 name must not contain a line break or a tab'],
    ['a name with a trailing space', 'name: "a "\nrules: []', '1:7 name must not begin or end with a space'],
    ['a mapping as description', 'name: P\ndescription: {a: b}\nrules: []', '2:14 description must be text'],
    ['a control character', 'name: P\ndescription: "\\e"\nrules: []', `2:14 ${INVISIBLE}`],
    ['a right-to-left override', 'name: P\u202e\nrules: []', `1:8 ${INVISIBLE}`],
    ['an invisible character in a comment', `${policy(rule())}# \u2066all`, `5:3 ${INVISIBLE}`],
    ['an invisible character in an expression', policy(rule().replace('tr', 't\u200br')), `4:14 ${INVISIBLE}`],
    ['a joiner between Latin letters', policy(rule('    message: "Ad\u200ca"\n')), `5:17 ${INVISIBLE}`],
    ['an escaped invisible character', policy(rule('    message: "a\\u3164"\n')), `5:14 ${INVISIBLE}`],
    ['an unknown default', 'name: P\ndefault: permit\nrules: []', '2:10 default must be allow or deny'],
    ['a boolean as default', 'name: P\ndefault: true\nrules: []', '2:10 default must be allow or deny'],
    ...['0', '17', '1.5', '"2"', '.inf'].map(
      (value) => [`the quorum ${value}`, quorum(value), QUORUM] as [string, string, string],
    ),
    [
      'an unknown key',
      'name: P\nrule: []\nrules: []',
      `2:1 "rule" is not a key of a policy; valid keys: ${POLICY_KEYS}`,
    ],
    ['a mapping as rules', 'name: P\nrules: {}', '2:8 rules must be a list'],
    ['rules without a value', 'name: P\nrules:', '2:7 rules must be a list'],
    ['a text as rule', policy('  - deny all\n'), `3:5 ${RULE}`],
    ['null as rule', policy('  -\n'), `3:4 ${RULE}`],
    ['a rule without an id', policy('  - allow: "true"\n'), '3:5 the rule has no id'],
    ['an id with a capital', idOf('Rule'), ID],
    ['an id with an accent', idOf('ré'), ID],
    ['a repeated id', policy(`${rule()}${rule()}`), '5:9 the id "a" is already used by rule 1'],
    ['a rule without an expression', policy('  - id: a\n'), NO_KIND],
    [
      'three expressions',
      policy(rule('    deny: "true"\n    require: "true"\n')),
      '5:11 the rule already has "allow": remove one of them',
      '6:14 the rule already has "allow": remove one of them',
    ],
    ['a boolean as expression', policy('  - id: a\n    deny: true\n'), '4:11 deny must be text: put it in quotes'],
    ['an empty expression', policy('  - id: a\n    deny: ""\n'), '4:11 deny is empty'],
    [
      'a misspelled kind',
      policy('  - id: a\n    denny: "true"\n'),
      NO_KIND,
      '4:5 "denny" is not a key of a rule; valid keys: id, allow, deny, require, code, message',
    ],
    ['a code in lower case', policy(rule('    code: denied\n')), CODE],
    ['a code with a trailing underscore', policy(rule('    code: "A_"\n')), CODE],
    ['a number as code', policy(rule('    code: 451\n')), '5:11 code must be text: put it in quotes'],
    ['an empty message', policy(rule('    message: ""\n')), '5:14 message is empty'],
  ])('%s', (_name, source, ...expected) => expect(mistakes(source)).toEqual(expected))
})

describe('a YAML mistake is reported once', () => {
  const report = (source: string): string[] =>
    issuesOf(() => parsePolicyDocument(source)).map(({ line, message }) => `${line} ${message}`)
  const rulesOf = (lines: string): string => `name: P\nrules:\n  - id: a\n${lines}`

  test.each([
    ['a key too far to the left', rulesOf('    deny: x\n   code: X\n    message: m\n'), 5],
    ['a key too far to the right', rulesOf('    deny: x\n     code: X\n    message: m\n'), 5],
    ['a key too far to the right, after quotes', rulesOf('    deny: "x"\n     code: X\n    message: m\n'), 5],
    ['a key at the indentation of the list', rulesOf('    deny: x\n  code: X\n    message: m\n'), 5],
    ['a first key too far to the left', rulesOf('   deny: x\n  - id: b\n    allow: y\n'), 4],
    ['a first name too far to the right', 'name: P\n rules:\n  - id: a\n    deny: x\n', 2],
  ])('%s', (_, source, line) => expect(report(source)).toEqual([`${line} check the indentation of line ${line}`]))

  test('each unquoted colon', () => {
    const quotes = 'put the value in quotes: it contains ": "'
    expect(report(rulesOf('    deny: x == y: z\n    message: Hi: there\n'))).toEqual([`4 ${quotes}`, `5 ${quotes}`])
  })
})

describe('rejects YAML beyond plain data', () => {
  const tooMuch = '1:1 the document has too many parts or is nested too deeply'
  const tooLarge = '1:1 a policy can have at most 256 KiB'
  test.each<[string, string, ...string[]]>([
    ['a repeated key of a mapping', 'name: P\nname: Q\nrules: []', '2:1 duplicate key "name"'],
    ['a repeated key of a rule', policy('  - {id: a, deny: "false", "deny": "true"}\n'), '3:28 duplicate key "deny"'],
    ['a repeated key in JSON', '{"name":"P","rules":[],"rules":[]}', '1:24 duplicate key "rules"'],
    [
      'anchors and aliases',
      'name: &n P\ndescription: *n\nrules: []',
      '1:10 anchors (&) are not allowed',
      '2:1 description must be text',
      '2:14 aliases (*) are not allowed',
    ],
    ['a tag', 'name: !!str P\nrules: []', '1:13 tags (!) are not allowed'],
    ['a directive', '%YAML 1.1\n---\nname: P\nrules: []', '1:1 directives (%) are not allowed'],
    ['a number as key', 'name: P\n5: x\nrules: []', '2:1 a key must be text'],
    ['a list as key', 'name: P\n? [a]\n: x\nrules: []', '2:3 a key must be text'],
    ['a document that is too long', `name: P\nrules: []\n# ${'x'.repeat(256 * 1024)}`, tooLarge],
    ['a document with too many bytes', `name: P\nrules: []\n# ${'é'.repeat(130 * 1024)}`, tooLarge],
    ['deep flow nesting', '['.repeat(100_000), tooMuch],
    ['deep block nesting', '- '.repeat(100_000), tooMuch],
    ['many comments', '#\n'.repeat(100_000), tooMuch],
    ['many keys', Array.from({ length: 15_000 }, (_, i) => `k${i}: 1`).join('\n'), tooMuch],
  ])('%s', (_name, source, ...expected) => expect(mistakes(source)).toEqual(expected))

  test.each([
    ['a merge key', 'name: P\n<<: {default: allow}\nrules: []', '2:1 "<<" is not a key'],
    ['a second document', 'name: P\nrules: []\n---\nname: Q\n', '3:1 '],
    ...['__proto__', 'constructor', 'toString'].map((key) => [
      key,
      `name: P\n${key}: {default: allow}\nrules: []`,
      `2:1 "${key}" is not a key`,
    ]),
  ])('%s', (_name, source, start) => expect(mistakes(source!)[0]).toStartWith(start!))

  test.each(['- ', '? ', ': ', '[', '{a: ', '? - '])('more than 64 levels of %p', (level) => {
    expect(mistakes(level.repeat(65))).toEqual([tooMuch])
    expect(mistakes(level.repeat(30))).not.toEqual([tooMuch])
  })

  test('an alias expansion bomb, without expanding it', () => {
    const keys = [...'abcdefghijklm']
    const lines = keys.slice(1).map((key, i) => `${key}: &${key} [${Array(9).fill(`*${keys[i]}`).join(',')}]`)
    expect(mistakes(`a: &a [x,x,x,x]\n${lines.join('\n')}`).join()).toContain('aliases (*) are not allowed')
  })

  test('malformed text, with one mistake', () => {
    expect(mistakes('name: "P\nrules: []')).toHaveLength(1)
    expect(mistakes('name: P\n\trules: []')).toHaveLength(1)
    for (const mistake of mistakes('{"name": "P", "rules": [}')) expect(mistake).toStartWith('1:25 ')
  })

  test('a third document, without composing it', () => {
    using composed = spyOn(Composer.prototype, 'next')
    const message = 'a policy must be a single document: remove the second document'
    expect(mistakes('---\n'.repeat(9_000))).toEqual([`2:1 ${message}`])
    expect(composed.mock.calls.length).toBeLessThan(5)
  })
})

describe('the error', () => {
  test('lists every mistake in reading order, with pointers', () => {
    const source = 'name: P\ndefault: maybe\nrules:\n  - x: 1\n'
    expect(issuesOf(() => parsePolicyDocument(source)).map(({ line, pointer }) => [line, pointer])).toEqual([
      [2, '/default'],
      [4, '/rules/0/x'],
      [4, '/rules/0'],
      [4, '/rules/0'],
    ])
  })

  test('escapes pointers', () => {
    expect(issuesOf(() => parsePolicyDocument('name: P\na/b~c: 1\nrules: []'))[0]?.pointer).toBe('/a~1b~0c')
  })

  test('shows the line with a caret', () => {
    const error = thrownBy(() => parsePolicyDocument('name: P\ndefault: maybe\nrules: []'))
    expect(error).toBeInstanceOf(PolicyInvalidError)
    expect(error).toMatchObject({
      message: '2:10 /default default must be allow or deny\n    default: maybe\n             ^',
      code: 'INVALID_REQUEST',
      detail: 'the policy has 1 mistake',
    })
  })

  test('keeps tabs under tabs, and shortens long lines around the caret', () => {
    const messageOf = (source: string) => (thrownBy(() => parsePolicyDocument(source)) as PolicyInvalidError).message
    expect(messageOf('{"name": "P",\n\t"rules": 5}')).toContain('\n    \t"rules": 5}\n    \t         ^')
    const long = messageOf(`{"name": "P", "description": "${'d'.repeat(3000)}", "rules": 5}`)
    const [, shown = '', caret = ''] = long.split('\n')
    expect(shown.length).toBeLessThan(130)
    expect(shown[caret.indexOf('^')]).toBe('5')
  })

  test('reports at most a hundred mistakes', () => {
    const source = `name: P\n${Array.from({ length: 500 }, (_, i) => `k${i}: 1\n`).join('')}rules: []`
    expect(issuesOf(() => parsePolicyDocument(source))).toHaveLength(100)
  })
})
