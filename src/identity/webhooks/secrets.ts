// Opens an endpoint's secrets when they are needed and does not keep them: the current one and, during a rotation, the
// previous one.
import type { Clock } from '../../domain/time.ts'
import type { OrganizationKeys } from '../evidence/organization-keys.ts'
import type { WebhookEndpoint } from './types.ts'

export type EndpointSecrets = (endpoint: WebhookEndpoint) => Promise<readonly Uint8Array[]>

/** @throws EvidenceUnreadableError from the returned function */
export const createEndpointSecrets =
  (keys: Pick<OrganizationKeys, 'open'>, clock: Clock): EndpointSecrets =>
  async ({ id, organizationId, sealedSecret, previousSealedSecret, previousUntilSeconds }) => {
    const sealed = [sealedSecret]
    if (previousSealedSecret !== null && (previousUntilSeconds ?? 0) > clock.unixSeconds()) {
      sealed.push(previousSealedSecret)
    }
    return Promise.all(sealed.map((secret) => keys.open(organizationId, 'webhook secret', id, secret)))
  }
