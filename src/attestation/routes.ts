// Interface A on Elysia. The bodies are read and decoded by the endpoints themselves: decoded once, strictly.
import { Elysia } from 'elysia'
import type { Endpoint } from '../http/gate.ts'
import { BATCH_ROUTE } from './batch-endpoint.ts'

export interface AttestationEndpoints {
  readonly attestation: Endpoint
  readonly task: Endpoint
  readonly batch: Endpoint
}

export const attestationRoutes = (endpoints: AttestationEndpoints) =>
  new Elysia({ name: 'attestation' })
    .post('/v2/attestation', ({ request }) => endpoints.attestation(request), { parse: 'none' })
    .post(BATCH_ROUTE, ({ request }) => endpoints.batch(request), { parse: 'none' })
    .post('/v1/task', ({ request }) => endpoints.task(request), { parse: 'none' })

/**
 * The endpoints of single requests as routes of Bun's own server, which take precedence where both are mounted: the router makes a
 * context for each request, of which these use nothing. Other methods on these paths are answered as on any other.
 */
export const attestationNativeRoutes = ({ attestation, task }: AttestationEndpoints) => ({
  '/v2/attestation': { POST: attestation },
  '/v1/task': { POST: task },
})
