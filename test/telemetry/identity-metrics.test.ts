// Metrics of identity: deliveries, evidence, retention and automatic decisions.
import { afterEach, expect, test } from 'bun:test'
import { createDecisionTimes, type IdentityMetrics } from '../../src/telemetry/identity-metrics.ts'
import { METRICS } from '../../src/telemetry/metric-table.ts'
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts'

let opened: Metrics | undefined
afterEach(() => opened?.stop())

const times = createDecisionTimes()
times.record('completed', 0)
times.record('completed', 4)
times.record('review', 900)

const FULL: IdentityMetrics = {
  deliveries: { delivered: 7, retried: 2, dead: 1 },
  webhookQueue: { waiting: 5, overdueSeconds: 12 },
  evidencePieces: { stored: 4, erased: 3 },
  evidenceBytesStored: 12_345,
  retentionRuns: { completed: 9, failed: 1 },
  sessionDecisions: times.snapshot(),
}

const NAMES = [
  METRICS.webhookDeliveries,
  METRICS.webhookWaiting,
  METRICS.webhookOverdue,
  METRICS.evidencePieces,
  METRICS.evidenceBytesStored,
  METRICS.retentionRuns,
].map(({ name }) => name)

/** Returns the sample lines of these metrics. */
const scrape = async (identity?: () => IdentityMetrics): Promise<string[]> => {
  const build = { version: '1.2.3', runtime: '9.9.9', signer: 'noble', store: 'sqlite' }
  opened = createMetrics({ chains: [], build })
  if (identity !== undefined) opened.watchIdentity(identity)
  const lines = (await opened.expose()).split('\n')
  return lines.filter((line) => NAMES.some((name) => line.startsWith(`${name}{`) || line.startsWith(`${name} `)))
}

test('each count has a labeled sample', async () => {
  expect(await scrape(() => FULL)).toEqual([
    'countersign_webhook_deliveries_total{outcome="delivered"} 7',
    'countersign_webhook_deliveries_total{outcome="retried"} 2',
    'countersign_webhook_deliveries_total{outcome="dead"} 1',
    'countersign_webhook_waiting_messages 5',
    'countersign_webhook_queue_age_seconds 12',
    'countersign_evidence_pieces_total{change="stored"} 4',
    'countersign_evidence_pieces_total{change="erased"} 3',
    'countersign_evidence_stored_bytes_total 12345',
    'countersign_evidence_retention_runs_total{outcome="completed"} 9',
    'countersign_evidence_retention_runs_total{outcome="failed"} 1',
  ])
})

test('an unread queue has no samples, and neither has a process without identity', async () => {
  const lines = await scrape(() => ({ ...FULL, webhookQueue: null }))
  expect(lines).toHaveLength(8)
  expect(lines.join()).not.toContain('waiting')
  opened?.stop()
  expect(await scrape()).toEqual([])
})

test('automatic decisions are counted with their outcome and the time since submission', async () => {
  await scrape(() => FULL)
  const lines = ((await opened?.expose()) ?? '').split('\n')
  const of = (outcome: string, le: string) =>
    lines.find((line) => line.includes(`outcome="${outcome}"`) && line.includes(`le="${le}"`))
  const name = METRICS.sessionDecisions.name
  expect([of('completed', '1'), of('completed', '5'), of('review', '600'), of('review', '+Inf')]).toEqual([
    `${name}_bucket{outcome="completed",le="1"} 1`,
    `${name}_bucket{outcome="completed",le="5"} 2`,
    `${name}_bucket{outcome="review",le="600"} 0`,
    `${name}_bucket{outcome="review",le="+Inf"} 1`,
  ])
  expect(lines).toContain(`${name}_count{outcome="none"} 0`)
  expect(lines).toContain(`${name}_sum{outcome="completed"} 4`)
})
