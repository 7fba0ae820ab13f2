// Builds the attestation API: it resolves a request's policy and collects its facts, and the pool decides and signs.
import { createAttest, createDecide, createEvaluateTask, type DecodedRequest } from '../attestation/attest.ts'
import { createBatchEndpoint } from '../attestation/batch-endpoint.ts'
import { createConcurrency, UNCAPPED } from '../attestation/concurrency.ts'
import { decodeAttestationRequest } from '../attestation/decode-attestation.ts'
import { decodeTaskRequest } from '../attestation/decode-task.ts'
import { createEndpoint, type EndpointDependencies } from '../attestation/endpoint.ts'
import { createCollectJobFacts } from '../attestation/job-facts.ts'
import { ATTESTATION_PATHS } from '../attestation/paths.ts'
import { createProofEndpoint, type ProveDecision } from '../attestation/proof-endpoint.ts'
import { withRegistries } from '../attestation/registry-targets.ts'
import type { AttestationEndpoints } from '../attestation/routes.ts'
import type { Config } from '../config/config.ts'
import { type Clock, systemTimers } from '../lib/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { FactCollector } from '../policy/types/needs.ts'
import type { Pool } from '../pool/pool.ts'
import type { JsonObject } from '../server/strict-json.ts'
import { createRegistries } from '../setup/configured-registries.ts'
import type { Database } from '../store/database.ts'
import type { Logger } from '../telemetry/log.ts'
import { createExpiry } from './expiry-service.ts'
import type { RequestPath } from './request-path.ts'
import type { Sharing } from './sharing-service.ts'

export interface AttestationDependencies {
  readonly config: Config
  readonly path: Pick<RequestPath, 'gate' | 'idempotent' | 'metrics' | 'report'>
  readonly catalog: Catalog
  readonly pool: Pool
  /** Milliseconds that a claim waits for the store; null if too many claims are waiting. */
  readonly storeBacklogMs: Database['backlogMs']
  /** Maximum attestations in flight of an organization; null if no organization has a limit. */
  readonly capOf: ((organizationId: string) => number) | null
  readonly collector: FactCollector
  readonly sharing: Pick<Sharing, 'limiter' | 'velocity'>
  /** Key for hashes of personal facts in the log. */
  readonly digestKey: Uint8Array
  /** Null if decisions have no proofs. */
  readonly prove: ProveDecision | null
  readonly clock: Clock
  readonly log: Logger
}

export const createAttestation = (dependencies: AttestationDependencies): AttestationEndpoints => {
  const { config, path, catalog, pool, storeBacklogMs, capOf, collector, sharing, digestKey, prove, clock, log } =
    dependencies
  const { gate, idempotent, metrics, report } = path
  const targets = withRegistries(catalog, createRegistries(config, clock, log))
  const timers = systemTimers
  const collectFacts = createCollectJobFacts({ collector, velocity: sharing.velocity, digestKey, timers })
  const concurrency = capOf === null ? UNCAPPED : createConcurrency(capOf)
  const decide = createDecide({ catalog: targets, pool, collectFacts })
  const attest = concurrency.capped(createAttest(decide))
  const decode = (body: JsonObject): DecodedRequest =>
    decodeAttestationRequest(body, config.chains, clock.unixSeconds())
  const shared: EndpointDependencies = {
    gate,
    idempotent,
    metrics,
    withhold: pool.withhold,
    refusal: (organizationId, deadlineMs) =>
      concurrency.refusal(organizationId) ?? pool.refusal(organizationId, deadlineMs),
    storeBacklogMs,
  }
  return {
    attestation: createEndpoint(shared, {
      kind: 'attestation',
      route: ATTESTATION_PATHS.attestation.path,
      decode,
      attest,
    }),
    batch: createBatchEndpoint({
      ...shared,
      metrics,
      limiter: sharing.limiter,
      report,
      decode,
      attest,
      monotonicMs: clock.monotonicMs,
      after: timers.after,
    }),
    proof: prove === null ? null : createProofEndpoint({ gate, prove }),
    task: createEndpoint(shared, {
      kind: 'task',
      route: ATTESTATION_PATHS.task.path,
      decode: (body) => decodeTaskRequest(body, config.chains, clock.unixSeconds()),
      attest: concurrency.capped(createEvaluateTask(decide, createExpiry(config, clock))),
    }),
  }
}
