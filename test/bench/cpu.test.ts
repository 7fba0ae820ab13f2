import { describe, expect, test } from 'bun:test'
import { cpuBetween, parsePsTime, parseStatTicks, processCpuTime } from '../../bench/cpu.ts'

describe('CPU time of a process', () => {
  test('a stat line whose command holds spaces and brackets', () => {
    const stat = '42 (a (b) c) S 1 42 42 0 -1 4194304 1 0 0 0 310 25 9 9 20 0 4 0 100 1 1'
    expect(parseStatTicks(stat)).toBe(335)
  })

  test('a line that is none', () => {
    expect(() => parseStatTicks('nothing')).toThrow()
  })

  test.each([
    ['0:01.50', 1_500_000],
    ['  02:03', 123_000_000],
    ['1:00:00', 3_600_000_000],
    ['2-00:00:01', 172_801_000_000],
  ])('ps: %s', (text, microseconds) => {
    expect(parsePsTime(text)).toBe(microseconds)
  })

  test('this process has used some', () => {
    expect(processCpuTime(process.pid)?.total).toBeGreaterThan(0)
  })

  test('between two readings', () => {
    const before = { total: 100, mainThread: 40 }
    expect(cpuBetween(before, { total: 150, mainThread: 60 })).toEqual({ total: 50, mainThread: 20 })
    expect(cpuBetween(before, { total: 150, mainThread: null })).toEqual({ total: 50, mainThread: null })
    expect(cpuBetween(null, before)).toBeNull()
    expect(cpuBetween(before, null)).toBeNull()
  })

  test('a process that is not there is unknown, not free', () => {
    // Above the largest process id that Linux or macOS hands out.
    expect(processCpuTime(99_999_999)).toBeNull()
  })
})
