// The document's form: what is accepted, and every wrong shape refused with its line and column (decisions §4).
import { describe, expect, spyOn, test } from 'bun:test'
import { Composer } from 'yaml'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { issuesOf, NO_PARTS, thrownBy } from './support.ts'

const rule = (extra = ''): string => `  - id: a\n    allow: "true"\n${extra}`
const policy = (rules: string): string => `name: P\nrules:\n${rules}`

const UNSEEN = 'remove the invisible character: it can hide the effect of a policy from reviewers'

/** `line:column message` of each mistake. */
const mistakes = (source: string): string[] =>
  issuesOf(() => parsePolicyDocument(source)).map(({ line, column, message }) => `${line}:${column} ${message}`)

describe('a document is read', () => {
  test('with its defaults', () => {
    expect(parsePolicyDocument('name: P\nrules: []\n')).toEqual({
      name: 'P',
      description: '',
      default: 'deny',
      quorum: 1,
      ...NO_PARTS,
      rules: [],
    })
  })

  test('with everything said', () => {
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
    expect(parsePolicyDocument(source)).toEqual({
      name: 'Limits',
      description: 'Two lines\nof text.\n',
      default: 'allow',
      quorum: 16,
      ...NO_PARTS,
      rules: [
        {
          id: 'first-rule_1',
          kind: 'deny',
          expression: 'tx.value > 1 && true',
          code: 'TOO_MUCH',
          message: 'No more than that.',
        },
        { id: 'second', kind: 'require', expression: 'true', code: null, message: null },
      ],
    })
  })

  test('as JSON, tabs and escapes included', () => {
    const source = '{\n\t"name": "\\u0050\\/",\n\t"rules": [{"id": "a", "allow": "\\"x\\" == \\"x\\""}]\n}'
    const document = parsePolicyDocument(source)
    expect(document.name).toBe('P/')
    expect(document.rules[0]?.expression).toBe('"x" == "x"')
  })

  test('with Windows line ends', () => {
    expect(parsePolicyDocument('name: P\r\nrules:\r\n  - id: a\r\n    deny: "true"\r\n').rules[0]?.kind).toBe('deny')
  })

  test('with the joiners of Persian', () => {
    const message = 'پرداخت نمی\u200cشود'
    expect(parsePolicyDocument(policy(rule(`    message: ${message}\n`))).rules[0]?.message).toBe(message)
  })

  test('at each limit, and not past it', () => {
    const long = (length: number) => `name: ${'n'.repeat(length)}\nrules: []\n`
    expect(parsePolicyDocument(long(128)).name).toHaveLength(128)
    expect(mistakes(long(129))).toEqual(['1:7 name can have at most 128 characters'])

    const many = (count: number) =>
      policy(Array.from({ length: count }, (_, i) => `  - {id: r${i}, allow: "true"}\n`).join(''))
    expect(parsePolicyDocument(many(200)).rules).toHaveLength(200)
    expect(mistakes(many(201))).toEqual(['3:3 a policy can have at most 200 rules'])

    const message = (length: number) => policy(rule(`    message: ${'m'.repeat(length)}\n`))
    expect(parsePolicyDocument(message(512)).rules[0]?.message).toHaveLength(512)
    expect(mistakes(message(513))).toEqual(['5:14 message can have at most 512 characters'])

    const code = (length: number) => policy(rule(`    code: ${'C'.repeat(length)}\n`))
    expect(parsePolicyDocument(code(64)).rules[0]?.code).toHaveLength(64)
    expect(mistakes(code(65))).toEqual(['5:11 code can have at most 64 characters'])

    const identifier = (length: number) => policy(`  - id: ${'i'.repeat(length)}\n    allow: "true"\n`)
    expect(parsePolicyDocument(identifier(64)).rules[0]?.id).toHaveLength(64)
    expect(mistakes(identifier(65))).toEqual(['3:9 id can have at most 64 characters'])
  })
})

describe('a wrong shape is refused where it stands', () => {
  const table: readonly (readonly [string, string, readonly string[]])[] = [
    ['nothing', '', ['1:1 a policy must be a mapping with name and rules']],
    ['a comment', '# nothing', ['1:1 a policy must be a mapping with name and rules']],
    ['a text', 'allow everything', ['1:1 a policy must be a mapping with name and rules']],
    ['a list', '- name: P', ['1:1 a policy must be a mapping with name and rules']],
    [
      'no name, no rules',
      'default: deny',
      ['1:1 the policy has no name', '1:1 the policy has no rules; write "rules: []" for none'],
    ],
    ['name empty', 'name: ""\nrules: []', ['1:7 name is empty']],
    ['name blank', 'name: "  "\nrules: []', ['1:7 name is empty']],
    ['name left out', 'name:\nrules: []', ['1:6 name must be text: put it in quotes']],
    ['name a number', 'name: 12\nrules: []', ['1:7 name must be text: put it in quotes']],
    ['name a list', 'name: [a]\nrules: []', ['1:7 name must be text']],
    ['name with a line end', 'name: "a\\nb"\nrules: []', ['1:7 name must not contain a line break or a tab']],
    ['name with a trailing space', 'name: "a "\nrules: []', ['1:7 name must not begin or end with a space']],
    ['description a mapping', 'name: P\ndescription: {a: b}\nrules: []', ['2:14 description must be text']],
    ['a control character', 'name: P\ndescription: "\\e"\nrules: []', [`2:14 ${UNSEEN}`]],
    ['a right-to-left override', 'name: P\u202e\nrules: []', [`1:8 ${UNSEEN}`]],
    ['an invisible character in a comment', `${policy(rule())}# \u2066all`, [`5:3 ${UNSEEN}`]],
    ['an invisible character in an expression', policy(rule().replace('tr', 't\u200br')), [`4:14 ${UNSEEN}`]],
    ['a joiner between Latin letters', policy(rule('    message: "Ad\u200ca"\n')), [`5:17 ${UNSEEN}`]],
    ['an escaped invisible character', policy(rule('    message: "a\\u3164"\n')), [`5:14 ${UNSEEN}`]],
    ['unknown default', 'name: P\ndefault: permit\nrules: []', ['2:10 default must be allow or deny']],
    ['default a boolean', 'name: P\ndefault: true\nrules: []', ['2:10 default must be allow or deny']],
    ['quorum zero', 'name: P\nquorum: 0\nrules: []', ['2:9 quorum must be a whole number from 1 to 16']],
    ['quorum over', 'name: P\nquorum: 17\nrules: []', ['2:9 quorum must be a whole number from 1 to 16']],
    ['quorum a fraction', 'name: P\nquorum: 1.5\nrules: []', ['2:9 quorum must be a whole number from 1 to 16']],
    ['quorum a text', 'name: P\nquorum: "2"\nrules: []', ['2:9 quorum must be a whole number from 1 to 16']],
    ['quorum infinite', 'name: P\nquorum: .inf\nrules: []', ['2:9 quorum must be a whole number from 1 to 16']],
    [
      'unknown key',
      'name: P\nrule: []\nrules: []',
      [
        '2:1 "rule" is not a key of a policy; valid keys: name, description, decides, default, quorum, constants, abi, idl, reads, rules, tests',
      ],
    ],
    ['rules a mapping', 'name: P\nrules: {}', ['2:8 rules must be a list']],
    ['rules left out', 'name: P\nrules:', ['2:7 rules must be a list']],
    [
      'a rule that is a text',
      policy('  - deny all\n'),
      ['3:5 a rule must be a mapping with an id and one of allow, deny, require'],
    ],
    [
      'a rule that is null',
      policy('  -\n'),
      ['3:4 a rule must be a mapping with an id and one of allow, deny, require'],
    ],
    ['a rule without id', policy('  - allow: "true"\n'), ['3:5 the rule has no id']],
    [
      'an id with capitals',
      policy('  - id: Rule\n    allow: "true"\n'),
      ['3:9 id must consist of a-z, 0-9, "-" and "_"'],
    ],
    [
      'an id with other letters',
      policy('  - id: ré\n    allow: "true"\n'),
      ['3:9 id must consist of a-z, 0-9, "-" and "_"'],
    ],
    ['an id twice', policy(`${rule()}${rule()}`), ['5:9 the id "a" is already used by rule 1']],
    ['no expression', policy('  - id: a\n'), ['3:5 the rule needs one of allow, deny, require']],
    ['two expressions', policy(rule('    deny: "true"\n')), ['5:11 the rule already has "allow": remove one of them']],
    [
      'three expressions',
      policy(rule('    deny: "true"\n    require: "true"\n')),
      [
        '5:11 the rule already has "allow": remove one of them',
        '6:14 the rule already has "allow": remove one of them',
      ],
    ],
    [
      'an expression that is a boolean',
      policy('  - id: a\n    deny: true\n'),
      ['4:11 deny must be text: put it in quotes'],
    ],
    ['an empty expression', policy('  - id: a\n    deny: ""\n'), ['4:11 deny is empty']],
    [
      'a misspelt kind',
      policy('  - id: a\n    denny: "true"\n'),
      [
        '3:5 the rule needs one of allow, deny, require',
        '4:5 "denny" is not a key of a rule; valid keys: id, allow, deny, require, code, message',
      ],
    ],
    [
      'a code in lower case',
      policy(rule('    code: denied\n')),
      ['5:11 code must be upper snake case, for example LIMIT_EXCEEDED'],
    ],
    [
      'a code with a trailing line',
      policy(rule('    code: "A_"\n')),
      ['5:11 code must be upper snake case, for example LIMIT_EXCEEDED'],
    ],
    ['a code that is a number', policy(rule('    code: 451\n')), ['5:11 code must be text: put it in quotes']],
    ['an empty message', policy(rule('    message: ""\n')), ['5:14 message is empty']],
  ]
  test.each(table.map((row) => [...row] as const))('%s', (_name, source, expected) => {
    expect(mistakes(source)).toEqual([...expected])
  })
})

describe('a slip in YAML is explained once', () => {
  const wordsOf = (source: string): string[] =>
    issuesOf(() => parsePolicyDocument(source)).map(({ line, message }) => `${line} ${message}`)
  const rulesOf = (lines: string): string => `name: P\nrules:\n  - id: a\n${lines}`

  test.each([
    ['a key too far left', rulesOf('    deny: x\n   code: X\n    message: m\n'), 5],
    ['a key too far right', rulesOf('    deny: x\n     code: X\n    message: m\n'), 5],
    ['a key too far right, after quotes', rulesOf('    deny: "x"\n     code: X\n    message: m\n'), 5],
    ['a key at the place of the list', rulesOf('    deny: x\n  code: X\n    message: m\n'), 5],
    ['a key before the others', rulesOf('   deny: x\n  - id: b\n    allow: y\n'), 4],
    ['a first name too far right', 'name: P\n rules:\n  - id: a\n    deny: x\n', 2],
  ])('%s', (_, source, line) => {
    expect(wordsOf(source)).toEqual([`${line} check the indentation of line ${line}`])
  })

  test('a colon in a text, each time', () => {
    const quotes = 'put the value in quotes: it contains ": "'
    expect(wordsOf(rulesOf('    deny: x == y: z\n    message: Hi: there\n'))).toEqual([`4 ${quotes}`, `5 ${quotes}`])
  })
})

describe('YAML beyond plain data is refused', () => {
  test('a key twice, in a mapping, in a rule and in JSON', () => {
    expect(mistakes('name: P\nname: Q\nrules: []')).toEqual(['2:1 duplicate key "name"'])
    expect(mistakes(policy('  - {id: a, deny: "false", "deny": "true"}\n'))).toEqual(['3:28 duplicate key "deny"'])
    expect(mistakes('{"name":"P","rules":[],"rules":[]}')).toEqual(['1:24 duplicate key "rules"'])
  })

  test('anchors and aliases', () => {
    expect(mistakes('name: &n P\ndescription: *n\nrules: []')).toEqual(
      ['1:10 anchors (&) are not allowed', '2:14 aliases (*) are not allowed', '2:1 description must be text'].sort(),
    )
  })

  test('an expansion bomb, without expanding it', () => {
    const bomb = `a: &a [x,x,x,x]\n${'bcdefghijklm'
      .split('')
      .map((key, i) => `${key}: &${key} [${Array(9).fill(`*${'abcdefghijklm'[i]}`).join(',')}]`)
      .join('\n')}`
    expect(mistakes(bomb).some((mistake) => mistake.includes('aliases (*) are not allowed'))).toBe(true)
  })

  test('tags, directives, merge keys, several documents, keys that are not text', () => {
    expect(mistakes('name: !!str P\nrules: []')).toEqual(['1:13 tags (!) are not allowed'])
    expect(mistakes('%YAML 1.1\n---\nname: P\nrules: []')).toEqual(['1:1 directives (%) are not allowed'])
    expect(mistakes('name: P\n<<: {default: allow}\nrules: []')[0]).toStartWith('2:1 "<<" is not a key')
    expect(mistakes('name: P\nrules: []\n---\nname: Q\n')[0]).toStartWith('3:1 ')
    expect(mistakes('name: P\n5: x\nrules: []')).toEqual(['2:1 a key must be text'])
    expect(mistakes('name: P\n? [a]\n: x\nrules: []')).toEqual(['2:3 a key must be text'])
  })

  test('broken text, without guessing at the rest', () => {
    expect(mistakes('name: "P\nrules: []')).toHaveLength(1)
    expect(mistakes('name: P\n\trules: []')).toHaveLength(1)
    for (const mistake of mistakes('{"name": "P", "rules": [}')) expect(mistake).toStartWith('1:25 ')
  })

  test('a key that looks like part of every object', () => {
    for (const key of ['__proto__', 'constructor', 'toString']) {
      expect(mistakes(`name: P\n${key}: {default: allow}\nrules: []`)[0]).toStartWith(`2:1 "${key}" is not a key`)
    }
  })

  test('more than a policy needs', () => {
    expect(mistakes(`name: P\nrules: []\n# ${'x'.repeat(256 * 1024)}`)).toEqual([
      '1:1 a policy can have at most 256 KiB',
    ])
    // Counted in bytes.
    expect(mistakes(`name: P\nrules: []\n# ${'é'.repeat(130 * 1024)}`)).toEqual([
      '1:1 a policy can have at most 256 KiB',
    ])
    const tooMuch = ['1:1 the document has too many parts or is nested too deeply']
    expect(mistakes('['.repeat(100_000))).toEqual(tooMuch)
    expect(mistakes('- '.repeat(100_000))).toEqual(tooMuch)
    for (const nested of ['- ', '? ', ': ', '[', '{a: ', '? - ']) {
      expect([nested, mistakes(nested.repeat(65))]).toEqual([nested, tooMuch])
      expect([nested, mistakes(nested.repeat(30))]).not.toEqual([nested, tooMuch])
    }
    expect(mistakes('#\n'.repeat(100_000))).toEqual(tooMuch)
    expect(mistakes(Array.from({ length: 15_000 }, (_, i) => `k${i}: 1`).join('\n'))).toEqual(tooMuch)
  })

  test('documents after the second one are not composed', () => {
    using composed = spyOn(Composer.prototype, 'next')
    expect(mistakes('---\n'.repeat(9_000))).toEqual([
      '2:1 a policy must be a single document: remove the second document',
    ])
    expect(composed.mock.calls.length).toBeLessThan(5)
  })
})

describe('the error', () => {
  const source = 'name: P\ndefault: maybe\nrules:\n\t- x: 1\n'.replace('\t', '  ')

  test('names every mistake at once, in reading order, with pointers', () => {
    expect(issuesOf(() => parsePolicyDocument(source)).map(({ line, pointer }) => [line, pointer])).toEqual([
      [2, '/default'],
      [4, '/rules/0/x'],
      [4, '/rules/0'],
      [4, '/rules/0'],
    ])
  })

  test('escapes pointers', () => {
    const [issue] = issuesOf(() => parsePolicyDocument('name: P\na/b~c: 1\nrules: []'))
    expect(issue?.pointer).toBe('/a~1b~0c')
  })

  test('shows the line with a caret', () => {
    const error = thrownBy(() => parsePolicyDocument('name: P\ndefault: maybe\nrules: []'))
    expect(error).toBeInstanceOf(PolicyInvalidError)
    const { message, detail, code } = error as PolicyInvalidError
    expect(message).toBe('2:10 /default default must be allow or deny\n    default: maybe\n             ^')
    expect(code).toBe('INVALID_REQUEST')
    expect(detail).toBe('the policy has 1 mistake')
  })

  test('keeps tabs under tabs and cuts long lines around the caret', () => {
    const tabbed = thrownBy(() => parsePolicyDocument('{"name": "P",\n\t"rules": 5}')) as PolicyInvalidError
    expect(tabbed.message).toContain('\n    \t"rules": 5}\n    \t         ^')
    const long = thrownBy(() =>
      parsePolicyDocument(`{"name": "P", "description": "${'d'.repeat(3000)}", "rules": 5}`),
    ) as PolicyInvalidError
    const [, shown = '', caret = ''] = long.message.split('\n')
    expect(shown.length).toBeLessThan(130)
    expect(shown[caret.indexOf('^')]).toBe('5')
  })

  test('reports at most a hundred mistakes', () => {
    const source = `name: P\n${Array.from({ length: 500 }, (_, i) => `k${i}: 1\n`).join('')}rules: []`
    expect(issuesOf(() => parsePolicyDocument(source))).toHaveLength(100)
  })
})
