// Metrics of the core. Names follow the OpenTelemetry conventions in Prometheus notation unless promtool rejects them;
// others start with `countersign_`. Label values come from closed sets.

export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Description of the values by label. */
  readonly labels: Readonly<Record<string, string>>
  readonly help: string
}

export const defineMetric = (
  name: string,
  type: MetricDefinition['type'],
  help: string,
  labels: Readonly<Record<string, string>> = {},
): MetricDefinition => ({ name, type, labels, help })

const LOSS_CAUSE = { cause: 'crash, hang, start' }

export const METRICS = {
  requestDuration: defineMetric(
    'http_server_request_duration_seconds',
    'histogram',
    'Time from the arrival of a request to its response.',
    {
      http_request_method: 'method of the route',
      http_route: 'served route, or other',
      http_response_status_code: 'response status, or other',
    },
  ),
  activeRequests: defineMetric('http_server_active_requests', 'gauge', 'Requests in flight.'),
  errors: defineMetric('countersign_errors_total', 'counter', 'Error responses, by code.', {
    code: 'error code',
  }),
  decisions: defineMetric('countersign_decisions_total', 'counter', 'Verdicts returned.', {
    kind: 'attestation, task',
    chain: 'chain in the chain table, or other',
    verdict: 'compliant, denied',
  }),
  lateOutcomes: defineMetric(
    'countersign_late_outcomes_total',
    'counter',
    'Results that were dropped because their request had already been answered with 408.',
  ),
  decisionLogFailures: defineMetric(
    'countersign_decision_log_failures_total',
    'counter',
    'Batches that were not signed because the decision log could not record them.',
  ),
  ruleFailures: defineMetric(
    'countersign_rule_failures_total',
    'counter',
    'Requests without a verdict because a rule failed. A retry succeeds only if a fact was unavailable.',
    { reason: 'unavailable, absent, expression, other' },
  ),
  shadowDecisions: defineMetric(
    'countersign_shadow_decisions_total',
    'counter',
    'Decisions with a shadow revision, by shadow outcome. Outcome different: the verdict or rule differs. Outcome failed: no verdict.',
    { outcome: 'same, different, failed' },
  ),
  idempotencyFailures: defineMetric(
    'countersign_idempotency_failures_total',
    'counter',
    'Responses whose idempotency key could not be completed or released in the store.',
  ),
  logLinesDropped: defineMetric(
    'countersign_log_lines_dropped_total',
    'counter',
    'Log lines that could not be written.',
  ),
  poolWait: defineMetric(
    'countersign_pool_wait_duration_seconds',
    'histogram',
    'Time that jobs spend in the queue, from submission to dispatch.',
  ),
  poolRun: defineMetric(
    'countersign_pool_run_duration_seconds',
    'histogram',
    'Time that jobs spend in their worker, from dispatch to response.',
  ),
  poolJobs: defineMetric('countersign_pool_jobs_total', 'counter', 'Completed jobs, by outcome.', {
    outcome: 'answered, refused, expired, failed, withheld',
  }),
  poolQueued: defineMetric('countersign_pool_queued_jobs', 'gauge', 'Jobs in the queue.'),
  poolQueueLimit: defineMetric(
    'countersign_pool_queue_limit_jobs',
    'gauge',
    'Maximum number of queued jobs; further jobs are refused.',
  ),
  poolInFlight: defineMetric('countersign_pool_in_flight_jobs', 'gauge', 'Jobs in progress in workers.'),
  workers: defineMetric('countersign_workers', 'gauge', 'Signing workers.', { state: 'live, busy, wanted, abandoned' }),
  workerLosses: defineMetric(
    'countersign_worker_losses_total',
    'counter',
    'Workers that failed and were replaced.',
    LOSS_CAUSE,
  ),
  openStreams: defineMetric('countersign_open_streams', 'gauge', 'Open event streams of sessions.'),
  webhookDeliveries: defineMetric(
    'countersign_webhook_deliveries_total',
    'counter',
    'Attempts by this process to deliver a webhook message. Outcome dead: the message is not retried.',
    { outcome: 'delivered, retried, dead' },
  ),
  webhookWaiting: defineMetric('countersign_webhook_waiting_messages', 'gauge', 'Webhook messages awaiting delivery.'),
  webhookOverdue: defineMetric(
    'countersign_webhook_queue_age_seconds',
    'gauge',
    'Time since the next webhook message became due; 0 if none is due.',
  ),
  evidencePieces: defineMetric(
    'countersign_evidence_pieces_total',
    'counter',
    'Documents and field sets that this process stored or erased (by destroying their key).',
    { change: 'stored, erased' },
  ),
  evidenceBytesStored: defineMetric(
    'countersign_evidence_stored_bytes_total',
    'counter',
    'Size of the evidence that this process stored, before encryption.',
  ),
  retentionRuns: defineMetric(
    'countersign_evidence_retention_runs_total',
    'counter',
    'Searches for evidence past its retention period. A failed search is retried an hour later.',
    { outcome: 'completed, failed' },
  ),
  sessionDecisions: defineMetric(
    'countersign_session_decision_duration_seconds',
    'histogram',
    'Time from submission to evaluation of a session by a policy, in whole seconds. Outcome review: left to a person. Outcome none: only a shadow was evaluated.',
    { outcome: 'completed, rejected, review, none' },
  ),
  leads: defineMetric(
    'countersign_leader',
    'gauge',
    'Equals 1 if this process is the leader for the role, otherwise 0. The sum over all processes is 1 per role.',
    { role: 'attestation, identity' },
  ),
  liveProcesses: defineMetric(
    'countersign_live_processes',
    'gauge',
    'Live processes of the deployment on all machines, as known to this process.',
  ),
  limitsCut: defineMetric(
    'countersign_rate_limits_cut',
    'gauge',
    'Equals 1 if this process cannot coordinate rate limits with other processes and enforces an equal share, otherwise 0.',
  ),
  attestersOutdated: defineMetric(
    'countersign_attesters_outdated',
    'gauge',
    'Equals 1 if changed attesters cannot be loaded and this process signs with its previous attesters, otherwise 0.',
  ),
  changeFeedAge: defineMetric(
    'countersign_change_feed_age_seconds',
    'gauge',
    'Time since changes to keys, policies and bindings were last read from the store.',
  ),
  listEntries: defineMetric('countersign_list_entries', 'gauge', 'Addresses in lists.', {
    list: 'name of a shared list; organizations: all lists of organizations',
  }),
  listAge: defineMetric(
    'countersign_list_age_seconds',
    'gauge',
    'Time since the source of a list last confirmed the list.',
    {
      list: 'name of a shared list with a source; organizations: oldest list of an organization',
    },
  ),
  listsBehind: defineMetric('countersign_lists_behind', 'gauge', 'Lists whose latest change could not be read.'),
  listLoads: defineMetric('countersign_list_loads_total', 'counter', 'Reads of list sources by this process.', {
    outcome: 'loaded, confirmed, failed',
  }),
  geographyAge: defineMetric(
    'countersign_geography_age_seconds',
    'gauge',
    'Time since the geography file was built by its publisher.',
  ),
  factQuestions: defineMetric('countersign_fact_questions_total', 'counter', 'Queries to screeners and chains.', {
    kind: 'screener, chain, or a source such as base-fee',
    source: 'configured screener or chain',
    outcome: 'kept, answered, failed, refused',
  }),
  factSourceOpen: defineMetric(
    'countersign_fact_source_open',
    'gauge',
    'Equals 1 if a source is temporarily not queried after repeated failures, otherwise 0.',
    { kind: 'screener, chain, or a source such as base-fee', source: 'configured screener or chain' },
  ),
  eventLoopDelay: defineMetric(
    'nodejs_eventloop_delay_seconds',
    'gauge',
    'Timer delay of the main thread since the last scrape.',
    { statistic: 'mean, p50, p99, max' },
  ),
  cpuTime: defineMetric('process_cpu_time_seconds_total', 'counter', 'CPU time of the process, including workers.', {
    cpu_mode: 'user, system',
  }),
  memory: defineMetric('process_memory_usage_bytes', 'gauge', 'Resident memory of the process.'),
  heap: defineMetric('countersign_heap_used_bytes', 'gauge', 'JavaScript heap of the main thread.'),
  descriptors: defineMetric('process_open_fds', 'gauge', 'Open file descriptors. Linux only.'),
  uptime: defineMetric('process_uptime_seconds', 'gauge', 'Time since the process started.'),
  build: defineMetric('countersign_build_info', 'gauge', 'Always 1. The labels describe the running build.', {
    version: 'version of the service',
    runtime: 'version of Bun',
    signer: 'signing backend',
    store: 'sqlite or postgres',
  }),
} as const satisfies Readonly<Record<string, MetricDefinition>>
