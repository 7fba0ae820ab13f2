// Measured CPU time of processes.
import { describe, expect, test } from 'bun:test'
import { cpuBetween, parsePsTime, parseStat, processCpuTime } from '../../bench/cpu.ts'

describe('CPU time of a process', () => {
  test('is parsed from a stat line with spaces and parentheses in the command', () => {
    const stat = '42 (a (b) c) S 1 42 42 0 -1 4194304 1 0 0 0 310 25 9 9 20 0 4 0 100 1 1'
    expect(parseStat(stat)).toEqual({ ticks: 335, nice: 0 })
  })

  test('is not parsed from an invalid line', () => {
    expect(() => parseStat('nothing')).toThrow()
  })

  test.each([
    ['0:01.50', 1_500_000],
    ['  02:03', 123_000_000],
    ['1:00:00', 3_600_000_000],
    ['2-00:00:01', 172_801_000_000],
  ])('is parsed from the ps output %s', (text, microseconds) => {
    expect(parsePsTime(text)).toBe(microseconds)
  })

  test('of this process is positive', () => {
    while (process.cpuUsage().user < 50_000);
    expect(processCpuTime(process.pid)?.total).toBeGreaterThan(0)
  })

  test.skipIf(process.platform !== 'linux')(
    'of a descendant with a lower priority is separate (Linux only)',
    async () => {
      const busy = 'while (process.cpuUsage().user < 200_000); console.log(1); setInterval(() => {}, 1e6)'
      const start = (command: string[]) => Bun.spawn(command, { stdout: 'pipe', stderr: 'ignore' })
      const child = start(['nice', '-n', '5', process.execPath, '-e', busy])
      try {
        await child.stdout.getReader().read()
        const used = processCpuTime(process.pid)
        expect(used?.yielding).toBeGreaterThan(100_000)
        expect(processCpuTime(child.pid)?.yielding).toBe(0)
      } finally {
        child.kill('SIGKILL')
        await child.exited
      }
    },
  )

  test('is the difference of two readings', () => {
    const before = { total: 100, yielding: 5, mainThread: 40 }
    const after = { total: 150, yielding: 7, mainThread: 60 }
    expect(cpuBetween(before, after)).toEqual({ total: 50, yielding: 2, mainThread: 20 })
    expect(cpuBetween(before, { ...after, mainThread: null })).toEqual({ total: 50, yielding: 2, mainThread: null })
    expect(cpuBetween(null, before)).toBeNull()
    expect(cpuBetween(before, null)).toBeNull()
  })

  test('of an unknown process is null', () => {
    // Above the largest process id of Linux and macOS.
    expect(processCpuTime(99_999_999)).toBeNull()
  })
})
