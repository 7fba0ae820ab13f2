// One client retry must never yield two attestations: a request with an idempotency key claims a uuid before it is
// dispatched, and whoever comes again gets the stored answer, a refusal, or the same uuid (invariant 3).
import type { TableScope } from './table-scope.ts'

/** The right to answer for an idempotency key, until it expires. Handed back to `complete` or `release`. */
export interface IdempotencyClaim {
  readonly organizationId: string
  readonly keyId: string
  readonly idempotencyKey: string
  /** Sign with this uuid and no other. */
  readonly uuid: string
  /** Later than the request's own deadline, so that its first holder can't sign any more when it is taken over. */
  readonly claimExpiresAtSeconds: number
}

export interface StoredResponse {
  readonly status: number
  readonly body: string
}

export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly claim: IdempotencyClaim }
  /** An earlier holder let its claim expire unanswered. `claim.uuid` is the earlier one: it may have been signed. */
  | { readonly outcome: 'taken-over'; readonly claim: IdempotencyClaim; readonly earlierExpiredAtSeconds: number }
  | { readonly outcome: 'in-flight' }
  /** The same key with another body. */
  | { readonly outcome: 'mismatch' }
  | { readonly outcome: 'completed'; readonly uuid: string; readonly response: StoredResponse }

interface ClaimRow {
  readonly body_hash: Uint8Array
  readonly uuid: string
  readonly claim_expires_at_seconds: number
  readonly keep_until_seconds: number
  readonly response_status: number | null
  readonly response_body: string | null
}

/** An unanswered claim is kept this long after it expired: longer than any attestation made under it can live. */
const ABANDONED_KEEP_SECONDS = 86_400
const SWEEP_BATCH = 500
/** The claim outlives its process; a power cut may lose the last moments of it, as of the decision log. */
const DURABILITY = { survives: 'process-crash' } as const

const WHERE = 'WHERE organization_id = ? AND key_id = ? AND idempotency_key = ?'
const KEY = (claim: Pick<IdempotencyClaim, 'organizationId' | 'keyId' | 'idempotencyKey'>) => [
  claim.organizationId,
  claim.keyId,
  claim.idempotencyKey,
]
/** A claim that was taken over has another expiry, one made after a release another uuid: neither is its first holder's. */
const WHERE_STILL_HELD = `${WHERE} AND response_status IS NULL AND uuid = ? AND claim_expires_at_seconds = ?`
const HELD = (claim: IdempotencyClaim) => [...KEY(claim), claim.uuid, claim.claimExpiresAtSeconds]

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

/** @param table of the APIs, or of the administration: its callers may belong to no organization. */
export const createIdempotencyTable = (
  scope: TableScope,
  table: 'idempotency' | 'admin_idempotency' = 'idempotency',
) => ({
  /**
   * Claims a key for a request, or says what became of the earlier one. `bodyHash` covers whatever must be the same
   * in a retry: the body, and the route where a key may be used on several.
   */
  claim: (
    organizationId: string,
    keyId: string,
    idempotencyKey: string,
    bodyHash: Uint8Array,
    uuid: string,
    claimExpiresAtSeconds: number,
  ): Promise<ClaimResult> =>
    scope.write(async (transaction) => {
      const nowSeconds = scope.nowSeconds()
      const claim: IdempotencyClaim = { organizationId, keyId, idempotencyKey, uuid, claimExpiresAtSeconds }
      const keepUntilSeconds = claimExpiresAtSeconds + ABANDONED_KEEP_SECONDS
      const insert = () =>
        transaction.execute(
          `INSERT INTO ${table} (organization_id, key_id, idempotency_key, body_hash, uuid, claim_expires_at_seconds,
             keep_until_seconds) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          [...KEY(claim), bodyHash, uuid, claimExpiresAtSeconds, keepUntilSeconds],
        )
      if ((await insert()) === 1) return { outcome: 'claimed', claim }
      // What is past its time counts as swept.
      const swept = await transaction.execute(`DELETE FROM ${table} ${WHERE} AND keep_until_seconds <= ?`, [
        ...KEY(claim),
        nowSeconds,
      ])
      if (swept === 1 && (await insert()) === 1) return { outcome: 'claimed', claim }

      const [row] = await transaction.query<ClaimRow>(
        `SELECT body_hash, uuid, claim_expires_at_seconds, keep_until_seconds, response_status, response_body
         FROM ${table} ${WHERE}`,
        KEY(claim),
      )
      // Released by another node between the two statements: the next try will claim it.
      if (row === undefined) return { outcome: 'in-flight' }
      if (!sameBytes(row.body_hash, bodyHash)) return { outcome: 'mismatch' }
      if (row.response_status !== null && row.response_body !== null) {
        return {
          outcome: 'completed',
          uuid: row.uuid,
          response: { status: row.response_status, body: row.response_body },
        }
      }
      if (row.claim_expires_at_seconds > nowSeconds) return { outcome: 'in-flight' }
      const taken = await transaction.execute(
        `UPDATE ${table} SET claim_expires_at_seconds = ?, keep_until_seconds = ? ${WHERE_STILL_HELD}`,
        [claimExpiresAtSeconds, keepUntilSeconds, ...KEY(claim), row.uuid, row.claim_expires_at_seconds],
      )
      if (taken === 0) return { outcome: 'in-flight' }
      const earlierExpiredAtSeconds = row.claim_expires_at_seconds
      return { outcome: 'taken-over', claim: { ...claim, uuid: row.uuid }, earlierExpiredAtSeconds }
    }, DURABILITY),

  /**
   * Stores the answer and returns the one that stands: the first to complete wins, so that every caller of a key sends
   * the same answer. Null when the claim is gone: taken over by someone who has not answered yet, or swept.
   */
  complete: (
    claim: IdempotencyClaim,
    response: StoredResponse,
    keepUntilSeconds: number,
  ): Promise<StoredResponse | null> =>
    scope.write(async (transaction) => {
      const stored = await transaction.execute(
        `UPDATE ${table} SET response_status = ?, response_body = ?, keep_until_seconds = ? ${WHERE_STILL_HELD}`,
        [response.status, response.body, keepUntilSeconds, ...HELD(claim)],
      )
      if (stored === 1) return response
      const [row] = await transaction.query<ClaimRow>(
        `SELECT response_status, response_body FROM ${table} ${WHERE}`,
        KEY(claim),
      )
      return row === undefined || row.response_status === null || row.response_body === null
        ? null
        : { status: row.response_status, body: row.response_body }
    }, DURABILITY),

  /**
   * Gives an unanswered claim up, so that a retry starts afresh with a new uuid. Only when nothing can have been
   * signed; otherwise let it expire. True when it was still held.
   */
  release: (claim: IdempotencyClaim): Promise<boolean> =>
    scope.write(
      async (transaction) => (await transaction.execute(`DELETE FROM ${table} ${WHERE_STILL_HELD}`, HELD(claim))) === 1,
      DURABILITY,
    ),

  /** Deletes some of what is past its time; answers how many. Call again until it answers 0. */
  sweep: (): Promise<number> =>
    scope.write(
      (transaction) =>
        transaction.execute(
          `DELETE FROM ${table} WHERE (organization_id, key_id, idempotency_key) IN (
             SELECT organization_id, key_id, idempotency_key FROM ${table} WHERE keep_until_seconds <= ? LIMIT ?)
             AND keep_until_seconds <= ?`,
          [scope.nowSeconds(), SWEEP_BATCH, scope.nowSeconds()],
        ),
      DURABILITY,
    ),
})

export type IdempotencyTable = ReturnType<typeof createIdempotencyTable>
