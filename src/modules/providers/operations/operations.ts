import { ConflictError } from '../../../admin/errors.ts'
import { declareRoutes, ORGANIZATION_ADMIN } from '../../../admin/route.ts'
import {
  DAY_SECONDS,
  ENDPOINT,
  keep,
  keptOf,
  requireEndpoint,
  SERVICE,
  sealSecret,
  showEndpoint,
} from '../../../admin/routes/webhook-endpoint.ts'
import { closed, Type } from '../../../admin/schema.ts'
import { locationText } from '../../../admin/second-person/location-text.ts'
import { counted } from '../../../lib/counted.ts'
import type { ModuleOperations } from '../../../module-interface/operations.ts'

const route = declareRoutes('Webhooks')

export const ROUTES = [
  route('setWebhookService', 'PUT', '/organizations/{organization}/webhooks/{endpoint}/service', {
    access: ORGANIZATION_ADMIN,
    command: {
      name: 'webhook set-service',
      fields: { service: { word: 'SERVICE' }, secret: { option: 'secret-file', file: 'text' } },
    },
    summary: 'Connect a verification service to an endpoint',
    description:
      'The service’s webhooks then decide sessions. Requires an endpoint for decisions. Pass the session ID to the service as its reference. ' +
      'Enter `service_path` as the webhook path in the service’s settings. If you change the secret, the previous secret stays valid until the overlap ends.',
    body: closed({
      service: SERVICE,
      secret: Type.String({
        minLength: 8,
        maxLength: 500,
        printable: true,
        description: 'Secret with which the service signs its webhooks; stored encrypted and never shown',
      }),
      overlap_seconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 30 * DAY_SECONDS,
          description: 'Overlap of the two secrets in seconds. Defaults to one day',
        }),
      ),
    }),
    answer: ENDPOINT,
    errors: [409],
    secondPerson: {
      action: 'webhook.service',
      withoutSecrets: (body: object) => ({ ...body, secret: '' }),
      see: async (tables, { organization, params, body }) => {
        const endpoint = await requireEndpoint(tables, organization.id, params.endpoint)
        const { service, sealedServiceSecret } = endpoint
        return {
          subject: endpoint.id,
          name: locationText(endpoint.url),
          changes: [
            { what: 'verification service', before: service, after: body.service },
            { what: 'secret', before: service === null ? null : 'current', after: 'new' },
            ...(service === null
              ? []
              : [
                  {
                    what: 'overlap with the current secret',
                    before: null,
                    after: counted(body.overlap_seconds ?? DAY_SECONDS, 'second', 'seconds'),
                  },
                ]),
          ],
          basis: sealedServiceSecret?.toBase64() ?? null,
        }
      },
    },
    handle: async ({ services, organization, params, body, kept, write }) => {
      const { id } = await requireEndpoint(services.store, organization.id, params.endpoint)
      const secret =
        keptOf(kept) ?? (await sealSecret(services, organization.id, id, new TextEncoder().encode(body.secret)))
      return write(
        async (tables, note) => {
          await tables.organizationKeys.requireInUse(organization.id, secret.sealedUnder)
          const wasSet = await tables.webhookEndpoints.setService({
            organizationId: organization.id,
            id,
            service: body.service,
            sealedSecret: secret.sealed,
            previousUntilSeconds: services.clock.unixSeconds() + (body.overlap_seconds ?? DAY_SECONDS),
          })
          if (!wasSet)
            throw new ConflictError(
              'the endpoint is for events; a verification service requires an endpoint for decisions',
            )
          note({ action: 'webhook.service', subject: id, detail: { service: body.service } })
          return showEndpoint(await requireEndpoint(tables, organization.id, id))
        },
        keep(id, secret),
      )
    },
  }),
] as const

export const operations: ModuleOperations = { routes: ROUTES }
