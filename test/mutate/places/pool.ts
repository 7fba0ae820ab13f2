// The pool of signing workers: queues, deadlines, dispatch, what becomes of a lost worker's jobs.
import { type Place, placesOf } from '../place.ts'

export const pool: readonly Place[] = [
  ...placesOf(
    [
      'test/pool/settlement.test.ts',
      'test/pool/deadline.test.ts',
      'test/pool/dispatch.test.ts',
      'test/pool/loss.test.ts',
    ],
    'src/pool/settlement.ts',
    [
      [
        'an answer past the deadline is sent',
        'if (entry.job.deadlineMs <= nowMs) {\n        expire(entry, nowMs)\n        return false\n      }',
        '',
      ],
      ['a job is answered twice', 'if (entry.settled) return false', ''],
      [
        'an expired job that a worker holds has signed nothing',
        'nothingSigned: !entry.mayBeSigned',
        'nothingSigned: true',
      ],
    ],
  ),
  ...placesOf(['test/pool/lease.test.ts'], 'src/pool/pool.ts', [
    [
      'a worker keeps the jobs of before its lease ended',
      'if (ended && handle.inFlight.size > 0) handle.recalled = true',
      '',
    ],
  ]),
  ...placesOf(['test/workers/attest.test.ts'], 'workers/signing/attest.ts', [
    ['a worker decides without a lease', 'hasLease(words, clock) ? decide(job)', 'true ? decide(job)'],
  ]),
  ...placesOf(
    ['test/pool/dispatch.test.ts', 'test/pool/loss.test.ts', 'test/pool/deadline.test.ts'],
    'src/pool/dispatcher.ts',
    [
      ['a job past its deadline goes out', 'if (entry.job.deadlineMs <= nowMs) {', 'if (entry.job.deadlineMs < 0) {'],
      [
        'a suspect goes out beside other jobs',
        'if (reserved === null || reserved.inFlight.size > 0) return',
        'if (reserved === null) return',
      ],
      ['two suspects are out at once', 'if (suspectOut !== null) return', ''],
      [
        'a worker that is leaving gets jobs',
        'if (!takesJobs(handle) || handle === reserved || handle.inFlight.size >= load) continue',
        'if (handle === reserved || handle.inFlight.size >= load) continue',
      ],
      [
        'the most loaded worker gets the next job',
        'load = handle.inFlight.size\n    }\n    return best',
        'load = depth\n    }\n    return best',
      ],
    ],
  ),
  ...placesOf(['test/pool/deadlines.test.ts'], 'src/pool/deadlines.ts', [
    [
      'an earlier deadline that comes later is not waited for',
      'before.job.deadlineMs > entry.job.deadlineMs) before = before.earlier',
      'before.job.deadlineMs < 0) before = before.earlier',
    ],
    ['the next deadline is not waited for', '      expire(entry)\n    }\n    arm()', '      expire(entry)\n    }'],
  ]),
  ...placesOf(['test/pool/fair-queue.test.ts'], 'src/pool/fair-queue.ts', [
    [
      'an organization takes every turn',
      '          lane.credit = lane.weight\n          turn = (turn + 1) % active.length',
      '          lane.credit = lane.weight',
    ],
    [
      'a full queue displaces the shortest',
      'if (lane.queue.size / lane.weight <= length) continue',
      'if (lane.queue.size / lane.weight >= length) continue',
    ],
    ['the oldest job is displaced', '?.queue.takeTail() ?? null', '?.queue.shift() ?? null'],
  ]),
  ...placesOf(['test/pool/admission.test.ts'], 'src/pool/admission.ts', [
    ['a job that would be late is taken', 'if (lateMs > 0) return refusalOf(lateMs)', ''],
    ['a full queue takes one more', 'queue.size >= queueLimit', 'queue.size > queueLimit'],
    ['the organization’s share is not looked at', '(workers * share)', 'workers'],
  ]),
  ...placesOf(['test/pool/loss.test.ts'], 'src/pool/recovery.ts', [
    [
      'a job whose record is unknown is tried again',
      "if (unknown) return { action: 'fail', error: unknownRecord(), withhold: true }",
      '',
    ],
    [
      'an append that may be under way is not waited for',
      'recovered === null || (answer === undefined && !logIsFinal)',
      'recovered === null',
    ],
    ['a job kills one more worker', 'if (entry.kills < limits.maxKills)', 'if (entry.kills <= limits.maxKills)'],
    [
      'what a lost worker had recorded is signed again',
      "if (answer !== undefined) return { action: 'answer', answer }",
      '',
    ],
    [
      'a recorded answer that was late is not withheld',
      "answer !== undefined || unknown ? 'withhold' : 'nothing'",
      "'nothing'",
    ],
  ]),
  ...placesOf(['test/pool/loss.test.ts'], 'src/pool/lost-jobs.ts', [
    [
      'a recovered answer that is late is not withheld',
      "        else withheld.push(entry.job.uuid)\n      } else if (fate.action === 'fail')",
      "      } else if (fate.action === 'fail')",
    ],
    [
      'a log that does not answer is waited for',
      'return await withTimeout(options.recover(log), limits.recoverTimeoutMs, giveUp, timers.after)',
      'return await options.recover(log)',
    ],
  ]),
  ...placesOf(
    ['test/pool/loss.test.ts', 'test/pool/deadline.test.ts', 'test/pool/supervision.test.ts'],
    'src/pool/withheld.ts',
    [['what a lost worker had not confirmed is forgotten', '      waiting.push(...handle.withheld)\n', '']],
  ),
  ...placesOf(['test/pool/supervision.test.ts', 'test/pool/loss.test.ts'], 'src/pool/hang-monitor.ts', [
    [
      'a stall of this thread is a worker’s hang',
      'for (const handle of options.handles) handle.lastProgressMs = nowMs\n      return',
      '',
    ],
    [
      'an append has no more time than anything',
      'handle.latch() === LATCH_COMMITTING ? limits.commitStallMs : limits.hangMs',
      'limits.hangMs',
    ],
    ['an idle worker hangs', 'if (handle.inFlight.size === 0 || (handle.state', 'if ((handle.state'],
  ]),
  ...placesOf(
    ['test/pool/loss.test.ts', 'test/workers/attest.test.ts', 'test/long/pool/threads.test.ts'],
    'src/pool/protocol.ts',
    [
      [
        'a worker that was given up answers after its append',
        'LATCH_COMMITTING, LATCH_IDLE) === LATCH_COMMITTING',
        'LATCH_COMMITTING, LATCH_IDLE) !== LATCH_IDLE',
      ],
      [
        'a worker inside an append is taken for done',
        '=== LATCH_COMMITTING) return false\n',
        '=== LATCH_COMMITTING) return true\n',
      ],
    ],
  ),
]
