// Several processes: who leads, who lives, the supervisor.
import { type Place, placesOf } from '../place.ts'

const LEADER = ['test/cluster/leader.test.ts', 'test/cluster/leader-slow-store.test.ts']
const SUPERVISOR = ['test/cluster/process-supervisor.test.ts']

export const processes: readonly Place[] = [
  ...placesOf(LEADER, 'src/cluster/leader.ts', [
    [
      'a renewal is trusted from its answer on',
      'const sentMs = clock.monotonicMs()\n    const renewed = await lease.renew(id, held)',
      'const renewed = await lease.renew(id, held)\n    const sentMs = clock.monotonicMs()',
    ],
    [
      'a lease is trusted from its answer on',
      'const sentMs = clock.monotonicMs()\n    const won = await lease.take(id, seen)',
      'const won = await lease.take(id, seen)\n    const sentMs = clock.monotonicMs()',
    ],
    ['duties begin after the lease was lost', 'if (leads() && term === won.term) for', 'for'],
    ['an answer that took too long makes a leader', 'if (clock.monotonicMs() >= sentMs + TRUSTED_MS) return', ''],
    ['a lease that stood still for too short is taken', 'const TAKEN_OVER_MS = 5_500', 'const TAKEN_OVER_MS = 3_000'],
    ['duties go on after the lease ended', '      if (!leads()) lose()\n    })', '    })'],
    ['a stopping process takes the lease', 'if (stopped) return\n    const sentMs', 'const sentMs'],
    ['what another holds is taken without a wait', 'if (!free && (!same ||', 'if (!free && (same &&'],
    ['the lease is given up before the duties have stopped', '      await atWork\n      if (held', '      if (held'],
  ]),
  ...placesOf(SUPERVISOR, 'src/cluster/process-supervisor.ts', [
    ['a process that dies is left alone', 'place.cancelRestart = after(delayMs, () => startIn(place))', ''],
    [
      'a process that dies at once is started again at once',
      'BACKOFF_MS * 2 ** Math.max(0, place.failures - 1)',
      'BACKOFF_MS',
    ],
    ['a backoff never ends', 'place.failures = settled ? 0 : place.failures + 1', 'place.failures += 1'],
    [
      'a silent process is left',
      "      process.kill('SIGKILL')\n      return\n    }\n    if (ready)",
      '      return\n    }\n    if (ready)',
    ],
    [
      'one that does not stop is waited for',
      "      process.kill('SIGKILL')\n    })\n    process.kill('SIGTERM')",
      "    })\n    process.kill('SIGTERM')",
    ],
    [
      'all are replaced though the first did not start',
      '      place.failures = 1\n      place.cancelRestart = after(BACKOFF_MAX_MS, () => startIn(place))\n      return false',
      '      place.failures = 1\n      place.cancelRestart = after(BACKOFF_MAX_MS, () => startIn(place))',
    ],
    ['a failed start leaves the others', '      await stop()\n      throw error', '      throw error'],
  ]),
  ...placesOf(['test/cluster/live-processes.test.ts'], 'src/cluster/live-processes.ts', [
    [
      'a process that is gone counts',
      'lastReadMs - atMs < GONE_MS ? [other] : []',
      'lastReadMs - atMs >= 0 ? [other] : []',
    ],
    ['a beat that stands still counts as new', 'if (seen.get(row.id)?.beat !== row.beat) seen.set', 'seen.set'],
  ]),
  ...placesOf(['test/cluster/end-with-supervisor.test.ts'], 'src/cluster/end-with-supervisor.ts', [
    ['an orphan whose supervisor ended earlier lives on', 'if (host.ppid !== supervisorPid) endOrphaned()', ''],
    ['a closed channel is not noticed', "host.on('disconnect', endOrphaned)", ''],
  ]),
]
