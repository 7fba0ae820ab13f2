import { VERIFICATION_SERVICES } from '../../domain/webhook-message.ts'
import type { SealedSecret } from '../../identity/evidence/organization-keys.ts'
import { IDENTITY_PATHS } from '../../identity/paths.ts'
import { formatWebhookSecret, newWebhookSecret } from '../../server/webhook-signature.ts'
import type { Tables } from '../../store/store.ts'
import type { WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts'
import { requireFound } from '../errors.ts'
import { closed, named, oneOf, Type, time, timeOrNull } from '../schema.ts'
import type { Services } from '../services.ts'
import { shown } from '../shown.ts'

export const DAY_SECONDS = 86_400

export const ENVIRONMENT = oneOf(['live', 'test'], 'Whether the endpoint receives events of live or test sessions')
export const PURPOSE = oneOf(
  ['events', 'decisions'],
  '`events`: receives every change. `decisions`: decides submitted sessions in place of reviewers',
)

export const SERVICE = oneOf(VERIFICATION_SERVICES)

export const ENDPOINT = named(
  'WebhookEndpoint',
  closed({
    id: Type.String(),
    url: Type.String(),
    environment: ENVIRONMENT,
    purpose: PURPOSE,
    created_at: time(),
    old_secret_until: Type.Union([time(), Type.Null()], {
      description: 'Time until which messages are also signed with the old secret',
    }),
    paused_since: Type.Union([time(), Type.Null()], {
      description: 'Time of the pause; null unless the endpoint is paused',
    }),
    service: Type.Union([SERVICE, Type.Null()], {
      description: 'Verification service whose webhooks decide sessions',
    }),
    service_path: Type.Union([Type.String(), Type.Null()], {
      description: 'Path on the API listener for the service’s webhooks',
    }),
  }),
  ['id', 'purpose', 'service', 'environment', 'created_at', 'old_secret_until', 'paused_since', 'url'],
)

export const showEndpoint = (endpoint: WebhookEndpoint) =>
  shown(ENDPOINT, endpoint, {
    old_secret_until: timeOrNull(endpoint.previousUntilSeconds),
    paused_since: timeOrNull(endpoint.pausedAtSeconds),
    service: VERIFICATION_SERVICES.find((known) => known === endpoint.service) ?? null,
    service_path:
      endpoint.service === null ? null : IDENTITY_PATHS.providerEvent.path.replace('{endpointId}', () => endpoint.id),
  })

interface KeptSecret {
  readonly id: string
  readonly sealed: string
  readonly sealedUnder: string
}

export const sealSecret = async (
  { webhooks }: Pick<Services, 'webhooks'>,
  organizationId: string,
  endpointId: string,
  secret: Uint8Array,
): Promise<SealedSecret> => (await webhooks.keys()).seal(organizationId, 'webhook secret', endpointId, secret)

export const keep = (id: string, { sealed, sealedUnder }: SealedSecret): KeptSecret => ({
  id,
  sealed: sealed.toBase64(),
  sealedUnder: sealedUnder.toBase64(),
})

export const keptOf = (kept: unknown): (SealedSecret & { readonly id: string }) | null => {
  if (kept === null) return null
  const { id, sealed, sealedUnder } = kept as KeptSecret
  return { id, sealed: Uint8Array.fromBase64(sealed), sealedUnder: Uint8Array.fromBase64(sealedUnder) }
}

/** Creates a secret: text for the receiver, and sealed bytes for the store. */
export const newSecret = async (services: Pick<Services, 'webhooks'>, organizationId: string, endpointId: string) => {
  const secret = newWebhookSecret()
  return { text: formatWebhookSecret(secret), ...(await sealSecret(services, organizationId, endpointId, secret)) }
}

export const requireEndpoint = async (
  tables: Pick<Tables, 'webhookEndpoints'>,
  organizationId: string,
  id: string,
): Promise<WebhookEndpoint> => requireFound(await tables.webhookEndpoints.find(organizationId, id), 'endpoint')
