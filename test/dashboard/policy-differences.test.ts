// Computations of the policy pages, which are tested in test/long/dashboard.
import { expect, test } from 'bun:test'
import { diffLines, withContext } from '../../src/dashboard/page/policies/line-diff.ts'
import { exampleFacts, parseFacts } from '../../src/modules/policy-lab/pages/trial-facts.ts'

test('a difference of lines contains both texts and is minimal', () => {
  const before = 'a\nb\nc\nd\ne'
  const after = 'a\nc\nx\nd\ne\nf'
  const lines = diffLines(before, after)
  const textOf = (side: 'before' | 'after') =>
    lines.flatMap((line) => (line[side] === null ? [] : [line.text])).join('\n')
  expect([textOf('before'), textOf('after')]).toEqual([before, after])
  const changed = lines.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => `${kind} ${text}`)
  expect(changed).toEqual(['removed b', 'added x', 'added f'])
  expect(diffLines('a', 'a')).toEqual([{ kind: 'same', text: 'a', before: 1, after: 1 }])
})

test('lines far from a change are collapsed to one gap', () => {
  const before = Array.from({ length: 20 }, (_line, index) => `line ${index}`)
  const after = before.with(10, 'other')
  const shown = withContext(diffLines(before.join('\n'), after.join('\n')), 2).map((line) => line?.text ?? null)
  expect(shown).toEqual([null, 'line 8', 'line 9', 'line 10', 'other', 'line 11', 'line 12', null])
})

test('facts of a trial are a JSON object, and lists are separate', () => {
  const lists = { sanctions: { addresses: [], age_seconds: 0 } }
  const facts = { geography: { country: 'US' } }
  expect(parseFacts(exampleFacts({ example_facts: { ...facts, lists } } as never))).toEqual({ facts, lists })
  expect(exampleFacts({ example_facts: {} } as never)).toBe('')
  expect([parseFacts('[]'), parseFacts('{'), parseFacts(' ')]).toEqual([null, null, {}])
})
