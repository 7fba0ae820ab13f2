// Metrics of the core, with their labels; modules define their own. Names follow the OpenTelemetry semantic conventions
// in Prometheus notation, unless promtool rejects the result. All others start with `countersign_`. Label values come
// from closed sets.

export interface MetricDefinition {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Label → description of its values. */
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
    'Time from the arrival of a request to its answer.',
    {
      http_request_method: 'of the route',
      http_route: 'the routes served, or other',
      http_response_status_code: 'the statuses answered, or other',
    },
  ),
  activeRequests: defineMetric('http_server_active_requests', 'gauge', 'Requests that wait for their answer.'),
  errors: defineMetric('countersign_errors_total', 'counter', 'Answers with an error, by the code of their body.', {
    code: 'the codes of the error body',
  }),
  decisions: defineMetric('countersign_decisions_total', 'counter', 'Verdicts answered.', {
    kind: 'attestation, task',
    chain: 'the chain table, or other',
    verdict: 'compliant, denied',
  }),
  lateOutcomes: defineMetric(
    'countersign_late_outcomes_total',
    'counter',
    'Work that finished after its request was answered 408. Its result was dropped.',
  ),
  decisionLogFailures: defineMetric(
    'countersign_decision_log_failures_total',
    'counter',
    'Batches that the decision log did not take, and that were therefore not signed.',
  ),
  ruleFailures: defineMetric(
    'countersign_rule_failures_total',
    'counter',
    'Requests without a verdict because a rule failed. A retry succeeds only if a fact was unavailable.',
    { reason: 'unavailable, absent, expression, other' },
  ),
  idempotencyFailures: defineMetric(
    'countersign_idempotency_failures_total',
    'counter',
    'Answers whose idempotency key could not be completed or released in the store.',
  ),
  logLinesDropped: defineMetric(
    'countersign_log_lines_dropped_total',
    'counter',
    'Log lines that could not be written.',
  ),
  poolWait: defineMetric(
    'countersign_pool_wait_duration_seconds',
    'histogram',
    'Time of a job in the queue, from submission to dispatch.',
  ),
  poolRun: defineMetric(
    'countersign_pool_run_duration_seconds',
    'histogram',
    'Time of a job at its worker, from dispatch to answer.',
  ),
  poolJobs: defineMetric('countersign_pool_jobs_total', 'counter', 'Jobs settled.', {
    outcome: 'answered, refused, expired, failed, withheld',
  }),
  poolQueued: defineMetric('countersign_pool_queued_jobs', 'gauge', 'Jobs in the queue.'),
  poolQueueLimit: defineMetric(
    'countersign_pool_queue_limit_jobs',
    'gauge',
    'Jobs that the queue takes before it refuses.',
  ),
  poolInFlight: defineMetric('countersign_pool_in_flight_jobs', 'gauge', 'Jobs at the workers.'),
  workers: defineMetric('countersign_workers', 'gauge', 'Signing workers.', { state: 'live, busy, wanted, abandoned' }),
  workerLosses: defineMetric('countersign_worker_losses_total', 'counter', 'Workers lost and replaced.', LOSS_CAUSE),
  openStreams: defineMetric('countersign_open_streams', 'gauge', 'Event streams that clients follow sessions on.'),
  webhookDeliveries: defineMetric(
    'countersign_webhook_deliveries_total',
    'counter',
    'Attempts of this process to deliver a webhook message. A dead one was the last.',
    { outcome: 'delivered, retried, dead' },
  ),
  webhookWaiting: defineMetric(
    'countersign_webhook_waiting_messages',
    'gauge',
    'Webhook messages that are not delivered yet.',
  ),
  webhookOverdue: defineMetric(
    'countersign_webhook_queue_age_seconds',
    'gauge',
    'Time since the webhook message that is next should have been sent; 0 while none is due.',
  ),
  evidencePieces: defineMetric(
    'countersign_evidence_pieces_total',
    'counter',
    'Documents and sets of fields that this process stored, and whose key it destroyed.',
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
    'Searches for evidence that is past its time. A failed one is tried again an hour later.',
    { outcome: 'completed, failed' },
  ),
  sessionDecisions: defineMetric(
    'countersign_session_decision_duration_seconds',
    'histogram',
    'Time from handing in until a policy had looked at the session, in whole seconds. Review left it to a person; for none only a shadow ran.',
    { outcome: 'completed, rejected, review, none' },
  ),
  leads: defineMetric(
    'countersign_leader',
    'gauge',
    'Whether this process leads the role: 1 if so, otherwise 0. Over all processes the sum per role is 1.',
    { role: 'attestation, identity' },
  ),
  liveProcesses: defineMetric(
    'countersign_live_processes',
    'gauge',
    'Processes that serve the deployment, on all machines, as this one knows them.',
  ),
  limitsCut: defineMetric(
    'countersign_rate_limits_cut',
    'gauge',
    'Whether rate limits can not be settled with the other processes, so that each keeps to its equal part: 1 if so.',
  ),
  attestersOutdated: defineMetric(
    'countersign_attesters_outdated',
    'gauge',
    'Whether changed attesters can not be loaded, so that this process signs by the keys it has: 1 if so.',
  ),
  changeFeedAge: defineMetric(
    'countersign_change_feed_age_seconds',
    'gauge',
    'Time since changed keys, policies and bindings were last read from the store.',
  ),
  listEntries: defineMetric('countersign_list_entries', 'gauge', 'Addresses in lists.', {
    list: 'shared lists by name; organizations: all of theirs',
  }),
  listAge: defineMetric('countersign_list_age_seconds', 'gauge', 'Time since the source of a list last confirmed it.', {
    list: 'shared lists with a source by name; organizations: the oldest of theirs',
  }),
  listsBehind: defineMetric('countersign_lists_behind', 'gauge', 'Lists whose latest change could not be read yet.'),
  listLoads: defineMetric('countersign_list_loads_total', 'counter', 'Sources of lists read by this process.', {
    outcome: 'loaded, confirmed, failed',
  }),
  geographyAge: defineMetric(
    'countersign_geography_age_seconds',
    'gauge',
    'Time since the publisher of the geography file built it.',
  ),
  factQuestions: defineMetric('countersign_fact_questions_total', 'counter', 'Facts asked of screeners and chains.', {
    kind: 'screener, chain, or a source such as base-fee',
    source: 'the screeners and chains configured',
    outcome: 'kept, answered, failed, refused',
  }),
  factSourceOpen: defineMetric(
    'countersign_fact_source_open',
    'gauge',
    'Whether a source has failed so often that it is left alone for a while: 1 if so.',
    { kind: 'screener, chain, or a source such as base-fee', source: 'the screeners and chains configured' },
  ),
  eventLoopDelay: defineMetric(
    'nodejs_eventloop_delay_seconds',
    'gauge',
    'How late the main thread came to its timers since the last scrape.',
    { statistic: 'mean, p50, p99, max' },
  ),
  cpuTime: defineMetric('process_cpu_time_seconds_total', 'counter', 'CPU time of the process, workers included.', {
    cpu_mode: 'user, system',
  }),
  memory: defineMetric('process_memory_usage_bytes', 'gauge', 'Resident memory of the process.'),
  heap: defineMetric('countersign_heap_used_bytes', 'gauge', 'JavaScript heap of the main thread.'),
  descriptors: defineMetric('process_open_fds', 'gauge', 'Open file descriptors. Linux only.'),
  uptime: defineMetric('process_uptime_seconds', 'gauge', 'Time since the process started.'),
  build: defineMetric('countersign_build_info', 'gauge', 'Always 1: what runs here.', {
    version: 'of this service',
    runtime: 'of Bun',
    signer: 'the signing backend chosen at the start',
    store: 'sqlite or postgres',
  }),
} as const satisfies Readonly<Record<string, MetricDefinition>>
