import { type AttestHandler, createAttest, createDecideRequest } from '../attestation/attest.ts'
import { createBatchEndpoint } from '../attestation/batch-endpoint.ts'
import { createConcurrency } from '../attestation/concurrency.ts'
import { decodeAttestationRequest } from '../attestation/decode-attestation.ts'
import { decodeTaskRequest } from '../attestation/decode-task.ts'
import type { AttestationEndpoints } from '../attestation/endpoint.ts'
import { createEndpoint, type EndpointDependencies } from '../attestation/endpoint.ts'
import { createEvaluateTask } from '../attestation/expiry.ts'
import { createCollectJobFacts } from '../attestation/job-facts.ts'
import { ATTESTATION_PATHS } from '../attestation/paths.ts'
import { createProofEndpoint, type ProveDecision } from '../attestation/proof-endpoint.ts'
import type { Config } from '../config/config.ts'
import { type Clock, systemTimers } from '../lib/time.ts'
import type { Catalog } from '../policy/catalog.ts'
import type { FactCollector } from '../policy/types/needs.ts'
import type { Pool } from '../pool/pool.ts'
import { createRegistries } from '../setup/configured-registries.ts'
import type { Database } from '../store/database.ts'
import type { Logger } from '../telemetry/log.ts'
import { createExpiry } from './expiry-service.ts'
import type { RequestPath } from './request-path.ts'
import type { Sharing } from './sharing-service.ts'

interface AttestationDependencies {
  readonly config: Config
  readonly path: Pick<RequestPath, 'gate' | 'idempotent' | 'metrics' | 'report'>
  readonly catalog: Catalog
  readonly pool: Pool
  /** Milliseconds that a claim waits for the store; null if too many are waiting. */
  readonly storeBacklogMs: Database['backlogMs']
  /** Attestations in flight per organization; null if there are no limits. */
  readonly capOf: ((organizationId: string) => number) | null
  readonly collector: FactCollector
  readonly sharing: Pick<Sharing, 'limiter' | 'velocity'>
  /** Key for hashes of personal facts in the log. */
  readonly digestKey: Uint8Array
  readonly prove: ProveDecision | null
  readonly clock: Clock
  readonly log: Logger
}

export const createAttestation = (dependencies: AttestationDependencies): AttestationEndpoints => {
  const { config, path, catalog, pool, storeBacklogMs, capOf, collector, sharing, digestKey, prove, clock, log } =
    dependencies
  const { gate, idempotent, metrics, report } = path
  const timers = systemTimers
  const collectFacts = createCollectJobFacts({ collector, velocity: sharing.velocity, digestKey, timers })
  const registries = createRegistries(config, clock, log)
  const decide = createDecideRequest({ catalog, registries, pool, collectFacts })
  const concurrency = capOf === null ? null : createConcurrency(capOf)
  const capped = (handler: AttestHandler): AttestHandler => concurrency?.capped(handler) ?? handler
  const attest = capped(createAttest(decide))
  const shared: EndpointDependencies = {
    gate,
    idempotent,
    metrics,
    pool,
    concurrency,
    storeBacklogMs,
    chains: config.chains,
    clock,
  }
  return {
    attestation: createEndpoint(shared, {
      kind: 'attestation',
      route: ATTESTATION_PATHS.attestation.path,
      decode: decodeAttestationRequest,
      attest,
    }),
    batch: createBatchEndpoint({
      ...shared,
      metrics,
      limiter: sharing.limiter,
      report,
      clock,
      decode: decodeAttestationRequest,
      attest,
      after: timers.after,
    }),
    proof: prove === null ? null : createProofEndpoint({ gate, prove }),
    task: createEndpoint(shared, {
      kind: 'task',
      route: ATTESTATION_PATHS.task.path,
      decode: decodeTaskRequest,
      attest: capped(createEvaluateTask(decide, createExpiry(config, clock, log))),
    }),
  }
}
