// Lines and columns of mistakes inside expressions, for every YAML style.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import { finish } from '../../src/policy/cel/steps.ts'
import { readPolicyDocument } from '../../src/policy/document/document.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { issuesOf, NO_PARTS, thrownBy } from './support.ts'

/** The position of `nope` in a document: as reported, and as found in the text. */
const positions = (document: string): { reported: string; actual: string } => {
  const [issue] = issuesOf(() => compilePolicy(document))
  const before = document.slice(0, document.indexOf('nope')).split('\n')
  return { reported: `${issue?.line}:${issue?.column}`, actual: `${before.length}:${(before.at(-1)?.length ?? 0) + 1}` }
}

const policyWith = (expression: string): string => `name: P\nrules:\n  - id: a\n    deny: ${expression}\n`

describe('the position of an unknown name', () => {
  test.each([
    ['plain', policyWith('chain.id == 1 || nope == 2')],
    ['plain over two lines', policyWith('chain.id == 1 ||\n      nope == 2')],
    ['plain over a blank line', policyWith('chain.id == 1 ||\n\n      nope == 2')],
    ['single quotes', policyWith(`'chain.name == "a" || nope == 2'`)],
    ['single quotes with a doubled quote', policyWith(`'chain.name == ''a'' || nope == 2'`)],
    ['single quotes over two lines', policyWith(`'chain.name == ''a'' ||\n      nope == 2'`)],
    ['double quotes with escaped quotes', policyWith('"chain.name == \\"a\\" || nope == 2"')],
    ['double quotes with escapes', policyWith('"chain.name == \'\\u0041\\x41\\U00000041\' || nope == 2"')],
    ['double quotes with a surrogate pair', policyWith('"chain.name == \'\\U0001F600\' || nope == 2"')],
    ['double quotes with an escaped pair', policyWith('"chain.name == \'\\ud83d\\ude00\' || nope == 2"')],
    ['double quotes with an escaped line end', policyWith('"chain.id == 1 || \\\n      nope == 2"')],
    ['double quotes with a written line end', policyWith('"chain.id == 1 ||\\n nope == 2"')],
    ['double quotes over lines', policyWith('"chain.id == 1\n\n      || nope == 2"')],
    ['literal block', policyWith('|\n      chain.id == 1 ||\n        nope == 2\n')],
    ['literal block, deeper first line', policyWith('|2\n      chain.id == 1 ||\n    nope == 2\n')],
    ['literal block, stripped, with a comment', policyWith('|- # why\n      chain.id == 1 ||\n\n      nope == 2\n')],
    ['folded block', policyWith('>\n      chain.id == 1 ||\n      nope == 2\n')],
    ['folded block, kept, with blank lines', policyWith('>+\n      chain.id == 1 ||\n\n\n      nope == 2\n\n')],
    ['folded block with a deeper line', policyWith('>-\n      chain.id == 1 ||\n        nope == 2\n      || true')],
    ['JSON', '{"name":"P","rules":[{"id":"a","deny":"chain.name == \\"\\u00e9\\" || nope == 1"}]}'],
  ])('%s', (_name, document) => {
    for (const text of [document, document.replaceAll('\n', '\r\n')]) {
      const { reported, actual } = positions(text)
      expect(reported).toBe(actual)
    }
  })
})

test('each character of an expression is found in the document, in every YAML style', () => {
  const word = fc.constantFrom('a', 'b"c', "d'e", 'f\\g', '#h', ': i', '- j', '😀', 'é', '\t', '\u0001')
  const gap = fc.constantFrom(' ', '  ', '\n', '\n\n', ' \n')
  const text = fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 12 }).map((parts) => parts.flat().join(''))
  const style = fc.constantFrom('BLOCK_FOLDED', 'BLOCK_LITERAL', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN')
  fc.assert(
    fc.property(text, style, fc.integer({ min: 20, max: 80 }), (written, defaultStringType, lineWidth) => {
      const source = stringify(
        { name: 'P', rules: [{ id: 'a', deny: written }] },
        { defaultStringType: defaultStringType as 'PLAIN', lineWidth, defaultKeyType: 'PLAIN' },
      )
      const reading = finish(readPolicyDocument(source))
      const [rule] = reading.rules
      if (rule === undefined) return // An expression of only spaces is refused as empty.
      // Folding may have changed the expression.
      const { expression } = rule.rule
      const lines = source.split('\n')
      for (let i = 0; i < expression.length; i++) {
        const character = expression[i]!
        // Escapes have another spelling in the source. The positions of other characters must be exact.
        if (!/[a-z😀é]/u.test(character) || /[\ud800-\udfff]/.test(character)) continue
        const { line, column } = reading.expressionIssue(rule, i, '')
        const hit = lines[line - 1]?.[column - 1]
        expect(hit === character || hit === '\\').toBe(true)
      }
    }),
    { numRuns: 300 },
  )
})

test('mistakes in the form and in expressions are reported together, with carets', () => {
  const source = `name: P
quorum: 99
rules:
  - id: a
    deny: |
      chain.id == 1 &&
      wallet.address == "0x00"
  - id: b
    deny: tx.value >
    code: lower
`
  const error = thrownBy(() => compilePolicy(source)) as PolicyInvalidError
  expect(error).toBeInstanceOf(PolicyInvalidError)
  expect(error.message).toBe(`2:9 /quorum quorum must be a whole number from 1 to 16
    quorum: 99
            ^
7:7 /rules/0/deny no such overload: address == string: write addresses as address("…")
          wallet.address == "0x00"
          ^
9:21 /rules/1/deny unexpected end of the expression
        deny: tx.value >
                        ^
10:11 /rules/1/code code must be upper snake case, for example LIMIT_EXCEEDED
        code: lower
              ^`)
})

test('a parsed document is refused with positions inside its expressions', () => {
  const rule = { id: 'a', kind: 'deny', expression: 'true ||\n nope', code: null, message: null } as const
  const document = { name: 'P', description: '', default: 'deny', quorum: 1, ...NO_PARTS, rules: [rule] } as const
  const known = 'wallet, onBehalf, chain, target, tx, call, request, client, identity, constants, reads, velocity'
  const message = `unknown name "nope"; known names: ${known}`
  expect(issuesOf(() => compilePolicy(document))).toEqual([{ line: 2, column: 2, pointer: '/rules/0/deny', message }])
})
