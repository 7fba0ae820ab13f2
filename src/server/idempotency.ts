// HTTP side of idempotency (decisions §1; invariant 3): a retry cannot produce a second attestation.
import { CountersignError, fixedError } from '../domain/errors.ts'
import { type Clock, createHeldClock } from '../lib/time.ts'
import type { AdmittedRequest } from './gate.ts'
import { isVisibleAscii } from './request-id.ts'

export interface HeldClaim {
  readonly uuid: string
}

export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

export type ClaimOutcome<Claim extends HeldClaim> =
  | { readonly outcome: 'claimed'; readonly claim: Claim }
  /** Reuse the uuid of an earlier request, which this node may have signed since `uuidSinceSeconds` (0: unknown). */
  | { readonly outcome: 'taken-over'; readonly claim: Claim; readonly uuidSinceSeconds: number }
  /**
   * Until `expiresAtSeconds`, another request holds the claim, or an attestation that another node may have signed is
   * still valid.
   */
  | {
      readonly outcome: 'in-flight'
      readonly expiresAtSeconds: number
      /** The uuid that this node may have signed since `uuidSinceSeconds` (Unix seconds). */
      readonly earlier?: { readonly uuid: string; readonly uuidSinceSeconds: number }
    }
  | { readonly outcome: 'mismatch' }
  | { readonly outcome: 'completed'; readonly uuid: string; readonly response: StoredAnswer }

export interface IdempotencyStore<Claim extends HeldClaim> {
  claim(
    organizationId: string,
    keyId: string,
    idempotencyKey: string,
    bodyHash: Uint8Array,
    uuid: string,
    claimExpiresAtSeconds: number,
    place: { readonly node: string; readonly usableSeconds: number; readonly keepSeconds: number } | undefined,
    times: { readonly endedBySeconds: number; readonly unusableBySeconds: number },
  ): Promise<ClaimOutcome<Claim>>
  /**
   * Call before the uuid may be signed. Keeps the claim at least until `keepUntilSeconds`. Returns false if the claim
   * is no longer held.
   */
  markDispatched(claim: Claim, keepUntilSeconds: number): Promise<boolean>
  /** Returns the effective response; null if the claim is lost. Absent if the log can answer every request. */
  complete?(claim: Claim, answer: StoredAnswer, keepUntilSeconds: number): Promise<StoredAnswer | null>
  /** Call before a signature. Null if the claim is no longer held. */
  replaceUuid(claim: Claim, uuid: string): Promise<Claim | null>
  /** Lets a retry start again with a new uuid. */
  release(claim: Claim): Promise<boolean>
}

/** Repeated headers arrive joined by a comma and a space, and are refused as well. */
class IdempotencyKeyInvalidError extends fixedError(
  'INVALID_HEADER',
  'the Idempotency-Key header must be 1 to 255 visible ASCII characters',
) {}

/** Another request with this key is in progress, or was interrupted and may still be signed. */
export class IdempotencyTwinInFlightError extends CountersignError {
  /** @param retryAfterSeconds time until the other request's claim ends */
  constructor(retryAfterSeconds = 1) {
    super('IDEMPOTENCY_IN_FLIGHT', 'a request with this Idempotency-Key is in flight; retry later', {
      retryAfterSeconds,
    })
  }
}

class IdempotencyKeyReusedError extends fixedError(
  'IDEMPOTENCY_MISMATCH',
  'this Idempotency-Key was already used with a different request',
) {}

export interface IdempotentRequest {
  readonly organizationId: string
  readonly keyId: string
  readonly header: string | null
  /** A retry must have the same route. */
  readonly route: string
  /** Request body, byte for byte as received. */
  readonly body: string
  /** New uuid for a first attempt; a retry uses the uuid of its first attempt. */
  readonly uuid: string
  /** When the request ends, a queued log search is canceled. */
  readonly caller?: Pick<AdmittedRequest, 'ended'>
}

export interface FreshAnswer {
  readonly body: string
  readonly status?: number
  /** Time for which the response is repeated: at least the attestation's validity. */
  readonly keepSeconds: number
}

export interface IdempotentAnswer extends StoredAnswer {
  readonly replayed: boolean
}

interface PendingClaim {
  readonly bodyHash: Uint8Array
  readonly endsMs: number
  /** False after an interruption; the uuid may still be signed until the claim ends. */
  isWorking: boolean
}

export type Recalled =
  /** Nothing was recorded under the uuid, which may be reused. */
  | { readonly outcome: 'nothing' }
  /** Contains the response and the remaining time for which it is repeated. */
  | { readonly outcome: 'decided'; readonly answer: FreshAnswer }
  /** The signature or denial is no longer valid. The request counts as new. */
  | { readonly outcome: 'expired' }

export interface SoughtDecision {
  readonly organizationId: string
  readonly uuid: string
  readonly sinceSeconds: number
  /** Aborted when the request that needs the result has ended. */
  readonly ended?: AbortSignal | undefined
}

export interface NodeMemory {
  /** Node name; empty if there is only one node. */
  readonly node: string
  /** Maximum validity of a signature after its claim has expired. */
  readonly usableSeconds: number
  /** Time for which an expired claim is kept. Extend the claim before signing a longer-lived result. */
  readonly keepSeconds: number
  /** Searches the minute starting at `sinceSeconds`. @throws IdempotencyTwinInFlightError; the reason of `ended` */
  find(sought: SoughtDecision): Promise<Recalled>
  /** Like `find`, then searches all records since `sinceSeconds`. */
  recall(sought: SoughtDecision): Promise<Recalled>
}

export interface IdempotencyDependencies<Claim extends HeldClaim> {
  /** If omitted, nothing is recorded under uuids, and the store holds the result. */
  readonly memory?: NodeMemory
  readonly store: IdempotencyStore<Claim>
  readonly clock: Clock
  /** Duration of a claim without a response. Must exceed a request's deadline. */
  readonly claimSeconds: number
  /**
   * Returns true if an attempt may have had an effect despite this error; keeps its claim. Defaults to `mayHaveSigned`.
   */
  mayHaveActed?(error: unknown): boolean
  /** Called if the store failed after the work was done. The response is unaffected. */
  report(error: unknown): void
}

const IGNORE: OnDispatch = () => undefined

const answerOf = ({ status = 200, body }: FreshAnswer, replayed: boolean): IdempotentAnswer => ({
  status,
  body,
  replayed,
})

/** Added to an attestation's validity: clocks differ, and the Solana program allows 30 s of drift (docs/solana-program.md). */
export const KEEP_SLACK_SECONDS = 60
/** Search period for a claim without a time of use; claims are kept for about as long. */
const LOOK_BACK_SECONDS = 86_400
const FORGET_MS = 1_000

/** Call before the work may be signed, and await a returned promise; end the work if it rejects. */
export type OnDispatch = (usableSeconds: number) => Promise<void> | undefined

/** Returns true after a deadline or a component failure: the outcome is unknown, so the uuid must be reused. */
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
  /** Independent of the store's wall clock: a clock step must not end a claim whose holder may still sign. */
  const unanswered = new Map<string, PendingClaim>()
  /** Clock for claims of other processes, whose holders may still sign after a step of the wall clock. */
  const endedClock = createHeldClock(clock, claimSeconds * 1_000)
  /** Clock for signatures, which remain valid in true time after a step of the wall clock. */
  const unusableClock = createHeldClock(clock, (claimSeconds + (memory?.usableSeconds ?? 0)) * 1_000)
  const readTimes = () => ({ endedBySeconds: endedClock(), unusableBySeconds: unusableClock() })
  readTimes()
  let forgotMs = 0
  const noteUnanswered = (claimKey: string, claim: PendingClaim): void => {
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
      // The response is signed and recorded. A retry finds the claim expired and reuses its uuid.
      report(error)
      return { ...answer, replayed }
    }
    // Another request now holds the claim, and its response will take effect.
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
      // The claim expires on its own.
      report(error)
    }
  }

  /**
   * Runs `work` at most once per Idempotency-Key. `work` must await `onDispatch` before anything can be signed. @throws
   * IdempotencyKeyInvalidError 400, IdempotencyTwinInFlightError 409, IdempotencyKeyReusedError 422; errors of `work`
   */
  return async (
    request: IdempotentRequest,
    work: (uuid: string, onDispatch: OnDispatch, claim: Claim | null) => Promise<FreshAnswer>,
  ): Promise<IdempotentAnswer> => {
    const { organizationId, keyId, header, route, body, uuid, caller } = request
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
    const times = readTimes()
    const found = await store.claim(organizationId, keyId, header, bodyHash, uuid, expiresAtSeconds, memory, times)
    if (found.outcome === 'completed') return { ...found.response, replayed: true }
    if (found.outcome === 'mismatch') throw new IdempotencyKeyReusedError()
    refuseUnanswered(claimKey, bodyHash)
    if (found.outcome === 'in-flight') {
      const { earlier } = found
      if (memory !== undefined && earlier !== undefined) {
        const sought = {
          organizationId,
          uuid: earlier.uuid,
          sinceSeconds: earlier.uuidSinceSeconds,
          ended: caller?.ended,
        }
        const recorded = await memory.find(sought)
        if (recorded.outcome === 'decided') return answerOf(recorded.answer, true)
      }
      throw new IdempotencyTwinInFlightError(Math.max(1, found.expiresAtSeconds - clock.unixSeconds()))
    }
    let { claim } = found
    const own: PendingClaim = { bodyHash, endsMs, isWorking: true }
    noteUnanswered(claimKey, own)
    /** Time until which the claim is kept. 0 (unknown) after a takeover. */
    let keptUntilSeconds = found.outcome === 'claimed' ? expiresAtSeconds + (memory?.keepSeconds ?? 0) : 0
    let fresh: FreshAnswer
    let dispatched = false
    try {
      if (found.outcome === 'taken-over' && memory !== undefined) {
        const sinceSeconds =
          found.uuidSinceSeconds === 0 ? clock.unixSeconds() - LOOK_BACK_SECONDS : found.uuidSinceSeconds
        const recalled = await memory.recall({
          organizationId,
          uuid: claim.uuid,
          sinceSeconds,
          ended: caller?.ended,
        })
        if (recalled.outcome === 'decided') {
          unanswered.delete(claimKey)
          return finish(claim, recalled.answer, true)
        }
        if (recalled.outcome === 'expired') {
          // Store the new uuid first: after another interruption, the next attempt must find the signed uuid.
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
          // Only other nodes need the record of the dispatch. This node searches its own log.
          if (untilSeconds > keptUntilSeconds || (!dispatched && store.complete !== undefined))
            return mark(untilSeconds)
        }
        dispatched = true
        return undefined
      }
      fresh = await work(claim.uuid, onDispatch, claim)
    } catch (error) {
      own.isWorking = false
      // After a takeover, never release the claim: its first holder may have signed.
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
