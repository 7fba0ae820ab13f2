// The number of processors within the limits of the system.
import { expect, test } from 'bun:test'
import { countProcessors, parseQuota } from '../../src/config/process-plan.ts'

const reading = (files: Readonly<Record<string, string>>) => (path: string) => files[path] ?? null

test.each<[string, Readonly<Record<string, string>>, number]>([
  ['no files', {}, 16],
  ['no limit', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 16],
  ['a container limit', { '/sys/fs/cgroup/cpu.max': '250000 100000\n' }, 3],
  ['a limit below one', { '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
  ['a limit above the machine', { '/sys/fs/cgroup/cpu.max': '6400000 100000\n' }, 16],
  [
    'a limit of a parent group',
    {
      '/proc/self/cgroup': '0::/system.slice/countersign.service\n',
      '/sys/fs/cgroup/system.slice/cpu.max': '400000 100000\n',
      '/sys/fs/cgroup/system.slice/countersign.service/cpu.max': '800000 100000\n',
    },
    4,
  ],
  [
    'version 1',
    { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '200000\n', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
    2,
  ],
  [
    'version 1 without a limit',
    { '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
    16,
  ],
])('%s', (_name, files, expected) => {
  expect(countProcessors(reading(files), () => 16)).toBe(expected)
})

test.each(['', 'max 100000', '0 100000', '100000 0', '100000', 'x y', '-1 100000'])('%p is not a quota', (text) => {
  expect(parseQuota(text)).toBeNull()
})

test('this machine has at least one processor', () => expect(countProcessors()).toBeGreaterThanOrEqual(1))
