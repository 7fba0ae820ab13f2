// What the policy pages work out themselves: the pages are tested in test/long/dashboard.
import { describe, expect, test } from 'bun:test'
import { diffLines, withContext } from '../../src/dashboard/page/policies/line-diff.ts'
import { exampleFacts, parseFacts } from '../../src/modules/policy-lab/pages/trial-facts.ts'

describe('what the pages work out themselves', () => {
  test('a difference of lines gives both texts back, and is as short as it can be', () => {
    const before = 'a\nb\nc\nd\ne'
    const after = 'a\nc\nx\nd\ne\nf'
    const lines = diffLines(before, after)
    const of = (side: 'before' | 'after') => lines.filter((line) => line[side] !== null).map(({ text }) => text)
    expect(of('before').join('\n')).toBe(before)
    expect(of('after').join('\n')).toBe(after)
    expect(lines.filter(({ kind }) => kind !== 'same').map(({ kind, text }) => [kind, text])).toEqual([
      ['removed', 'b'],
      ['added', 'x'],
      ['added', 'f'],
    ])
    expect(diffLines('a', 'a')).toEqual([{ kind: 'same', text: 'a', before: 1, after: 1 }])
  })

  test('lines far from a change are left out, once for each gap', () => {
    const before = Array.from({ length: 20 }, (_line, index) => `line ${index}`)
    const after = before.with(10, 'other')
    const shown = withContext(diffLines(before.join('\n'), after.join('\n')), 2)
    expect(shown.map((line) => line?.text ?? null)).toEqual([
      null,
      'line 8',
      'line 9',
      'line 10',
      'other',
      'line 11',
      'line 12',
      null,
    ])
  })

  test('what sources answer is a JSON object, with the lists apart', () => {
    const lists = { sanctions: { addresses: [], age_seconds: 0 } }
    const facts = { geography: { country: 'US' } }
    expect(parseFacts(exampleFacts({ example_facts: { ...facts, lists } } as never))).toEqual({ facts, lists })
    expect(exampleFacts({ example_facts: {} } as never)).toBe('')
    expect(parseFacts('[]')).toBeNull()
    expect(parseFacts('{')).toBeNull()
    expect(parseFacts(' ')).toEqual({})
  })
})
