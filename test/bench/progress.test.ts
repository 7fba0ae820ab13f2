// Progress lines of the benchmark.
import { expect, test } from 'bun:test'
import { createProgress } from '../../bench/progress.ts'

test('steps show the remaining time of their section after its first step', () => {
  const lines: string[] = []
  let nowMs = 0
  const progress = createProgress({ isTTY: false, write: (text: string) => lines.push(text) > 0 }, () => nowMs)
  nowMs = 10_000
  progress.section(4)
  progress.step('first')
  nowMs = 30_000
  progress.finished()
  progress.step('second')
  nowMs = 40_000
  progress.step('within the second')
  nowMs = 330_000
  progress.finished()
  progress.step('third')
  expect(lines).toEqual([
    '  10s first\n',
    '  30s (60 s left) second\n',
    '  40s (50 s left) within the second\n',
    ' 330s (5 min left) third\n',
  ])
})
