// Metrics in the format of Prometheus: names, labels and values.
import { afterEach, describe, expect, test } from 'bun:test'
import { createChainTable } from '../../src/domain/chain.ts'
import { ERRORS, type ErrorCode } from '../../src/domain/errors.ts'
import { createHistogram } from '../../src/lib/histogram.ts'
import { MODULES } from '../../src/modules.ts'
import { JOB_BOUNDS_MS, type PoolStats } from '../../src/pool/pool-statistics.ts'
import { METRICS, type MetricDefinition } from '../../src/telemetry/metric-table.ts'
import { createMetrics, type Metrics, type MetricsOptions } from '../../src/telemetry/metrics.ts'

let opened: Metrics[] = []
afterEach(() => {
  for (const metrics of opened) metrics.stop()
  opened = []
})

const setUp = (options: Partial<MetricsOptions> = {}): Metrics => {
  const metrics = createMetrics({
    chains: createChainTable().chains.map(({ name }) => name),
    build: { version: '1.2.3', runtime: '9.9.9', signer: 'noble', store: 'sqlite' },
    ...options,
  })
  opened.push(metrics)
  return metrics
}

const poolStats = (): PoolStats => {
  const wait = createHistogram(JOB_BOUNDS_MS)
  const run = createHistogram(JOB_BOUNDS_MS)
  for (const durationMs of [0.01, 0.3, 70_000]) wait.record(durationMs)
  run.record(2)
  return {
    workers: 3,
    busy: 2,
    wanted: 4,
    abandoned: 1,
    queued: 17,
    queueLimit: 1_000,
    inFlight: 40,
    pending: 57,
    restarts: { crash: 5, hang: 6, start: 7 },
    answered: 100,
    refused: 10,
    expired: 9,
    failed: 8,
    withheld: 2,
    shadows: { same: 5, different: 6, failed: 7 },
    wait: wait.snapshot(),
    run: run.snapshot(),
    meanServiceMs: 0.05,
    predictedWaitMs: 0.3,
  }
}

/** Returns the values by sample line. */
const samples = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )

describe('the table', () => {
  const ALL_METRICS: readonly MetricDefinition[] = [
    ...Object.values(METRICS),
    ...MODULES.flatMap(({ metrics = {} }) => Object.values(metrics)),
  ]

  test('contains exactly the exposed metrics, with their types', async () => {
    const text = await setUp().expose()
    const exposed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`)
    const declared = Object.values(METRICS).map(({ name, type }) => `${name} ${type}`)
    expect(exposed.sort()).toEqual(declared.sort())
  })

  test('follows the naming conventions', () => {
    for (const { name, type, help, labels } of ALL_METRICS) {
      expect(name).toMatch(/^(http_server|nodejs|process|countersign)_[a-z_]+$/)
      expect(name.endsWith('_total')).toBe(type === 'counter')
      if (type === 'histogram') expect(name).toEndWith('_seconds')
      expect(help).toMatch(/^[A-Z].*\.$/)
      for (const label of Object.keys(labels)) expect(label).toMatch(/^[a-z_]+$/)
    }
  })

  test('declares the labels of every sample', async () => {
    const metrics = setUp({
      pool: poolStats,
      activeRequests: () => 1,
      changeFeedAgeSeconds: () => 0.2,
      logLinesDropped: () => 0,
    })
    metrics.route('POST', '/v2/attestation')(200, 1)
    metrics.recordDecision('task', 'base', true)
    const labelsOf = new Map<string, readonly string[]>()
    for (const { name, type, labels } of Object.values(METRICS)) {
      const names = Object.keys(labels)
      for (const suffix of type === 'histogram' ? ['_sum', '_count'] : ['']) labelsOf.set(`${name}${suffix}`, names)
      labelsOf.set(`${name}_bucket`, [...names, 'le'])
    }
    for (const line of samples(await metrics.expose()).keys()) {
      const [, name = '', labels = ''] = /^([a-z_]+)(?:\{(.*)\})?$/.exec(line) ?? []
      expect([...labels.matchAll(/([a-z_]+)="/g)].map(([, label]) => label!)).toEqual([...labelsOf.get(name)!])
    }
  })
})

describe('requests', () => {
  test('are counted by route and status, with their durations in seconds', async () => {
    const metrics = setUp()
    const record = metrics.route('POST', '/v2/attestation')
    record(200, 0.2)
    record(200, 3)
    metrics.route('POST', '/v2/attestation')(200, 30_000)
    record(408, 25_001)
    const found = samples(await metrics.expose())
    const route = 'http_request_method="POST",http_route="/v2/attestation"'
    const series = (part: string, status: string, le = '') =>
      found.get(`http_server_request_duration_seconds_${part}{${route},http_response_status_code="${status}"${le}}`)
    expect([series('count', '200'), series('count', '408')]).toEqual([3, 1])
    expect(series('sum', '200')).toBeCloseTo(30.0032)
    const bounds = ['0.00025', '0.0025', '0.005', '25', '+Inf']
    expect(bounds.map((bound) => series('bucket', '200', `,le="${bound}"`))).toEqual([1, 1, 2, 2, 3])
  })

  test('with an invalid status count as status other', async () => {
    const metrics = setUp()
    const record = metrics.route('GET', 'other')
    for (const status of [0, 99, 600, 1.5, Number.NaN, 1e9]) record(status, 1)
    const text = await metrics.expose()
    expect(text).toContain(
      'http_server_request_duration_seconds_count{http_request_method="GET",http_route="other",http_response_status_code="other"} 6',
    )
  })
})

describe('the counters', () => {
  test('count decisions by kind, chain and verdict; an unknown chain counts as other', async () => {
    const metrics = setUp()
    metrics.recordDecision('attestation', 'solana', true)
    metrics.recordDecision('attestation', 'solana', true)
    metrics.recordDecision('attestation', 'base', false)
    metrics.recordDecision('task', 'base', true)
    metrics.recordDecision('task', 'sent by a caller', true)
    const found = [...samples(await metrics.expose())].filter(([line]) =>
      line.startsWith('countersign_decisions_total'),
    )
    expect(new Map(found)).toEqual(
      new Map([
        ['countersign_decisions_total{kind="attestation",chain="base",verdict="denied"}', 1],
        ['countersign_decisions_total{kind="attestation",chain="solana",verdict="compliant"}', 2],
        ['countersign_decisions_total{kind="task",chain="base",verdict="compliant"}', 1],
        ['countersign_decisions_total{kind="task",chain="other",verdict="compliant"}', 1],
      ]),
    )
  })

  test('count errors by error code, starting at 0', async () => {
    const metrics = setUp()
    metrics.recordError('RATE_LIMITED')
    const found = samples(await metrics.expose())
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      expect(found.get(`countersign_errors_total{code="${code}"}`)).toBe(code === 'RATE_LIMITED' ? 1 : 0)
    }
  })
})

describe('a scrape', () => {
  const expectSamples = async (metrics: Metrics, expected: Record<string, number>): Promise<void> => {
    const found = samples(await metrics.expose())
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, found.get(name)]))).toEqual(expected)
  }

  test('contains the counters of failures', async () => {
    const metrics = setUp({
      lateOutcomes: () => 1,
      logLinesDropped: () => 4,
      decisionLogFailures: () => 2,
      ruleFailures: () => ({ absent: 3 }),
    })
    metrics.recordIdempotencyFailure()
    await expectSamples(metrics, {
      countersign_late_outcomes_total: 1,
      countersign_decision_log_failures_total: 2,
      'countersign_rule_failures_total{reason="absent"}': 3,
      countersign_idempotency_failures_total: 1,
      countersign_log_lines_dropped_total: 4,
    })
  })

  test('contains the statistics of the pool', () =>
    expectSamples(setUp({ pool: poolStats }), {
      countersign_pool_queued_jobs: 17,
      countersign_pool_queue_limit_jobs: 1_000,
      countersign_pool_in_flight_jobs: 40,
      'countersign_workers{state="live"}': 3,
      'countersign_workers{state="abandoned"}': 1,
      'countersign_worker_losses_total{cause="hang"}': 6,
      'countersign_pool_jobs_total{outcome="withheld"}': 2,
      'countersign_shadow_decisions_total{outcome="different"}': 6,
      'countersign_pool_wait_duration_seconds_bucket{le="0.00005"}': 1,
      'countersign_pool_wait_duration_seconds_bucket{le="25"}': 2,
      'countersign_pool_wait_duration_seconds_bucket{le="+Inf"}': 3,
      countersign_pool_run_duration_seconds_count: 1,
    }))

  test('reads current values, and omits unknown ones', async () => {
    let age: number | null = null
    const metrics = setUp({ changeFeedAgeSeconds: () => age, activeRequests: () => 5 })
    expect(samples(await metrics.expose()).has('countersign_change_feed_age_seconds')).toBe(false)
    age = 0.25
    await expectSamples(metrics, { countersign_change_feed_age_seconds: 0.25, http_server_active_requests: 5 })
    expect(samples(await metrics.expose()).has('countersign_pool_queued_jobs')).toBe(false)
  })

  test('contains the processes, their leaders, and whether rate limits are shared', async () => {
    const leads = [
      { role: 'identity', leads: true },
      { role: 'attestation', leads: false },
    ]
    const found = samples(await setUp({ sharing: () => ({ leads, liveProcesses: 3, limitsCut: true }) }).expose())
    expect([...found].filter(([line]) => /leader|live_processes|limits_cut/.test(line))).toEqual([
      ['countersign_leader{role="identity"}', 1],
      ['countersign_leader{role="attestation"}', 0],
      ['countersign_live_processes', 3],
      ['countersign_rate_limits_cut', 1],
    ])
  })

  test('describes the process and its build', async () => {
    const metrics = setUp()
    const found = samples(await metrics.expose())
    expect(metrics.contentType).toStartWith('text/plain; version=0.0.4')
    expect(found.get('countersign_build_info{version="1.2.3",runtime="9.9.9",signer="noble",store="sqlite"}')).toBe(1)
    expect(found.get('process_memory_usage_bytes')).toBeGreaterThan(1e6)
    expect(found.get('process_cpu_time_seconds_total{cpu_mode="user"}')).toBeGreaterThan(0)
    expect(found.get('process_uptime_seconds')).toBeGreaterThan(0)
    for (const [line, value] of found) {
      expect(Number.isNaN(value)).toBe(false)
      if (line.startsWith('nodejs_eventloop_delay')) expect(value).toBeLessThan(3_600)
    }
  })
})
