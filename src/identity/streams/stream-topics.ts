// Followed sessions, by session and organization, because a session's organization is unknown until it is read.

export interface Topic<Subscription> {
  readonly organizationId: string
  readonly sessionId: string
  readonly subscriptions: Set<Subscription>
  /** Every subscription has received the changes up to this sequence; 0 before the first subscription. */
  published: number
  /** Sequence of a known but unread change. */
  wanted: number
  reading: boolean
}

export interface StreamTopics<Subscription> {
  /** Creates a missing topic; the caller must add its subscription immediately. */
  get(organizationId: string, sessionId: string): Topic<Subscription>
  leave(topic: Topic<Subscription>, subscription: Subscription): void
  find(organizationId: string, sessionId: string): Topic<Subscription> | undefined
  /** Topics of all organizations that follow or request this session. */
  ofSession(sessionId: string): Iterable<Topic<Subscription>>
  all(): Iterable<Topic<Subscription>>
}

export const createStreamTopics = <Subscription>(): StreamTopics<Subscription> => {
  const topics = new Map<string, Map<string, Topic<Subscription>>>()
  const ofSession = (sessionId: string): Iterable<Topic<Subscription>> => topics.get(sessionId)?.values() ?? []

  return {
    get: (organizationId, sessionId) => {
      const followed = topics.get(sessionId) ?? new Map<string, Topic<Subscription>>()
      topics.set(sessionId, followed)
      let topic = followed.get(organizationId)
      if (topic === undefined) {
        topic = { organizationId, sessionId, subscriptions: new Set(), published: 0, wanted: 0, reading: false }
        followed.set(organizationId, topic)
      }
      return topic
    },
    leave: ({ organizationId, sessionId, subscriptions }, subscription) => {
      subscriptions.delete(subscription)
      const followed = topics.get(sessionId)
      if (subscriptions.size === 0) followed?.delete(organizationId)
      if (followed?.size === 0) topics.delete(sessionId)
    },
    find: (organizationId, sessionId) => topics.get(sessionId)?.get(organizationId),
    ofSession,
    all: function* () {
      for (const sessionId of topics.keys()) yield* ofSession(sessionId)
    },
  }
}
