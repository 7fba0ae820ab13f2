// CPU time that the host gave to other virtual machines (steal time).
import { expect, test } from 'bun:test'
import { parseProcessorTimes, stolenPercent, watchStolenTime } from '../../bench/stolen-time.ts'

const statOf = (user: number, idle: number, stolen: number): string =>
  `cpu  ${user} 0 0 ${idle} 0 0 0 ${stolen} 999 0\ncpu0 1 2 3 4 5 6 7 8 9 0\nintr 1 2 3\n`

test('is the sum over all processors, excluding guest time', () => {
  expect(parseProcessorTimes(statOf(60, 30, 10))).toEqual({ all: 100, stolen: 10 })
  for (const text of ['', 'cpu0 1 2 3 4 5 6 7 8\n', 'cpu  1 2 3\n', 'cpu  1 2 3 4 x 6 7 8\n'])
    expect(() => parseProcessorTimes(text)).toThrow()
})

test('is a percentage of the time between two readings', () => {
  const before = { all: 1_000, stolen: 100 }
  expect(stolenPercent(before, { all: 1_200, stolen: 150 })).toBe(25)
  expect(stolenPercent(before, before)).toBe(0)
})

test('is the difference from the previous reading, and null on systems that do not report it', () => {
  const texts = [statOf(0, 0, 0), statOf(90, 0, 10), statOf(180, 0, 20), statOf(280, 0, 20)]
  const watch = watchStolenTime(() => texts.shift() ?? '', 'linux')
  expect([watch.since(), watch.since(), watch.since()]).toEqual([10, 10, 0])
  expect(watchStolenTime(() => '', 'darwin').since()).toBeNull()
})

test.skipIf(process.platform !== 'linux')('of this machine is a percentage', () => {
  expect(watchStolenTime().since()).toBeWithin(0, 100.001)
})
