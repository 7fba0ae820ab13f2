import type { ProvenLine } from '../decision-log/line-proof.ts'
import { fixedError } from '../domain/errors.ts'
import { runFor } from '../lib/caller.ts'
import { serviceKey } from '../lib/service-key.ts'
import type { Endpoint, Gate } from '../server/gate.ts'
import { parameterReader } from '../server/public-route.ts'
import { API_KEY_CHALLENGE, jsonResponse } from '../server/response.ts'
import { ATTESTATION_PATHS } from './paths.ts'

/** Null if there is no such decision. @throws DependencyUnavailableError while no signed head covers it */
export type ProveDecision = (organizationId: string, uuid: string) => Promise<ProvenLine | null>

export const PROVE_DECISION = serviceKey<ProveDecision>('proofs of decisions')

class DecisionUnknownError extends fixedError(
  'NOT_FOUND',
  'decision not found; proofs of new decisions are available after a short delay',
) {}

const readParameters = parameterReader(ATTESTATION_PATHS.proof)

export const createProofEndpoint = (dependencies: { readonly gate: Gate; readonly prove: ProveDecision }): Endpoint =>
  dependencies.gate(
    {
      method: ATTESTATION_PATHS.proof.method,
      route: ATTESTATION_PATHS.proof.path,
      scope: 'attestation',
      readKey: (headers) => headers.get('x-api-key'),
      challenge: API_KEY_CHALLENGE,
    },
    async ({ request, requestId, principal, rateLimit, ended }) => {
      const uuid = readParameters(request.url).uuid.toLowerCase()
      const proven = await runFor({ owner: principal.organizationId, signal: ended }, () =>
        dependencies.prove(principal.organizationId, uuid),
      )
      if (proven === null) throw new DecisionUnknownError()
      const body = JSON.stringify({ uuid, log_key: proven.logKey, proof: proven.proof })
      return jsonResponse(body, requestId, { rateLimit })
    },
  )
