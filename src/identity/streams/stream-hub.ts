// Tracks which streams follow which session. A stream subscribes before it reads the status (invariant 7), and drops
// events that aren't newer.
import { DeadlineExceededError, fixedError } from '../../domain/errors.ts'
import type { SessionState } from '../../domain/session.ts'
import { SessionUnknownError } from '../../domain/session-errors.ts'
import { createEventStream, type EventStream, type StreamEvent } from '../../server/event-stream.ts'
import { buildStatus } from '../sessions/status.ts'
import { createStreamShares, type StreamOwner } from './stream-shares.ts'
import { createStreamTopics, type Topic } from './stream-topics.ts'

class StreamsStoppingError extends fixedError('SHUTTING_DOWN', 'the service is stopping; connect again', {
  retryAfterSeconds: 1,
}) {}

export interface StreamHubDependencies {
  readonly read: (organizationId: string, sessionId: string) => Promise<SessionState | null>
  /** Returns the state after each change beyond a sequence, oldest first. */
  readonly readSince: (
    organizationId: string,
    sessionId: string,
    afterSequence: number,
  ) => Promise<readonly SessionState[]>
  readonly streamsMax: number
  readonly streamsPerKeyMax: number
  /** Called if a change could not be read; the hub retries every second. */
  readonly onError: (error: unknown) => void
  /** The more ticks per second, the fewer streams each tick writes to. */
  readonly ticksPerSecond?: number
}

export interface StreamRequest extends StreamOwner {
  readonly sessionId: string
  /** Limit for this key. Defaults to the hub's limit. */
  readonly streamsMax?: number
  /**
   * Returns whether the session has the requested type and environment; otherwise `open` throws SessionUnknownError.
   */
  readonly accepts: (state: SessionState) => boolean
  /** Returns whether the key is still valid. If it throws or rejects, the stream continues. */
  readonly allowed: () => boolean | Promise<boolean>
  /** Checked before each further event; if false, the stream ends. For readers who can lose access to the session. */
  readonly mayReceive?: () => Promise<boolean>
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** The request already got another response (408), so the stream would have no reader. */
  readonly isLate: () => boolean
}

interface Subscription {
  readonly request: StreamRequest
  readonly topic: Topic<Subscription>
  readonly stream: EventStream
  readonly slot: Set<Subscription>
  /** Events that wait for `mayReceive`, in order. */
  delivered: Promise<void>
}

const KEEP_ALIVE_SECONDS = 15

const toEvent = (state: SessionState): StreamEvent => ({
  sequence: state.session.sequence,
  data: JSON.stringify(buildStatus(state)),
})

export const createStreamHub = (dependencies: StreamHubDependencies) => {
  const { read, readSince, streamsMax, streamsPerKeyMax, onError, ticksPerSecond = 1 } = dependencies
  const topics = createStreamTopics<Subscription>()
  const slots = Array.from({ length: KEEP_ALIVE_SECONDS * ticksPerSecond }, () => new Set<Subscription>())
  const shares = createStreamShares<Subscription>(streamsMax, (subscription) => end(subscription))
  let opened = 0
  let turn = 0
  let closing = false

  const remove = (subscription: Subscription): boolean => {
    if (!subscription.slot.delete(subscription)) return false
    shares.remove(subscription)
    topics.leave(subscription.topic, subscription)
    return true
  }

  const end = (subscription: Subscription): void => {
    if (remove(subscription)) subscription.stream.end()
  }

  const subscribe = (request: StreamRequest): Subscription => {
    const { organizationId, sessionId } = request
    if (closing) throw new StreamsStoppingError()
    shares.requireRoom(request, request.streamsMax ?? streamsPerKeyMax)
    const slot = slots[opened++ % slots.length]!
    const subscription: Subscription = {
      request,
      topic: topics.get(organizationId, sessionId),
      slot,
      stream: createEventStream(() => remove(subscription)),
      delivered: Promise.resolve(),
    }
    slot.add(subscription)
    shares.add(subscription)
    subscription.topic.subscriptions.add(subscription)
    return subscription
  }

  const deliver = (subscription: Subscription, event: StreamEvent): void => {
    const { stream, request } = subscription
    const { mayReceive } = request
    if (mayReceive === undefined) stream.send(event)
    else {
      subscription.delivered = subscription.delivered.then(mayReceive).then(
        (may) => (may ? stream.send(event) : end(subscription)),
        (error: unknown) => {
          // The client reconnects and, if it may still access the session, receives the missed state.
          onError(error)
          end(subscription)
        },
      )
    }
  }

  const send = (topic: Topic<Subscription>, state: SessionState): void => {
    if (state.session.sequence <= topic.published) return
    topic.published = state.session.sequence
    const event = toEvent(state)
    for (const subscription of topic.subscriptions) deliver(subscription, event)
  }

  const readAgain = async (topic: Topic<Subscription>): Promise<void> => {
    topic.reading = true
    try {
      while (topic.wanted > topic.published && topic.subscriptions.size > 0) {
        const { wanted, published } = topic
        const states = await readSince(topic.organizationId, topic.sessionId, published)
        for (const state of states) send(topic, state)
        // Every change was read, so the wanted change is included or will never come.
        if (topic.wanted === wanted && topic.published >= published) topic.wanted = 0
      }
    } catch (error) {
      onError(error)
    } finally {
      topic.reading = false
    }
  }

  const want = (topic: Topic<Subscription>, sequence: number): void => {
    topic.wanted = Math.max(topic.wanted, sequence)
    if (!topic.reading && topic.wanted > topic.published) void readAgain(topic)
  }

  /** If other streams of the session are ahead, the changes in between follow. */
  const begin = ({ topic, stream }: Subscription, state: SessionState): void => {
    stream.begin(toEvent(state))
    const { published } = topic
    const { sequence } = state.session
    if (published === 0 || sequence < published) topic.published = sequence
    want(topic, sequence < published ? published : 0)
  }

  /** @param answers results of this tick by key, shared by the key's streams */
  const checkKey = (subscription: Subscription, answers: Map<string, boolean | Promise<boolean>>): void => {
    const { keyId, allowed: ask } = subscription.request
    try {
      const allowed = answers.get(keyId) ?? ask()
      answers.set(keyId, allowed)
      if (allowed === false) end(subscription)
      else if (allowed !== true) {
        allowed.then(
          (stillAllowed) => {
            if (!stillAllowed) end(subscription)
          },
          // A store outage does not end the stream; the key is checked again in 15 s.
          (error: unknown) => onError(error),
        )
      }
    } catch (error) {
      onError(error)
    }
  }

  return {
    /** @throws StreamLimitError 429, StreamsStoppingError 503, SessionUnknownError 404, and errors of `read` */
    open: async (request: StreamRequest): Promise<EventStream> => {
      const subscription = subscribe(request)
      try {
        request.signal.addEventListener('abort', () => remove(subscription), { once: true })
        const state = await read(request.organizationId, request.sessionId)
        if (state === null || !request.accepts(state)) throw new SessionUnknownError()
        if (closing) throw new StreamsStoppingError()
        if (request.isLate()) throw new DeadlineExceededError()
        begin(subscription, state)
        return subscription.stream
      } catch (error) {
        remove(subscription)
        throw error
      }
    },
    publish: (state: SessionState) => {
      const { id, organizationId, sequence } = state.session
      const topic = topics.find(organizationId, id)
      if (topic === undefined) return
      // The first stream has not begun: it reads this change, and earlier changes of other processes, after its status.
      if (topic.published === 0) topic.wanted = Math.max(topic.wanted, sequence)
      // A gap in the sequence: another process's change must be sent first.
      else if (sequence > topic.published + 1) want(topic, sequence)
      else send(topic, state)
    },
    /** Call after a session changed in any process, to read changes that its followers haven't received. */
    refresh: (sessionId: string, sequence: number) => {
      for (const topic of topics.ofSession(sessionId)) want(topic, sequence)
    },
    refreshAll: () => {
      for (const topic of topics.all()) want(topic, topic.published + 1)
    },
    /** Call `ticksPerSecond` times per second. Sends keep-alives, checks keys, and ends streams without a reader. */
    tick: () => {
      // Retries failed reads, so that no change is lost while the store is down.
      if (turn % ticksPerSecond === 0) {
        for (const topic of topics.all()) if (topic.wanted > topic.published) want(topic, 0)
      }
      const slot = slots[turn++ % slots.length]!
      const answers = new Map<string, boolean | Promise<boolean>>()
      for (const subscription of [...slot]) {
        if (subscription.stream.keepAlive()) checkKey(subscription, answers)
        else if (remove(subscription)) subscription.stream.cut()
      }
    },
    size: shares.size,
    close: () => {
      closing = true
      for (const slot of slots) for (const subscription of [...slot]) end(subscription)
    },
  }
}

export type StreamHub = ReturnType<typeof createStreamHub>
