// Decrypts an endpoint's secrets: the current secret and, during a rotation, the previous secret.

import type { WebhookEndpoint } from '../../domain/webhook-message.ts'
import type { Clock } from '../../lib/time.ts'
import type { OrganizationKeys } from '../evidence/organization-keys.ts'

type Sealed = Pick<
  WebhookEndpoint,
  'id' | 'organizationId' | 'sealedSecret' | 'previousSealedSecret' | 'previousUntilSeconds'
>

export type EndpointSecrets = (endpoint: Sealed) => Promise<readonly Uint8Array[]>

/** The returned function may throw EvidenceUnreadableError. */
export const createEndpointSecrets =
  (keys: Pick<OrganizationKeys, 'open'>, clock: Clock): EndpointSecrets =>
  async ({ id, organizationId, sealedSecret, previousSealedSecret, previousUntilSeconds }) => {
    const sealed = [sealedSecret]
    if (previousSealedSecret !== null && (previousUntilSeconds ?? 0) > clock.unixSeconds()) {
      sealed.push(previousSealedSecret)
    }
    return Promise.all(sealed.map((secret) => keys.open(organizationId, 'webhook secret', id, secret)))
  }

/**
 * Returns the signing secrets of the endpoint's verification service; empty if no service is connected. @throws
 * EvidenceUnreadableError
 */
export const serviceSecretsOf = async (
  secretsOf: EndpointSecrets,
  { id, organizationId, ...endpoint }: WebhookEndpoint,
): Promise<readonly Uint8Array[]> =>
  endpoint.sealedServiceSecret === null
    ? []
    : secretsOf({
        id,
        organizationId,
        sealedSecret: endpoint.sealedServiceSecret,
        previousSealedSecret: endpoint.previousSealedServiceSecret,
        previousUntilSeconds: endpoint.previousServiceUntilSeconds,
      })
