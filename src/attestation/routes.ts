// The attestation API as a plugin. The endpoints read and decode bodies themselves, once and strictly.
import { Elysia } from 'elysia'
import type { Endpoint } from '../server/gate.ts'
import { routerPath } from '../server/public-route.ts'
import { ATTESTATION_PATHS } from './paths.ts'

export interface AttestationEndpoints {
  readonly attestation: Endpoint
  readonly task: Endpoint
  readonly batch: Endpoint
  readonly proof: Endpoint
}

export const attestationRoutes = ({ attestation, task, batch, proof }: AttestationEndpoints) =>
  new Elysia({ name: 'attestation' })
    .post(ATTESTATION_PATHS.attestation.path, ({ request }) => attestation(request), { parse: 'none' })
    .post(ATTESTATION_PATHS.task.path, ({ request }) => task(request), { parse: 'none' })
    .post(ATTESTATION_PATHS.batch.path, ({ request }) => batch(request), { parse: 'none' })
    .get(routerPath(ATTESTATION_PATHS.proof), ({ request }) => proof(request))
