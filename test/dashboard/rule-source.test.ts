// The source of a rule in its document, as the page of a decision shows it.
import { expect, test } from 'bun:test'
import { ruleSource } from '../../src/dashboard/page/decisions/rule-source.ts'

const SOURCE = `name: Demo
rules:
  # Nobody from there.
  - id: geography
    deny: ip.country in ["KP"] # id: other
    code: NOT_THERE

  - deny: >
      chain.name == "base"
    id: "other"
tests:
  - id: geography
`

test('a rule is found with its comments by its id anywhere in the rule', () => {
  expect(ruleSource(SOURCE, 'geography')).toBe(
    '# Nobody from there.\n- id: geography\n  deny: ip.country in ["KP"] # id: other\n  code: NOT_THERE',
  )
  expect(ruleSource(SOURCE, 'other')).toBe('- deny: >\n    chain.name == "base"\n  id: "other"')
  expect(ruleSource('rules:\n- id: a\n  allow: "true"\n- id: b\n', 'a')).toBe('- id: a\n  allow: "true"')
  expect(ruleSource(SOURCE, 'absent')).toBeNull()
  expect(ruleSource('{"name": "Demo", "rules": [{"id": "geography"}]}', 'geography')).toBeNull()
})

test('only the id of the rule itself counts, and a long line of spaces is fast', () => {
  const source = `rules:
  - message: >
      id: second
    id: first
    deny: "true"
  - id: second # the real one
    deny: "false"
`
  expect(ruleSource(source, 'second')).toBe('- id: second # the real one\n  deny: "false"')
  expect(ruleSource(source, 'first')).toContain('message')
  const startMs = performance.now()
  expect(ruleSource(`rules:\n  - id:${' '.repeat(5_000)}"b" == "c"\n`, 'x')).toBeNull()
  expect(performance.now() - startMs).toBeLessThan(1_000)
})
