// Log lines of failed rules: at most one per second and rule position, without request values.
import { expect, test } from 'bun:test'
import { createThrottle } from '../../src/lib/throttle.ts'
import { logPoolEvent, type PoolEvent } from '../../src/pool/pool-options.ts'

test('a failed rule is logged with its policy, revision and fact, once per second', () => {
  const lines: unknown[] = []
  const write = (message: string, fields: object = {}): void => void lines.push({ message, ...fields })
  const log = { info: write, warn: write, error: write }
  let nowMs = 0
  const throttle = createThrottle({ monotonicMs: () => nowMs })
  const place = { policy: 'policy_a', revision: 'revision_a', rule: 'listed' } as const
  const event: PoolEvent = {
    type: 'rule-failed',
    requestId: 'request',
    uuid: 'uuid',
    reason: 'absent',
    subject: 'call.args.to',
    ...place,
  }
  for (const rule of ['listed', 'listed', 'other']) logPoolEvent(log, throttle, { ...event, rule })
  nowMs = 1_000
  logPoolEvent(log, throttle, event)
  const line = { ...event, message: 'a rule could not be evaluated', type: undefined }
  expect(lines).toEqual([
    { ...line, unlogged: 0 },
    { ...line, rule: 'other', unlogged: 0 },
    { ...line, unlogged: 1 },
  ])
})
