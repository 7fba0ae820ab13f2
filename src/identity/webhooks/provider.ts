// The provider of organizations that have an outside service decide: what is handed in is told to it in the transaction that
// closes the session (see store/webhook-queue.ts), and its result comes back through provider-endpoints.ts. Operators may
// decide as well: whoever is first.
import type { SessionChanges } from '../changes.ts'
import type { DecisionProvider } from '../providers.ts'
import type { WebhookEndpointStore } from './types.ts'

export const WEBHOOK_PROVIDER = 'webhook'

export const createWebhookProvider = (changes: Pick<SessionChanges, 'changeStatus'>): DecisionProvider => ({
  name: WEBHOOK_PROVIDER,
  registered: async () => undefined,
  submitted: async ({ organizationId, id }) => {
    await changes.changeStatus({ organizationId, sessionId: id, to: 'submitted', actor: 'person' })
  },
})

/** Which organizations have one: asked with every registration, so it is kept, and read again when anything changes. */
export const createDeciders = (input: {
  readonly endpoints: Pick<WebhookEndpointStore, 'organizationsWithDecider'>
  /** Of a read that failed: what was known stays. */
  readonly onError: (error: unknown) => void
}) => {
  const { endpoints, onError } = input
  let known: ReadonlySet<string> = new Set()
  let last: Promise<void> = Promise.resolve()

  const read = async (): Promise<void> => {
    known = new Set(await endpoints.organizationsWithDecider())
  }

  return {
    decides: (organizationId: string): boolean => known.has(organizationId),
    /** For the start, which fails with it. */
    load: read,
    /** One after another, so that an older answer never replaces a newer one. */
    refresh: (): void => {
      last = last.then(read).catch(onError)
    },
  }
}

export type Deciders = ReturnType<typeof createDeciders>
