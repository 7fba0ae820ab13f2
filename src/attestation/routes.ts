// The attestation API on Elysia. The bodies are read and decoded by the endpoints themselves: decoded once, strictly.
import { Elysia } from 'elysia'
import type { Endpoint } from '../server/gate.ts'
import { routerPath } from '../server/public-route.ts'
import type { Harden } from '../server/security-headers.ts'
import { ATTESTATION_PATHS } from './paths.ts'

export interface AttestationEndpoints {
  readonly attestation: Endpoint
  readonly task: Endpoint
  readonly batch: Endpoint
  readonly proof: Endpoint
}

export const attestationRoutes = ({ batch, proof }: Pick<AttestationEndpoints, 'batch' | 'proof'>) =>
  new Elysia({ name: 'attestation' })
    .post(ATTESTATION_PATHS.batch.path, ({ request }) => batch(request), { parse: 'none' })
    .get(routerPath(ATTESTATION_PATHS.proof), ({ request }) => proof(request))

/**
 * The endpoints of single requests as routes of Bun's own server: the router would create a context for each request, of
 * which these use nothing. Other methods on these paths are answered as on any other.
 * @param harden null if the listener adds no header to answers of the gate, which carry the security headers
 */
export const attestationNativeRoutes = ({ attestation, task }: AttestationEndpoints, harden: Harden | null) => {
  const hardened = (endpoint: Endpoint): Endpoint =>
    harden === null ? endpoint : (request) => endpoint(request).then(harden)
  return {
    [ATTESTATION_PATHS.attestation.path]: { POST: hardened(attestation) },
    [ATTESTATION_PATHS.task.path]: { POST: hardened(task) },
  }
}
