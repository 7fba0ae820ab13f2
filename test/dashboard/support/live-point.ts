// An idle second of the live page, with the changes of a test.
import type { LivePoint } from '../../../src/dashboard/page/api/types.ts'

export const point = (change: Partial<LivePoint>): LivePoint => ({
  at: 0,
  seconds: 1,
  decisions: { compliant: 0, denied: 0 },
  decisions_by_chain: {},
  errors: {},
  refused: 0,
  failed: 0,
  latency_ms: null,
  queue_wait_ms: null,
  run_ms: null,
  event_loop_ms: null,
  workers: { live: 2, busy: 0, wanted: 2, abandoned: 0, utilization: 0 },
  queue: { waiting: 0, limit: 10, in_flight: 0 },
  jobs: { answered: 0, refused: 0, expired: 0, failed: 0, withheld: 0 },
  cpu: { cores: 0, per_decision_us: null },
  memory_bytes: 0,
  active_requests: 0,
  streams: 0,
  ...change,
})
