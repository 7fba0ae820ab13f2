// Provider of organizations with an external decider. The message to the decider is queued after the checks, and its
// result arrives through provider-endpoints.ts. Operators can also decide; the first decision counts.
import { WEBHOOK_PROVIDER } from '../../domain/webhook-message.ts'
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
  /** Called if a read failed; the cached value stays in use. */
  readonly onError: (error: unknown) => void
}) => {
  const { endpoints, onError } = input
  let known: ReadonlySet<string> = new Set()
  let last: Promise<void> = Promise.resolve()

  const read = async (): Promise<void> => {
    known = new Set(await endpoints.organizationsWithDecider())
  }

  /** Reads run sequentially, so that an older result never replaces a newer one. */
  const load = (): Promise<void> => {
    const loading = last.then(read)
    last = loading.catch(() => undefined)
    return loading
  }

  return {
    decides: (organizationId: string): boolean => known.has(organizationId),
    /** Call at startup, which must fail if this fails. */
    load,
    refresh: (): void => {
      load().catch(onError)
    },
  }
}
