// Routes of the attestation API. The endpoints read and decode bodies themselves, once and strictly.
import { Elysia } from 'elysia'
import type { Endpoint } from '../server/gate.ts'
import { routerPath } from '../server/public-route.ts'
import { ATTESTATION_PATHS } from './paths.ts'

export interface AttestationEndpoints {
  readonly attestation: Endpoint
  readonly task: Endpoint
  readonly batch: Endpoint
  /** Null if decisions have no proofs. */
  readonly proof: Endpoint | null
}

export const attestationRoutes = ({ attestation, task, batch, proof }: AttestationEndpoints) => {
  const routes = new Elysia({ name: 'attestation' })
    .post(ATTESTATION_PATHS.attestation.path, ({ request }) => attestation(request), { parse: 'none' })
    .post(ATTESTATION_PATHS.task.path, ({ request }) => task(request), { parse: 'none' })
    .post(ATTESTATION_PATHS.batch.path, ({ request }) => batch(request), { parse: 'none' })
  return proof === null ? routes : routes.get(routerPath(ATTESTATION_PATHS.proof), ({ request }) => proof(request))
}
