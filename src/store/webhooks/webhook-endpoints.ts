// Where an organization receives messages about its sessions, or requests decisions. A removed endpoint keeps its row,
// because messages refer to it, but loses its secrets.
import { newIdentifier } from '../../domain/identifier.ts'
import type { WebhookEndpoint } from '../../domain/webhook-message.ts'
import { recordChange } from '../changes.ts'
import type { TableScope } from '../copy/table-scope.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'

// The table's readers import it from here.
export type { WebhookEndpoint }

type EndpointRow = RowOf<WebhookEndpoint>

const COLUMNS = `id, organization_id, environment, purpose, url, sealed_secret, previous_sealed_secret,
  previous_until_seconds, created_at_seconds, service, sealed_service_secret, previous_sealed_service_secret,
  previous_service_until_seconds`

const NO_SERVICE = {
  service: null,
  sealedServiceSecret: null,
  previousSealedServiceSecret: null,
  previousServiceUntilSeconds: null,
}

const EMPTY = new Uint8Array()

export const newWebhookEndpointId = (): string => newIdentifier('endpoint')

export const createWebhookEndpointTable = (scope: TableScope) => ({
  /** @throws ConstraintViolatedError for a second decider of one organization. */
  add: (
    endpoint: Pick<WebhookEndpoint, 'id' | 'organizationId' | 'environment' | 'purpose' | 'url' | 'sealedSecret'>,
  ): Promise<WebhookEndpoint> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const { id, organizationId, environment, purpose, url, sealedSecret } = endpoint
      await transaction.execute(
        `INSERT INTO webhook_endpoints (id, organization_id, environment, purpose, url, sealed_secret, created_at_seconds)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        [id, organizationId, environment, purpose, url, sealedSecret, nowSeconds],
      )
      // Caches hold which service decides for the organization.
      await recordChange(transaction, { topic: 'organization', subjectId: organizationId, organizationId }, nowSeconds)
      return {
        ...endpoint,
        ...NO_SERVICE,
        previousSealedSecret: null,
        previousUntilSeconds: null,
        createdAtSeconds: nowSeconds,
      }
    }),

  /** Oldest first. */
  list: async (organizationId: string): Promise<readonly WebhookEndpoint[]> =>
    (
      await scope.statements.query<EndpointRow>(
        `SELECT ${COLUMNS} FROM webhook_endpoints WHERE organization_id = ? AND removed_at_seconds IS NULL
         ORDER BY created_at_seconds, id`,
        [organizationId],
      )
    ).map(fieldsOf),

  /** Null when the organization has no such endpoint. */
  find: async (organizationId: string, id: string): Promise<WebhookEndpoint | null> => {
    const [row] = await scope.statements.query<EndpointRow>(
      `SELECT ${COLUMNS} FROM webhook_endpoints WHERE organization_id = ? AND id = ? AND removed_at_seconds IS NULL`,
      [organizationId, id],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /** Finds an endpoint by its id alone, because the owner of an incoming result is not known before. */
  findDecider: async (id: string): Promise<WebhookEndpoint | null> => {
    const [row] = await scope.statements.query<EndpointRow>(
      `SELECT ${COLUMNS} FROM webhook_endpoints WHERE id = ? AND purpose = 'decisions' AND removed_at_seconds IS NULL`,
      [id],
    )
    return row === undefined ? null : fieldsOf(row)
  },

  /** The organizations whose sessions an outside service decides: for the cache in front of registrations. */
  organizationsWithDecider: async (): Promise<readonly string[]> =>
    (
      await scope.statements.query<{ organization_id: string }>(
        "SELECT organization_id FROM webhook_endpoints WHERE purpose = 'decisions' AND removed_at_seconds IS NULL",
      )
    ).map((row) => row.organization_id),

  /**
   * The current secret continues to sign until `previousUntilSeconds`. False when the organization has no such
   * endpoint.
   */
  rotateSecret: (input: {
    readonly organizationId: string
    readonly id: string
    readonly sealedSecret: Uint8Array
    readonly previousUntilSeconds: number
  }): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          `UPDATE webhook_endpoints SET previous_sealed_secret = sealed_secret, previous_until_seconds = ?,
             sealed_secret = ? WHERE organization_id = ? AND id = ? AND removed_at_seconds IS NULL`,
          [input.previousUntilSeconds, input.sealedSecret, input.organizationId, input.id],
        )) > 0,
    ),

  /**
   * Sets the verification service whose webhooks decide, and the secret that it signs with. If the service stays the
   * same, its previous secret is valid until `previousUntilSeconds`. False when there is no such endpoint for
   * decisions.
   */
  setService: (input: {
    readonly organizationId: string
    readonly id: string
    readonly service: string
    readonly sealedSecret: Uint8Array
    readonly previousUntilSeconds: number
  }): Promise<boolean> =>
    scope.write(
      async (transaction) =>
        (await transaction.execute(
          `UPDATE webhook_endpoints SET
             previous_sealed_service_secret = CASE WHEN service = ? THEN sealed_service_secret END,
             previous_service_until_seconds = CASE WHEN service = ? THEN CAST(? AS BIGINT) END,
             service = ?, sealed_service_secret = ?
           WHERE organization_id = ? AND id = ? AND purpose = 'decisions' AND removed_at_seconds IS NULL`,
          [
            input.service,
            input.service,
            input.previousUntilSeconds,
            input.service,
            input.sealedSecret,
            input.organizationId,
            input.id,
          ],
        )) > 0,
    ),

  /** Also removes the messages that still wait for the endpoint. False when the organization has no such endpoint. */
  remove: (organizationId: string, id: string): Promise<boolean> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const removed = await transaction.execute(
        `UPDATE webhook_endpoints SET removed_at_seconds = ?, sealed_secret = ?, previous_sealed_secret = NULL,
           previous_until_seconds = NULL, sealed_service_secret = NULL, previous_sealed_service_secret = NULL,
           previous_service_until_seconds = NULL
         WHERE organization_id = ? AND id = ? AND removed_at_seconds IS NULL`,
        [nowSeconds, EMPTY, organizationId, id],
      )
      if (removed === 0) return false
      await transaction.execute(
        `UPDATE webhook_messages SET state = 'dead', settled_at_seconds = ?, last_failure = 'the endpoint was removed'
         WHERE organization_id = ? AND endpoint_id = ? AND state = 'waiting'`,
        [nowSeconds, organizationId, id],
      )
      await recordChange(transaction, { topic: 'organization', subjectId: organizationId, organizationId }, nowSeconds)
      return true
    }),
})
