// A removed endpoint loses its secrets, but its row stays, because messages refer to it.
import { newIdentifier } from '../../domain/identifier.ts'
import type { WebhookEndpoint } from '../../domain/webhook-message.ts'
import { columnsOf, hidden, integer, nullable, sql } from '../columns.ts'
import { type TableScope, unidentifiedReads } from '../copy/table-scope.ts'
import type { Transaction } from '../database.ts'
import { ConstraintViolatedError } from '../errors.ts'
import { requireRoom } from '../organizations/organization-limits.ts'
import { defineTable } from '../table.ts'
import { endMessages } from './webhook-messages.ts'

// Importers of the table import the type from here.
export type { WebhookEndpoint }

const ENDPOINTS = defineTable('webhook_endpoints', {
  ...columnsOf<WebhookEndpoint>()(
    'id organizationId environment purpose url sealedSecret previousSealedSecret previousUntilSeconds createdAtSeconds',
    'pausedAtSeconds service sealedServiceSecret previousSealedServiceSecret previousServiceUntilSeconds',
  ),
  removedAtSeconds: hidden(nullable(integer)),
  // Caches contain the organization's decider.
}).announcing('organization', ({ organizationId }) => organizationId)

const THERE = { removedAtSeconds: null }
const DECIDES = { purpose: 'decisions', ...THERE } as const

const NO_SECRETS = {
  sealedSecret: new Uint8Array(),
  previousSealedSecret: null,
  previousUntilSeconds: null,
  sealedServiceSecret: null,
  previousSealedServiceSecret: null,
  previousServiceUntilSeconds: null,
}

/** Locks a decider until the commit. Returns false if it is paused or removed. */
export const lockDecider = async (
  transaction: Transaction,
  { organizationId, endpointId: id }: { readonly organizationId: string; readonly endpointId: string },
): Promise<boolean> =>
  (await ENDPOINTS.lock(transaction, { organizationId, id, ...DECIDES, pausedAtSeconds: null }, 'purpose')) !== null

interface NewSecret extends Pick<WebhookEndpoint, 'organizationId' | 'id' | 'sealedSecret'> {
  readonly previousUntilSeconds: number
}

export const newWebhookEndpointId = (): string => newIdentifier('endpoint')

export const createWebhookEndpointTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError for a second decider of an organization; OrganizationLimitError */
  add: (
    endpoint: Pick<WebhookEndpoint, 'id' | 'organizationId' | 'environment' | 'purpose' | 'url' | 'sealedSecret'>,
  ): Promise<WebhookEndpoint> =>
    scope.write(async (own) => {
      const { organizationId, purpose } = endpoint
      // The insert would wait for messages of the decider, which wait for the deployment's lock.
      if (purpose === 'decisions' && (await ENDPOINTS.find(own, { organizationId, ...DECIDES })) !== null) {
        throw new ConstraintViolatedError('unique')
      }
      await requireRoom(own, organizationId, 'webhook endpoints')
      return ENDPOINTS.insert(own, { ...endpoint, createdAtSeconds: scope.nowSeconds() })
    }),

  list: (organizationId: string) => ENDPOINTS.list(scope, { organizationId, ...THERE }, ['createdAtSeconds', 'id']),

  find: (organizationId: string, id: string) => ENDPOINTS.find(scope, { organizationId, id, ...THERE }),

  /** Searches all organizations, because the owner of an incoming result is unknown. */
  findDecider: (id: string) => ENDPOINTS.everywhere.find(unidentifiedReads(scope), { id, ...DECIDES }),

  organizationsWithDecider: async (): Promise<readonly string[]> =>
    (await ENDPOINTS.everywhere.list(scope, DECIDES, ['organizationId'])).map(({ organizationId }) => organizationId),

  /** The replaced secret also signs until `previousUntilSeconds`. Returns false if there is no such endpoint. */
  rotateSecret: async ({ organizationId, id, sealedSecret, previousUntilSeconds }: NewSecret): Promise<boolean> => {
    const values = { previousSealedSecret: sql`sealed_secret`, previousUntilSeconds, sealedSecret }
    return (await ENDPOINTS.updateAll(scope, { organizationId, id, ...THERE }, values)) > 0
  },

  /** Pausing again keeps the time of the first pause. Returns false if there is no such endpoint. */
  setPaused: async (organizationId: string, id: string, paused: boolean): Promise<boolean> => {
    const since = sql`COALESCE(paused_at_seconds, CAST(${scope.nowSeconds()} AS BIGINT))`
    const values = { pausedAtSeconds: paused ? since : null }
    return (await ENDPOINTS.updateAll(scope, { organizationId, id, ...THERE }, values)) > 0
  },

  /** Sets the verification service that decides, and its secret. The same service's previous secret stays valid. */
  setService: async (input: NewSecret & { readonly service: string }): Promise<boolean> => {
    const { organizationId, id, service, sealedSecret, previousUntilSeconds } = input
    const values = {
      previousSealedServiceSecret: sql`CASE WHEN service = ${service} THEN sealed_service_secret END`,
      previousServiceUntilSeconds: sql`CASE WHEN service = ${service} THEN CAST(${previousUntilSeconds} AS BIGINT) END`,
      service,
      sealedServiceSecret: sealedSecret,
    }
    return (await ENDPOINTS.updateAll(scope, { organizationId, id, ...DECIDES }, values)) > 0
  },

  /**
   * Marks a batch of waiting messages as dead; the sweep marks the rest. Returns false if there is no such endpoint.
   */
  remove: (organizationId: string, id: string): Promise<boolean> =>
    scope.write(async (own) => {
      const nowSeconds = scope.nowSeconds()
      const values = { ...NO_SECRETS, removedAtSeconds: nowSeconds }
      if ((await ENDPOINTS.update(own, { organizationId, id, ...THERE }, values)) === null) return false
      await endMessages(own, 'SELECT id FROM webhook_endpoints WHERE organization_id = ? AND id = ?', [
        organizationId,
        id,
      ])
      return true
    }),
})
