// The alerting rules and the Grafana dashboard: their metrics and labels exist, each alert fires when it should but not for
// a healthy deployment, and the dashboard follows Grafana's model.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { dashboardText, makeDashboard } from '../../deploy/grafana/write-dashboard.ts'
import { MODULES } from '../../src/modules.ts'
import { METRICS, type MetricDefinition } from '../../src/telemetry/metric-table.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'

const DEPLOY = join(import.meta.dir, '..', '..', 'deploy')
const RULES = join(DEPLOY, 'prometheus', 'alerts.yaml')

interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}
const rules = (parse(readFileSync(RULES, 'utf8')) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(
  (group) => group.rules,
)

interface ChartPanel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}
const dashboard = makeDashboard() as unknown as { panels: ChartPanel[]; templating: { list: { query: unknown }[] } }
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

const hasPromtool = Bun.which('promtool') !== null
const testWithPromtool = test.skipIf(!hasPromtool)
const why = hasPromtool ? '' : ' (no promtool here)'

let service: RunningService
let exposition: string
beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  await service.attest({
    from: '0x1111111111111111111111111111111111111111',
    chain: 'base',
    to: service.quickstart['DEMO_CONTRACT'],
  })
  exposition = await (await fetch(`${service.url}/metrics`)).text()
})
afterAll(async () => void (await service.stop()))

const promtool = async (...words: string[]): Promise<{ code: number; printed: string }> => {
  const child = Bun.spawn(['promtool', ...words], { stdin: Buffer.from(exposition), stdout: 'pipe', stderr: 'pipe' })
  const printed = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, printed: printed.join('') }
}

const ALL_METRICS: readonly MetricDefinition[] = [
  ...Object.values(METRICS),
  ...MODULES.flatMap(({ metrics = {} }) => Object.values(metrics)),
]

/** Labels of Prometheus or its configuration. */
const FOREIGN_LABELS = new Set(['job', 'instance', 'le', 'process'])

/** Returns the metrics, labels and label values of an expression that no service exposes. */
const unknownNames = (expr: string, exposed: ReadonlySet<string>): string[] => {
  const definitions = new Map<string, MetricDefinition>(ALL_METRICS.map((metric) => [metric.name, metric]))
  const labels = new Set(FOREIGN_LABELS)
  const found: string[] = []
  for (const [, word = '', matchers = ''] of expr.matchAll(
    /\b((?:http_server|nodejs|process|countersign)_\w+)(?:\{([^}]*)\})?/g,
  )) {
    // Labels can start with the same prefixes as metrics.
    if (ALL_METRICS.some((metric) => word in metric.labels)) continue
    const histogram = word.replace(/_(?:bucket|count|sum)$/, '')
    const name = exposed.has(`${histogram} histogram`) ? histogram : word
    if (![...exposed].some((entry) => entry.startsWith(`${name} `))) found.push(word)
    const own = definitions.get(name)?.labels ?? {}
    for (const label of Object.keys(own)) labels.add(label)
    for (const [, label = '', operator = '', value = ''] of matchers.matchAll(/(\w+)(=~|=)"([^"]*)"/g)) {
      if (!(label in own)) {
        if (!FOREIGN_LABELS.has(label)) found.push(`${word}{${label}}`)
        continue
      }
      const values = (own[label] ?? '').split(', ')
      // Some lists are descriptions, such as "of the route".
      const isClosed = values.length > 1 && values.every((text) => !text.includes(' '))
      const wanted = operator === '=' ? [value] : value.split('|')
      if (isClosed) found.push(...wanted.filter((text) => !values.includes(text)).map((text) => `${label}="${text}"`))
    }
  }
  for (const [, list = ''] of expr.matchAll(/\b(?:by|without|ignoring|on) \(([^)]*)\)/g)) {
    found.push(...list.split(', ').filter((label) => !labels.has(label)))
  }
  return found
}

describe('metrics', () => {
  test('of the alerts and the dashboard exist in a running service', () => {
    const types = [...exposition.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    const exposed = new Set(types.map(([, name, type]) => `${name} ${type}`))
    expect(exposed.size).toBe(ALL_METRICS.length)
    const expressions = [...rules.map(({ expr }) => expr), ...queries]
    const variables = dashboard.templating.list.map(({ query }) => JSON.stringify(query))
    expect([...expressions, ...variables].flatMap((expr) => unknownNames(expr, exposed))).toEqual([])
    expect(unknownNames('rate(countersign_nothing_total{code="X"}[5m])', exposed)).not.toEqual([])
    expect(unknownNames('sum by (kind) (countersign_workers{state="lively"})', exposed)).toEqual([
      'state="lively"',
      'kind',
    ])
  })

  test('are all on the dashboard, except metrics that other panels imply', () => {
    const shown = queries.join('\n')
    const missing = ALL_METRICS.filter(({ name }) => !shown.includes(name))
    expect(missing.map(({ name }) => name)).toEqual([
      'countersign_evidence_stored_bytes_total',
      'countersign_heap_used_bytes',
      'process_uptime_seconds',
      'countersign_decision_shipping_segments_total',
      'countersign_decision_shipping_failures_total',
    ])
  })

  testWithPromtool(`are valid for promtool${why}`, async () => {
    expect(await promtool('check', 'metrics')).toEqual({ code: 0, printed: '' })
  })
})

describe('alerts', () => {
  testWithPromtool(`are valid rules${why}`, async () => {
    expect(await promtool('check', 'rules', RULES)).toMatchObject({
      code: 0,
      printed: expect.stringContaining(`${rules.length} rules found`),
    })
  })

  const NODE = 'job="countersign",instance="a"'
  const growing = (name: string, labels = ''): string[] => [`${name}{${NODE}${labels}}`, '0+1x200']
  const constant = (name: string, value: number, labels = ''): string[] => [`${name}{${NODE}${labels}}`, `${value}x200`]
  const REQUESTS = 'http_server_request_duration_seconds'
  const bucket = (le: string, each: number): string[] => [
    `${REQUESTS}_bucket{${NODE},http_route="/v2/attestation",le="${le}"}`,
    `0+${each}x200`,
  ]

  const decided = (le: string, each: number): string[] => [
    `countersign_session_decision_duration_seconds_bucket{${NODE},outcome="completed",le="${le}"}`,
    `0+${each}x200`,
  ]

  /** @param node `a` if the alert has the label instance but not job; null if it has neither */
  const fires = (series: string[][], labels: Record<string, string> = {}, node?: 'a' | null) => ({
    series,
    labels,
    node,
  })
  /** Alert → series that make it fire within three hours, and its labels in addition to the labels of its node. */
  const FIRING: Readonly<Record<string, ReturnType<typeof fires>>> = {
    CountersignDown: fires([constant('up', 0)]),
    CountersignFails: fires(
      [growing('countersign_errors_total', ',code="INTERNAL"'), [`${REQUESTS}_count{${NODE}}`, '0+50x200']],
      {},
      null,
    ),
    CountersignOverloaded: fires([[`countersign_errors_total{${NODE},code="OVERLOADED"}`, '0+120x200']], {}, 'a'),
    CountersignSlow: fires([bucket('1', 90), bucket('2.5', 100), bucket('+Inf', 100)], {}, 'a'),
    CountersignLateWork: fires([growing('countersign_late_outcomes_total')]),
    CountersignWorkersMissing: fires([
      constant('countersign_workers', 1, ',state="live"'),
      constant('countersign_workers', 2, ',state="wanted"'),
    ]),
    CountersignWorkersLost: fires([growing('countersign_worker_losses_total', ',cause="crash"')]),
    CountersignDecisionsNotWritten: fires([growing('countersign_decision_log_failures_total')]),
    CountersignAttestersOutdated: fires([constant('countersign_attesters_outdated', 1)]),
    CountersignChangesNotRead: fires([growing('countersign_change_feed_age_seconds')]),
    CountersignAnswersNotStored: fires([growing('countersign_idempotency_failures_total')]),
    CountersignLeaderNotOne: fires([constant('countersign_leader', 0, ',role="identity"')], { role: 'identity' }, null),
    CountersignRateLimitsCut: fires([constant('countersign_rate_limits_cut', 1)]),
    CountersignListOld: fires([constant('countersign_list_age_seconds', 2e5, ',list="sanctions"')], {
      list: 'sanctions',
    }),
    CountersignListsBehind: fires([constant('countersign_lists_behind', 1)]),
    CountersignGeographyOld: fires([constant('countersign_geography_age_seconds', 4_000_000)]),
    CountersignRuleFails: fires(
      [growing('countersign_rule_failures_total', ',reason="absent"')],
      { reason: 'absent' },
      null,
    ),
    CountersignFactSourceOpen: fires([constant('countersign_fact_source_open', 1, ',kind="screener",source="acme"')], {
      kind: 'screener',
      source: 'acme',
    }),
    CountersignWebhooksLate: fires([constant('countersign_webhook_queue_age_seconds', 1_000)]),
    CountersignWebhooksDead: fires([growing('countersign_webhook_deliveries_total', ',outcome="dead"')], {
      outcome: 'dead',
    }),
    CountersignSessionsDecidedLate: fires([decided('120', 50), decided('300', 100), decided('+Inf', 100)], {}, 'a'),
    CountersignRetentionFails: fires([growing('countersign_evidence_retention_runs_total', ',outcome="failed"')], {
      outcome: 'failed',
    }),
    CountersignShippingLate: fires([constant('countersign_decision_shipping_lag_seconds', 1_000)]),
    CountersignHeadsRefused: fires([constant('countersign_decision_tree_refused', 1)]),
    CountersignTreeLate: fires([constant('countersign_decision_tree_age_seconds', 1_000)]),
    CountersignCosignaturesLate: fires([constant('countersign_decision_tree_cosignatures_late', 1)]),
    CountersignLogLost: fires([growing('countersign_log_lines_dropped_total')]),
    CountersignMainThreadSlow: fires([constant('nodejs_eventloop_delay_seconds', 0.5, ',statistic="p99"')], {
      statistic: 'p99',
    }),
  }

  /** Series of a healthy deployment. */
  const HEALTHY: string[][] = [
    constant('up', 1),
    constant('countersign_errors_total', 9, ',code="INTERNAL"'),
    [`${REQUESTS}_count{${NODE}}`, '0+600x200'],
    [`countersign_errors_total{${NODE},code="OVERLOADED"}`, '0+20x200'],
    bucket('1', 1_000),
    bucket('2.5', 1_000),
    bucket('+Inf', 1_000),
    ...['late_outcomes', 'decision_log_failures', 'idempotency_failures', 'log_lines_dropped'].map((name) =>
      constant(`countersign_${name}_total`, 5),
    ),
    ...['live', 'wanted'].map((state) => constant('countersign_workers', 2, `,state="${state}"`)),
    constant('countersign_worker_losses_total', 3, ',cause="crash"'),
    ...['attesters_outdated', 'rate_limits_cut', 'lists_behind', 'webhook_queue_age_seconds'].map((name) =>
      constant(`countersign_${name}`, 0),
    ),
    constant('countersign_change_feed_age_seconds', 0.2),
    ...['attestation', 'identity'].map((role) => constant('countersign_leader', 1, `,role="${role}"`)),
    ['countersign_leader{job="countersign",instance="b",role="identity"}', '0x200'],
    constant('countersign_list_age_seconds', 86_400, ',list="sanctions"'),
    constant('countersign_geography_age_seconds', 864_000),
    constant('countersign_fact_source_open', 0, ',kind="chain",source="base"'),
    constant('countersign_webhook_deliveries_total', 3, ',outcome="dead"'),
    constant('countersign_evidence_retention_runs_total', 1, ',outcome="failed"'),
    decided('2', 100),
    decided('120', 100),
    decided('+Inf', 100),
    constant('countersign_decision_shipping_lag_seconds', 30),
    constant('countersign_decision_tree_refused', 0),
    constant('countersign_decision_tree_age_seconds', 2),
    constant('countersign_decision_tree_cosignatures_late', 0),
    constant('nodejs_eventloop_delay_seconds', 0.02, ',statistic="p99"'),
  ]

  const seriesOf = (pairs: string[][]) => pairs.map(([series, values]) => ({ series, values }))

  test('all have a test series that makes them fire', () => {
    expect(Object.keys(FIRING).sort()).toEqual(rules.map(({ alert }) => alert).sort())
  })

  testWithPromtool(`fire for their series, and not for a healthy deployment${why}`, async () => {
    const suite = {
      rule_files: [RULES],
      // Rarer than in Prometheus, with the same state after three hours.
      evaluation_interval: '5m',
      tests: [
        ...rules.map(({ alert, labels, annotations }) => {
          const { series, labels: more, node } = FIRING[alert]!
          const where = {
            ...(node === undefined ? { job: 'countersign' } : {}),
            ...(node === null ? {} : { instance: 'a' }),
          }
          return {
            interval: '1m',
            input_series: seriesOf(series),
            alert_rule_test: [
              {
                eval_time: '3h',
                alertname: alert,
                exp_alerts: [{ exp_labels: { ...labels, ...where, ...more }, exp_annotations: annotations }],
              },
            ],
          }
        }),
        {
          interval: '1m',
          input_series: seriesOf(HEALTHY),
          alert_rule_test: rules.map(({ alert }) => ({ eval_time: '3h', alertname: alert, exp_alerts: [] })),
        },
      ],
    }
    const file = join(newFolder(), 'alerts.test.yaml')
    writeFileSync(file, stringify(suite))
    expect(await promtool('test', 'rules', file)).toEqual({
      code: 0,
      printed: expect.stringContaining('SUCCESS') as unknown as string,
    })
  })
})

describe('the dashboard', () => {
  test('equals the output of bun deploy/grafana/write-dashboard.ts', () => {
    expect(readFileSync(join(DEPLOY, 'grafana', 'countersign.json'), 'utf8')).toBe(dashboardText())
  })

  test('follows Grafana’s documented JSON model', () => {
    const model = JSON.parse(dashboardText()) as Record<string, unknown>
    const fields = 'title tags timezone editable graphTooltip panels time templating annotations refresh schemaVersion'
    for (const field of [...fields.split(' '), 'version', 'links']) expect(model).toHaveProperty(field)
    expect(String(model['uid'])).toMatch(/^[a-zA-Z0-9_-]{8,40}$/)
    expect(model['id'] ?? null).toBe(null)
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const taken = new Set<string>()
    for (const { type, gridPos, targets = [] } of panels) {
      expect(['row', 'timeseries']).toContain(type)
      expect(gridPos.w >= 1 && gridPos.h >= 1 && gridPos.x >= 0 && gridPos.x + gridPos.w <= 24).toBe(true)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`)).toBe(false)
          taken.add(`${x} ${y}`)
        }
      }
      expect(targets.length > 0).toBe(type !== 'row')
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
    }
  })

  testWithPromtool(`has valid queries${why}`, async () => {
    const file = join(newFolder(), 'queries.yaml')
    const exprs = queries.map((expr) => expr.replaceAll('$__rate_interval', '5m'))
    const recorded = exprs.map((expr, index) => ({ record: `query:${index}`, expr }))
    writeFileSync(file, stringify({ groups: [{ name: 'queries', rules: recorded }] }))
    expect(await promtool('check', 'rules', '--lint=none', file)).toMatchObject({ code: 0 })
  })
})
