// The HTTP half of idempotency (decisions §1; invariant 3). A request with an Idempotency-Key claims a uuid before it
// is dispatched. A retry gets the stored answer, a refusal, or the same uuid again, so it can't produce a second
// attestation. Requests without the header do none of this.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { type Clock, createHeldClock } from '../lib/time.ts'
import { isVisibleAscii } from './request-id.ts'

/** The right to answer for an idempotency key until the claim expires. Passed back to `complete` or `release`. */
export interface HeldClaim {
  /** Sign with this uuid and no other. */
  readonly uuid: string
}

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

export type ClaimOutcome<Claim extends HeldClaim> =
  | { readonly outcome: 'claimed'; readonly claim: Claim }
  /**
   * An earlier request on this node let its claim expire without an answer. Its uuid is used again; it may have been
   * signed since `uuidSinceSeconds` (Unix; 0 when unknown).
   */
  | { readonly outcome: 'taken-over'; readonly claim: Claim; readonly uuidSinceSeconds: number }
  /**
   * Another request holds the claim until then, or an attestation that another node may have signed is valid until
   * then.
   */
  | {
      readonly outcome: 'in-flight'
      readonly expiresAtSeconds: number
      /** What this node may have signed since `uuidSinceSeconds` (Unix). */
      readonly earlier?: { readonly uuid: string; readonly uuidSinceSeconds: number }
    }
  | { readonly outcome: 'mismatch' }
  | { readonly outcome: 'completed'; readonly uuid: string; readonly response: StoredAnswer }

/** The store of claims. `Claim` is the store's own type. */
export interface IdempotencyStore<Claim extends HeldClaim> {
  claim(
    organizationId: string,
    keyId: string,
    idempotencyKey: string,
    bodyHash: Uint8Array,
    uuid: string,
    claimExpiresAtSeconds: number,
    place: { readonly node: string; readonly usableSeconds: number; readonly keepSeconds: number } | undefined,
    nowSeconds: number,
  ): Promise<ClaimOutcome<Claim>>
  /**
   * Records that from now on the claim's uuid may be signed on its node, and keeps the claim until `keepUntilSeconds` at
   * least. False when the claim is no longer held.
   */
  markDispatched(claim: Claim, keepUntilSeconds: number): Promise<boolean>
  /**
   * Stores the answer and returns the one that counts: this one, or an earlier one. Null when the claim is no longer
   * held. Absent where every request with a key can be answered from the decision log.
   */
  complete?(claim: Claim, answer: StoredAnswer, keepUntilSeconds: number): Promise<StoredAnswer | null>
  /**
   * Stores another uuid to sign under the same claim, before anything is signed. Null when the claim is no longer held.
   */
  replaceUuid(claim: Claim, uuid: string): Promise<Claim | null>
  /** Gives the claim up, so that a retry starts again with a new uuid. */
  release(claim: Claim): Promise<boolean>
}

/**
 * The key is not 1 to 255 visible ASCII characters. Two headers arrive joined by a comma and a space, and are refused
 * as well.
 */
class IdempotencyKeyInvalidError extends fixedError(
  'INVALID_HEADER',
  'the Idempotency-Key header must be 1 to 255 visible ASCII characters',
) {}

/** Another request with this key is being answered, or was cut off and may still have been signed. */
export class IdempotencyTwinInFlightError extends CountersignError {
  /** @param retryAfterSeconds until the other request's claim ends, which is the longest that it can take */
  constructor(retryAfterSeconds = 1) {
    super('IDEMPOTENCY_IN_FLIGHT', 'a request with this Idempotency-Key is in flight; retry later', {
      retryAfterSeconds,
    })
  }
}

/** The key was used with another body or on another route. */
class IdempotencyKeyReusedError extends fixedError(
  'IDEMPOTENCY_MISMATCH',
  'this Idempotency-Key was used with another request',
) {}

export interface IdempotentRequest {
  readonly organizationId: string
  readonly keyId: string
  /** The Idempotency-Key header. */
  readonly header: string | null
  /** A retry must have the same route. */
  readonly route: string
  /** The body as received, byte for byte. */
  readonly body: string
  /** The uuid of a first try; a retry gets the first try's. */
  readonly uuid: string
}

/** The answer of the work: a complete body, and how long the granted attestation is valid. */
export interface FreshAnswer {
  readonly body: string
  /** Default: 200. */
  readonly status?: number
  /** How long the answer is repeated: at least the attestation's lifetime. */
  readonly keepSeconds: number
}

export interface IdempotentAnswer extends StoredAnswer {
  /** True for the answer of an earlier request. */
  readonly replayed: boolean
}

/** A claim of this process. */
interface UnansweredClaim {
  readonly bodyHash: Uint8Array
  /** When it ends, monotonic milliseconds. */
  readonly endsMs: number
  /** False once it was cut off. It may still be signed until it ends. */
  isWorking: boolean
}

/** What happened to the uuid of an earlier request. */
export type Recalled =
  /** Nothing was recorded under the uuid: it may be used again. */
  | { readonly outcome: 'nothing' }
  /** It was decided and recorded: this is its answer, and for how long it is still repeated. */
  | { readonly outcome: 'decided'; readonly answer: FreshAnswer }
  /** It was decided, but its signature is not valid any more, or its denial is too old: treat the request as new. */
  | { readonly outcome: 'expired' }

export interface SoughtDecision {
  readonly organizationId: string
  readonly uuid: string
  /** Unix seconds at which the request came. */
  readonly sinceSeconds: number
}

/** The decision log of a node, as the record of the uuids that were signed on it. */
export interface NodeMemory {
  /** The node's name in the deployment. Empty when there is only one node. */
  readonly node: string
  /** The longest time that a signature is valid after its claim has expired. */
  readonly usableSeconds: number
  /**
   * How long a claim is kept after it has expired; a claim for something that can be used for longer is written again
   * before that is signed.
   */
  readonly keepSeconds: number
  /**
   * Searches the records of the minute that begins at `sinceSeconds` for a uuid. Rejects if the log can't be read.
   * @throws IdempotencyTwinInFlightError if too many of the organization's searches wait
   */
  find(sought: SoughtDecision): Promise<Recalled>
  /** Like `find`. If that finds nothing, searches all records since `sinceSeconds`. */
  recall(sought: SoughtDecision): Promise<Recalled>
}

export interface IdempotencyDependencies<Claim extends HeldClaim> {
  /** Left out: nothing is recorded under uuids, and the store itself knows what happened to one. */
  readonly memory?: NodeMemory
  readonly store: IdempotencyStore<Claim>
  readonly clock: Clock
  /** How long a claim without an answer is held: longer than a request's deadline. */
  readonly claimSeconds: number
  /**
   * Whether a try that failed with this error after its dispatch may have had its effect; its claim is then kept until
   * it expires. Default: mayHaveSigned.
   */
  mayHaveActed?(error: unknown): boolean
  /** Called when the store failed after the work was done; the answer is not affected. */
  report(error: unknown): void
}

const IGNORE: OnDispatch = () => undefined

const answerOf = ({ status = 200, body }: FreshAnswer, replayed: boolean): IdempotentAnswer => ({
  status,
  body,
  replayed,
})

/** Added to an attestation's validity: clocks differ, and Solana's program allows 30 s of drift (decisions §2). */
export const KEEP_SLACK_SECONDS = 60
/**
 * How far back a uuid is searched when its claim does not say since when it was used: claims are kept for about as
 * long.
 */
const LOOK_BACK_SECONDS = 86_400
/** How often claims that have ended are forgotten. */
const FORGET_MS = 1_000

/**
 * Announces that the work goes to where it may be signed, and for how long what is signed can be used. The work awaits a
 * returned promise, and ends when it rejects.
 */
export type OnDispatch = (usableSeconds: number) => Promise<void> | undefined

/**
 * Whether the work may have been signed before it failed. A refusal was not signed: it is an answer. Neither was a job
 * that found a full queue, nor one that a worker reported as failed before it recorded anything. After the deadline, or
 * when a component failed, nobody knows: the uuid must then be used again.
 */
export const mayHaveSigned = (error: unknown): boolean =>
  !(error instanceof CountersignError) ||
  (!error.nothingSigned &&
    (error.code === 'DEADLINE_EXCEEDED' ||
      error.code === 'INTERNAL' ||
      error.code === 'DEPENDENCY_UNAVAILABLE' ||
      error.code === 'SHUTTING_DOWN'))

export const createIdempotencyGuard = <Claim extends HeldClaim>({
  store,
  clock,
  claimSeconds,
  memory,
  mayHaveActed = mayHaveSigned,
  report,
}: IdempotencyDependencies<Claim>) => {
  /**
   * Claims that this process is working on, or was cut off with, by their keys. The store is not asked about them: it
   * goes by the wall clock, and a step of that clock must not end a claim whose holder may still sign. Nor are they looked
   * for in the log, which would cost the most under overload.
   */
  const unanswered = new Map<string, UnansweredClaim>()
  /** For claims of other processes, whose holders may still sign after a step of the wall clock. */
  const heldClock = createHeldClock(clock, claimSeconds * 1_000)
  heldClock()
  let forgotMs = 0
  const noteUnanswered = (claimKey: string, claim: UnansweredClaim): void => {
    const nowMs = clock.monotonicMs()
    if (nowMs - forgotMs > FORGET_MS) {
      forgotMs = nowMs
      for (const [key, { isWorking, endsMs }] of unanswered) {
        if (endsMs > nowMs) break
        if (!isWorking) unanswered.delete(key)
      }
    }
    unanswered.set(claimKey, claim)
  }
  /** @throws IdempotencyTwinInFlightError, IdempotencyKeyReusedError */
  const refuseUnanswered = (claimKey: string, bodyHash: Uint8Array): void => {
    const claim = unanswered.get(claimKey)
    if (claim === undefined) return
    const leftMs = claim.endsMs - clock.monotonicMs()
    if (!claim.isWorking && leftMs <= 0) return
    if (Buffer.compare(claim.bodyHash, bodyHash) !== 0) throw new IdempotencyKeyReusedError()
    throw new IdempotencyTwinInFlightError(Math.max(1, Math.ceil(leftMs / 1000)))
  }

  const keep = async (
    complete: NonNullable<typeof store.complete>,
    claim: Claim,
    fresh: FreshAnswer,
    replayed: boolean,
  ): Promise<IdempotentAnswer> => {
    const answer = { status: fresh.status ?? 200, body: fresh.body }
    let standing: StoredAnswer | null
    try {
      standing = await complete(claim, answer, clock.unixSeconds() + fresh.keepSeconds + KEEP_SLACK_SECONDS)
    } catch (error) {
      // The answer is signed and recorded. A retry finds the claim expired and gets the same uuid.
      report(error)
      return { ...answer, replayed }
    }
    // Another request now holds the claim, and its answer will be the one that counts.
    if (standing === null) throw new IdempotencyTwinInFlightError()
    return { ...standing, replayed: replayed || standing.body !== answer.body }
  }

  const { complete } = store
  const finish = (claim: Claim, fresh: FreshAnswer, replayed: boolean): IdempotentAnswer | Promise<IdempotentAnswer> =>
    complete === undefined ? answerOf(fresh, replayed) : keep(complete, claim, fresh, replayed)

  const release = async (claim: Claim): Promise<void> => {
    try {
      await store.release(claim)
    } catch (error) {
      // The claim expires by itself.
      report(error)
    }
  }

  /**
   * Runs `work` at most once for its Idempotency-Key, with the uuid to sign. `work` must call and await `onDispatch`
   * before anything can be signed. It receives the claim, or null without a key.
   * @throws IdempotencyKeyInvalidError 400, IdempotencyTwinInFlightError 409, IdempotencyKeyReusedError 422, what the
   *   store's claim throws, and what `work` throws
   */
  return async (
    request: IdempotentRequest,
    work: (uuid: string, onDispatch: OnDispatch, claim: Claim | null) => Promise<FreshAnswer>,
  ): Promise<IdempotentAnswer> => {
    const { organizationId, keyId, header, route, body, uuid } = request
    if (header === null) {
      return answerOf(await work(uuid, IGNORE, null), false)
    }
    if (!isVisibleAscii(header, 255)) throw new IdempotencyKeyInvalidError()
    const bodyHash = new Uint8Array(32)
    Bun.SHA256.hash(`${route}\n${body}`, bodyHash)
    const claimKey = `${organizationId}\n${keyId}\n${header}`
    refuseUnanswered(claimKey, bodyHash)
    const endsMs = clock.monotonicMs() + claimSeconds * 1000
    const expiresAtSeconds = clock.unixSeconds() + claimSeconds
    const nowSeconds = heldClock()
    const found = await store.claim(organizationId, keyId, header, bodyHash, uuid, expiresAtSeconds, memory, nowSeconds)
    if (found.outcome === 'completed') return { ...found.response, replayed: true }
    if (found.outcome === 'mismatch') throw new IdempotencyKeyReusedError()
    // Another request may have claimed the key since the first look.
    refuseUnanswered(claimKey, bodyHash)
    if (found.outcome === 'in-flight') {
      const { earlier } = found
      if (memory !== undefined && earlier !== undefined) {
        const sought = { organizationId, uuid: earlier.uuid, sinceSeconds: earlier.uuidSinceSeconds }
        const recorded = await memory.find(sought)
        if (recorded.outcome === 'decided') return answerOf(recorded.answer, true)
      }
      throw new IdempotencyTwinInFlightError(Math.max(1, found.expiresAtSeconds - clock.unixSeconds()))
    }
    let { claim } = found
    const own: UnansweredClaim = { bodyHash, endsMs, isWorking: true }
    noteUnanswered(claimKey, own)
    /** Until when the claim is kept; of one that was taken over it is not known. */
    let keptUntilSeconds = found.outcome === 'claimed' ? expiresAtSeconds + (memory?.keepSeconds ?? 0) : 0
    let fresh: FreshAnswer
    let dispatched = false
    try {
      if (found.outcome === 'taken-over' && memory !== undefined) {
        const sinceSeconds =
          found.uuidSinceSeconds === 0 ? clock.unixSeconds() - LOOK_BACK_SECONDS : found.uuidSinceSeconds
        const recalled = await memory.recall({ organizationId, uuid: claim.uuid, sinceSeconds })
        if (recalled.outcome === 'decided') {
          unanswered.delete(claimKey)
          return finish(claim, recalled.answer, true)
        }
        if (recalled.outcome === 'expired') {
          // Store the new uuid first: if this try is cut off as well, the next one must find what it signed.
          const replaced = await store.replaceUuid(claim, uuid)
          if (replaced === null) throw new IdempotencyTwinInFlightError()
          claim = replaced
        }
      }
      const mark = async (untilSeconds: number): Promise<void> => {
        if (!(await store.markDispatched(claim, untilSeconds))) throw new IdempotencyTwinInFlightError()
        dispatched = true
        keptUntilSeconds = Math.max(keptUntilSeconds, untilSeconds)
      }
      const onDispatch: OnDispatch = (usableSeconds) => {
        if (memory !== undefined) {
          const untilSeconds = expiresAtSeconds + usableSeconds + KEEP_SLACK_SECONDS
          // Only other nodes need to know of the dispatch; this node asks its own log.
          if (untilSeconds > keptUntilSeconds || (!dispatched && store.complete !== undefined))
            return mark(untilSeconds)
        }
        dispatched = true
        return undefined
      }
      fresh = await work(claim.uuid, onDispatch, claim)
    } catch (error) {
      own.isWorking = false
      // A claim that was taken over is never released: its first holder may have signed, whatever happened to this try.
      if (found.outcome === 'claimed' && !(dispatched && mayHaveActed(error))) {
        unanswered.delete(claimKey)
        await release(claim)
      }
      throw error
    }
    unanswered.delete(claimKey)
    return finish(claim, fresh, false)
  }
}

export type IdempotencyGuard<Claim extends HeldClaim = HeldClaim> = ReturnType<typeof createIdempotencyGuard<Claim>>
