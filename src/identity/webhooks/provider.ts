// Provider of organizations with an external decider. The message to the decider is queued after the checks, and its
// result arrives through provider-endpoints.ts. Operators can also decide; the first decision counts.
import { WEBHOOK_PROVIDER } from '../../domain/webhook-message.ts'
import { createReload } from '../../lib/reload.ts'
import type { SessionChanges } from '../sessions/changes.ts'
import { createManualProvider, type DecisionProvider } from '../sessions/providers.ts'
import type { WebhookEndpointStore } from './message.ts'

export const createWebhookProvider = (changes: Pick<SessionChanges, 'changeStatus'>): DecisionProvider => ({
  name: WEBHOOK_PROVIDER,
  submitted: createManualProvider(changes).submitted,
})

/** Caches which organizations have a decider, because every registration needs it. */
export const createDeciders = (input: {
  readonly endpoints: Pick<WebhookEndpointStore, 'organizationsWithDecider'>
  /** Called for each failed read, which is then retried; the cached value stays in use. */
  readonly onError: (error: unknown) => void
}) => {
  const { endpoints, onError } = input
  let known: ReadonlySet<string> = new Set()
  const read = async (): Promise<void> => {
    known = new Set(await endpoints.organizationsWithDecider())
  }

  const { load, refresh } = createReload(read, onError)
  return {
    decides: (organizationId: string): boolean => known.has(organizationId),
    /** Call at startup; startup must fail if this call fails. */
    load,
    refresh,
  }
}
