// What became of an attempt to deliver a webhook message.
export type WebhookOutcome =
  | { readonly state: 'delivered'; readonly status: number }
  | { readonly state: 'dead'; readonly status: number | null; readonly failure: string }
  | {
      readonly state: 'waiting'
      readonly status: number | null
      readonly failure: string
      readonly nextAttemptAtSeconds: number
    }
