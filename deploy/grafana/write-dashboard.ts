// `bun deploy/grafana/write-dashboard.ts`: writes countersign.json, the dashboard for import into Grafana: rows of
// panels with their purpose, unit and queries. A test compares the file with this declaration, and the queries with the
// metrics.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Panel {
  readonly title: string
  /** Grafana's name of the unit. */
  readonly unit: string
  /** PromQL by legend. */
  readonly queries: Readonly<Record<string, string>>
  readonly description?: string
}

/** Selects the nodes chosen at the top of the dashboard. */
const ON = 'job="$job",instance=~"$instance"'
const rate = (metric: string, by: string, labels = ''): string =>
  `sum by (${by}) (rate(${metric}{${ON}${labels}}[$__rate_interval]))`
const quantile = (part: number, metric: string, labels = ''): string =>
  `histogram_quantile(${part}, ${rate(`${metric}_bucket`, 'le', labels)})`
const gauge = (metric: string, labels = ''): string => `${metric}{${ON}${labels}}`
const most = (metric: string, by: string): string => `max by (${by}) (${gauge(metric)})`
const quantiles = (metric: string, labels = ''): Panel['queries'] => ({
  p50: quantile(0.5, metric, labels),
  p99: quantile(0.99, metric, labels),
})

const PROCESS = '{{instance}} {{process}}'
const REQUESTS = 'http_server_request_duration_seconds'
const ATTESTATIONS = ',http_route="/v2/attestation"'

const ROWS: Readonly<Record<string, readonly Panel[]>> = {
  Requests: [
    { title: 'Requests', unit: 'reqps', queries: { '{{http_route}}': rate(`${REQUESTS}_count`, 'http_route') } },
    {
      title: 'Statuses',
      unit: 'reqps',
      queries: { '{{http_response_status_code}}': rate(`${REQUESTS}_count`, 'http_response_status_code') },
    },
    {
      title: 'Errors by code',
      unit: 'reqps',
      queries: { '{{code}}': `${rate('countersign_errors_total', 'code')} > 0` },
    },
    { title: 'Time of an attestation', unit: 's', queries: quantiles(REQUESTS, ATTESTATIONS) },
    { title: 'Requests under way', unit: 'short', queries: { [PROCESS]: gauge('http_server_active_requests') } },
    {
      title: 'Ended after a 408',
      unit: 'short',
      queries: { [PROCESS]: `increase(${gauge('countersign_late_outcomes_total')}[$__rate_interval])` },
      description: 'Work whose result was dropped.',
    },
  ],
  Verdicts: [
    {
      title: 'Verdicts',
      unit: 'reqps',
      queries: { '{{kind}} {{verdict}}': rate('countersign_decisions_total', 'kind, verdict') },
    },
    {
      title: 'Verdicts by chain',
      unit: 'reqps',
      queries: { '{{chain}}': rate('countersign_decisions_total', 'chain') },
    },
    {
      title: 'Facts asked for',
      unit: 'reqps',
      queries: { '{{source}} {{outcome}}': rate('countersign_fact_questions_total', 'source, outcome') },
      description: 'Screeners and chains. Kept ones were answered from memory.',
    },
  ],
  'Stages and workers': [
    { title: 'Wait for a worker', unit: 's', queries: quantiles('countersign_pool_wait_duration_seconds') },
    { title: 'At the worker', unit: 's', queries: quantiles('countersign_pool_run_duration_seconds') },
    { title: 'Jobs', unit: 'reqps', queries: { '{{outcome}}': rate('countersign_pool_jobs_total', 'outcome') } },
    { title: 'Workers', unit: 'short', queries: { '{{state}}': `sum by (state) (${gauge('countersign_workers')})` } },
    {
      title: 'Queue',
      unit: 'short',
      queries: {
        queued: `sum(${gauge('countersign_pool_queued_jobs')})`,
        'at workers': `sum(${gauge('countersign_pool_in_flight_jobs')})`,
        limit: `sum(${gauge('countersign_pool_queue_limit_jobs')})`,
      },
    },
    {
      title: 'Workers lost',
      unit: 'short',
      queries: {
        '{{cause}}': `sum by (cause) (increase(${gauge('countersign_worker_losses_total')}[$__rate_interval]))`,
      },
    },
  ],
  'Store and processes': [
    {
      title: 'Age of known changes',
      unit: 's',
      queries: { [PROCESS]: gauge('countersign_change_feed_age_seconds') },
      description: 'Revoked keys and changed policies are known after this.',
    },
    {
      title: 'Answers that could not be stored',
      unit: 'short',
      queries: { [PROCESS]: `increase(${gauge('countersign_idempotency_failures_total')}[$__rate_interval])` },
    },
    {
      title: 'Processes',
      unit: 'short',
      queries: {
        known: `max(${gauge('countersign_live_processes')})`,
        leaders: `max(sum by (role) (${gauge('countersign_leader')}))`,
      },
    },
    {
      title: 'Parts that run behind',
      unit: 'short',
      queries: {
        'rate limits cut': `sum(${gauge('countersign_rate_limits_cut')})`,
        'attesters outdated': `sum(${gauge('countersign_attesters_outdated')})`,
        'lists behind': `sum(${gauge('countersign_lists_behind')})`,
      },
    },
  ],
  Lists: [
    { title: 'Age of lists', unit: 's', queries: { '{{list}}': most('countersign_list_age_seconds', 'list') } },
    { title: 'Entries', unit: 'short', queries: { '{{list}}': most('countersign_list_entries', 'list') } },
    {
      title: 'Sources read',
      unit: 'short',
      queries: { '{{outcome}}': `sum by (outcome) (increase(${gauge('countersign_list_loads_total')}[1h]))` },
    },
    {
      title: 'Age of the geography file',
      unit: 's',
      queries: { age: `max(${gauge('countersign_geography_age_seconds')})` },
    },
    {
      title: 'Rules that failed',
      unit: 'short',
      queries: {
        '{{reason}}': `sum by (reason) (increase(${gauge('countersign_rule_failures_total')}[$__rate_interval]))`,
      },
      description: 'The log names the policy and the rule.',
    },
    {
      title: 'Shadow decisions',
      unit: 'short',
      queries: {
        '{{outcome}}': `sum by (outcome) (increase(${gauge('countersign_shadow_decisions_total')}[$__rate_interval]))`,
      },
      description: 'Decisions with a shadow revision. Different: its verdict or rule differs.',
    },
    {
      title: 'Sources left alone',
      unit: 'short',
      queries: { '{{source}}': most('countersign_fact_source_open', 'source') },
    },
  ],
  Identity: [
    {
      title: 'Automatic decisions',
      unit: 'short',
      queries: {
        '{{outcome}}': `sum by (outcome) (increase(${gauge('countersign_session_decision_duration_seconds_count')}[1h]))`,
      },
      description:
        'Of sessions, by the policy that an organization chose. Review was left to a person; none had a shadow alone.',
    },
    {
      title: 'Time from submission to decision',
      unit: 's',
      queries: quantiles('countersign_session_decision_duration_seconds'),
      description: 'With its checks.',
    },
    { title: 'Open streams', unit: 'short', queries: { [PROCESS]: gauge('countersign_open_streams') } },
    {
      title: 'Webhook deliveries',
      unit: 'short',
      queries: {
        '{{outcome}}': `sum by (outcome) (increase(${gauge('countersign_webhook_deliveries_total')}[$__rate_interval]))`,
      },
    },
    {
      title: 'Webhook messages waiting',
      unit: 'short',
      queries: { waiting: `max(${gauge('countersign_webhook_waiting_messages')})` },
    },
    {
      title: 'Webhooks late by',
      unit: 's',
      queries: { late: `max(${gauge('countersign_webhook_queue_age_seconds')})` },
    },
    {
      title: 'Evidence',
      unit: 'short',
      queries: { '{{change}}': `sum by (change) (increase(${gauge('countersign_evidence_pieces_total')}[1h]))` },
    },
    {
      title: 'Searches for evidence past its time',
      unit: 'short',
      queries: {
        '{{outcome}}': `sum by (outcome) (increase(${gauge('countersign_evidence_retention_runs_total')}[1h]))`,
      },
    },
  ],
  'Decision log': [
    {
      title: 'Batches not written',
      unit: 'short',
      queries: { [PROCESS]: `increase(${gauge('countersign_decision_log_failures_total')}[$__rate_interval])` },
      description: 'Their requests were refused.',
    },
    {
      title: 'Lines under a signed head',
      unit: 'short',
      queries: { lines: `max(${gauge('countersign_decision_tree_leaves')})` },
    },
    {
      title: 'Time since the last submission to the tree',
      unit: 's',
      queries: { [PROCESS]: gauge('countersign_decision_tree_age_seconds') },
    },
    {
      title: 'Tree not continued, heads refused',
      unit: 'short',
      queries: {
        failures: `sum(increase(${gauge('countersign_decision_tree_failures_total')}[$__rate_interval]))`,
        refused: `max(${gauge('countersign_decision_tree_refused')})`,
      },
    },
    {
      title: 'Not cosigned since',
      unit: 's',
      queries: { required: `max(${gauge('countersign_decision_tree_cosigned_age_seconds')})` },
      description: 'Time since a head last had the required cosignatures. Only if witnesses are configured.',
    },
    {
      title: 'Witnesses',
      unit: 'short',
      queries: {
        '{{witness}}': gauge('countersign_witness_cosigns'),
        late: `max(${gauge('countersign_decision_tree_cosignatures_late')})`,
      },
      description: '1: it cosigned the last head that it was given. late, 1: too few of them did in time.',
    },
    {
      title: 'Not shipped since',
      unit: 's',
      queries: { [PROCESS]: gauge('countersign_decision_shipping_lag_seconds') },
    },
    {
      title: 'Not shipped',
      unit: 'bytes',
      queries: { [PROCESS]: gauge('countersign_decision_shipping_unshipped_bytes') },
    },
    {
      title: 'Shipped',
      unit: 'Bps',
      queries: { [PROCESS]: rate('countersign_decision_shipping_bytes_total', 'instance, process') },
    },
  ],
  Machine: [
    {
      title: 'Processors used',
      unit: 'short',
      queries: { [`${PROCESS} {{cpu_mode}}`]: rate('process_cpu_time_seconds_total', 'instance, process, cpu_mode') },
    },
    { title: 'Memory', unit: 'bytes', queries: { [PROCESS]: gauge('process_memory_usage_bytes') } },
    {
      title: 'Main thread late by',
      unit: 's',
      queries: { [`${PROCESS} {{statistic}}`]: gauge('nodejs_eventloop_delay_seconds', ',statistic=~"p99|max"') },
    },
    { title: 'Open files', unit: 'short', queries: { [PROCESS]: gauge('process_open_fds') } },
    {
      title: 'Log lines lost',
      unit: 'short',
      queries: { [PROCESS]: `increase(${gauge('countersign_log_lines_dropped_total')}[$__rate_interval])` },
    },
    {
      title: 'Traces, where a collector is set',
      unit: 'ops',
      queries: {
        '{{outcome}}': rate('countersign_traces_total', 'outcome'),
        'spans rejected': rate('countersign_trace_spans_rejected_total', 'instance'),
      },
    },
    {
      title: 'Running build',
      unit: 'short',
      queries: { '{{instance}} {{version}} {{signer}} {{store}}': gauge('countersign_build_info') },
    },
  ],
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' }
const COLUMNS = 24
const WIDTH = 8
const HEIGHT = 7

const chart = ({ title, unit, queries, description = '' }: Panel, id: number, x: number, y: number) => ({
  id,
  type: 'timeseries',
  title,
  description,
  datasource: DATASOURCE,
  gridPos: { x, y, w: WIDTH, h: HEIGHT },
  fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } }, overrides: [] },
  options: {
    legend: { showLegend: true, displayMode: 'list', placement: 'bottom' },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  targets: Object.entries(queries).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: DATASOURCE,
    expr,
    legendFormat,
    range: true,
  })),
})

const makePanels = (): unknown[] => {
  const panels: unknown[] = []
  let y = 0
  for (const [title, row] of Object.entries(ROWS)) {
    const gridPos = { x: 0, y: y++, w: COLUMNS, h: 1 }
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos, panels: [] })
    for (const [index, panel] of row.entries()) {
      const line = Math.floor(index / (COLUMNS / WIDTH))
      panels.push(chart(panel, panels.length + 1, (index * WIDTH) % COLUMNS, y + line * HEIGHT))
    }
    y += Math.ceil(row.length / (COLUMNS / WIDTH)) * HEIGHT
  }
  return panels
}

const labelVariable = (name: string, query: string, several: boolean) => ({
  name,
  type: 'query',
  label: name,
  datasource: DATASOURCE,
  query: { query, refId: name },
  definition: query,
  refresh: 2,
  sort: 1,
  multi: several,
  includeAll: several,
})

/** Follows Grafana's documented dashboard model. */
export const makeDashboard = () => ({
  uid: 'countersign',
  title: 'Countersign',
  tags: ['countersign'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  links: [],
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', label: 'datasource', query: 'prometheus', refresh: 1 },
      labelVariable('job', 'label_values(countersign_build_info, job)', false),
      labelVariable('instance', 'label_values(countersign_build_info{job="$job"}, instance)', true),
    ],
  },
  panels: makePanels(),
})

/** One panel per line, so that a diff shows the changed panels. */
export const dashboardText = (): string => {
  const { panels, ...rest } = makeDashboard()
  const lines = Object.entries(rest).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`)
  return `{\n${lines.join('')}  "panels": [\n${panels.map((panel) => `    ${JSON.stringify(panel)}`).join(',\n')}\n  ]\n}\n`
}

if (import.meta.main) writeFileSync(join(import.meta.dir, 'countersign.json'), dashboardText())
