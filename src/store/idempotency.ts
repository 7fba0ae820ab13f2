// Ensures that a retry never yields a second attestation. A request with an idempotency key claims a uuid before
// dispatch; a retry gets the stored answer, an error, or the same uuid (invariant 3).

import type { TableScope } from './copy/table-scope.ts'
import type { TransactionOptions } from './database.ts'
import { fieldsOf, type RowOf } from './row-fields.ts'
import { sweepRows } from './sweep.ts'

/** The right to answer for an idempotency key until the claim expires. */
export interface IdempotencyClaim {
  readonly organizationId: string
  readonly keyId: string
  readonly idempotencyKey: string
  /** The only uuid that the holder may sign. */
  readonly uuid: string
  /** Later than the request's deadline, so that an earlier holder can no longer sign when the claim is taken over. */
  readonly claimExpiresAtSeconds: number
}

export interface StoredResponse {
  readonly status: number
  readonly body: string
}

interface ClaimPlace {
  /** Node name of the decision log. Empty if outcomes are in the database. */
  readonly node: string
  /** Maximum time after the claim's expiration during which a signature made under it is usable. */
  readonly usableSeconds: number
  /** Minimum time for which an unanswered claim is kept after its expiration. */
  readonly keepSeconds: number
}

/** Unix seconds. After a forward jump of the wall clock, both times stay behind it for a while. */
export interface ClaimTimes {
  /** Requests whose claims expired by this time have ended. */
  readonly endedBySeconds: number
  /** Signatures that expired by then are unusable, and claims kept until then can be deleted. */
  readonly unusableBySeconds: number
}

export type ClaimResult =
  | { readonly outcome: 'claimed'; readonly claim: IdempotencyClaim }
  /** An earlier claim expired unanswered. This node may have signed its uuid since `uuidSinceSeconds` (0: unknown). */
  | { readonly outcome: 'taken-over'; readonly claim: IdempotencyClaim; readonly uuidSinceSeconds: number }
  /**
   * Another request holds the claim, or another node may have signed under it, until `expiresAtSeconds` (Unix).
   * `earlier`: a uuid that this node may have signed.
   */
  | {
      readonly outcome: 'in-flight'
      readonly expiresAtSeconds: number
      readonly earlier?: { readonly uuid: string; readonly uuidSinceSeconds: number }
    }
  | { readonly outcome: 'mismatch' }
  | { readonly outcome: 'completed'; readonly uuid: string; readonly response: StoredResponse }

/** An expired claim under which this node may have signed. Only this node can determine the outcome. */
export interface UnansweredClaim {
  readonly claim: IdempotencyClaim
  readonly uuidSinceSeconds: number
}

export interface KeptClaim extends IdempotencyClaim {
  readonly bodyHash: Uint8Array
  readonly keepUntilSeconds: number
  /** Unix seconds; nothing was signed under the uuid earlier. 0 if unknown. */
  readonly uuidSinceSeconds: number
  readonly node: string
}

interface ClaimRow {
  readonly body_hash: Uint8Array
  readonly uuid: string
  readonly claim_expires_at_seconds: number
  readonly keep_until_seconds: number
  readonly response_status: number | null
  readonly response_body: string | null
  readonly node: string
  readonly dispatched: number
  readonly uuid_since_seconds: number
}

/** Time within which a running node reports the outcome of its expired claims. */
const REPORT_SECONDS = 5
export const ANYWHERE: ClaimPlace = { node: '', usableSeconds: 0, keepSeconds: 86_400 }
/** A power loss may lose the latest claims, like the latest lines of the decision log. */
const claimOf = (owner: string): TransactionOptions => ({ survives: 'process-crash', queue: 'claim', owner })

const WHERE = 'WHERE organization_id = ? AND key_id = ? AND idempotency_key = ?'
const KEY = (claim: Pick<IdempotencyClaim, 'organizationId' | 'keyId' | 'idempotencyKey'>) => [
  claim.organizationId,
  claim.keyId,
  claim.idempotencyKey,
]
/** Never matches an earlier holder: a takeover changes the expiration, and a release changes the uuid. */
const WHERE_STILL_HELD = `${WHERE} AND response_status IS NULL AND uuid = ? AND claim_expires_at_seconds = ?`
const HELD = (claim: IdempotencyClaim) => [...KEY(claim), claim.uuid, claim.claimExpiresAtSeconds]

const statementsOf = (table: string) => ({
  insert: `INSERT INTO ${table} (organization_id, key_id, idempotency_key, body_hash, uuid, claim_expires_at_seconds,
       keep_until_seconds, node, dispatched, uuid_since_seconds)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  markDispatched: `UPDATE ${table} SET dispatched = 1,
       keep_until_seconds = CASE WHEN keep_until_seconds < ? THEN ? ELSE keep_until_seconds END ${WHERE_STILL_HELD}`,
  complete: `UPDATE ${table} SET response_status = ?, response_body = ?, keep_until_seconds = ? ${WHERE_STILL_HELD}`,
})
const STATEMENTS = { idempotency: statementsOf('idempotency'), admin_idempotency: statementsOf('admin_idempotency') }

const insertedBy = (claim: KeptClaim, dispatched: number) => [
  ...KEY(claim),
  claim.bodyHash,
  claim.uuid,
  claim.claimExpiresAtSeconds,
  claim.keepUntilSeconds,
  claim.node,
  dispatched,
  claim.uuidSinceSeconds,
]

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

/** @param table `admin_idempotency` for the admin API, whose callers may have no organization */
export const createIdempotencyTable = (
  scope: TableScope,
  table: 'idempotency' | 'admin_idempotency' = 'idempotency',
) => ({
  /**
   * Claims a key, or returns the outcome of the earlier request. A claim dispatched by another node stays in flight
   * until that node completes it or its signature is unusable.
   * @param bodyHash covers all values that a retry must repeat
   */
  claim: async (
    organizationId: string,
    keyId: string,
    idempotencyKey: string,
    bodyHash: Uint8Array,
    uuid: string,
    claimExpiresAtSeconds: number,
    { node, usableSeconds, keepSeconds }: ClaimPlace = ANYWHERE,
    times?: ClaimTimes,
  ): Promise<ClaimResult> => {
    const uuidSinceSeconds = scope.nowSeconds()
    const { endedBySeconds = uuidSinceSeconds, unusableBySeconds = uuidSinceSeconds } = times ?? {}
    const claim: IdempotencyClaim = { organizationId, keyId, idempotencyKey, uuid, claimExpiresAtSeconds }
    const keepUntilSeconds = claimExpiresAtSeconds + keepSeconds
    // If there is no node name, nothing marks the dispatch, so assume it.
    const dispatched = node === '' ? 1 : 0
    const { insert } = STATEMENTS[table]
    const kept = { ...claim, bodyHash, keepUntilSeconds, node, uuidSinceSeconds }
    const values = insertedBy(kept, dispatched)
    // Almost every key is new.
    if ((await scope.execute(insert, values, claimOf(organizationId))) === 1) return { outcome: 'claimed', claim }
    return scope.write(async (transaction) => {
      await transaction.execute(`DELETE FROM ${table} ${WHERE} AND keep_until_seconds <= ?`, [
        ...KEY(claim),
        unusableBySeconds,
      ])
      if ((await transaction.execute(insert, values)) === 1) return { outcome: 'claimed', claim }

      const [row] = await transaction.query<ClaimRow>(
        `SELECT body_hash, uuid, claim_expires_at_seconds, keep_until_seconds, response_status, response_body, node,
           dispatched, uuid_since_seconds
         FROM ${table} ${WHERE}`,
        KEY(claim),
      )
      // Another node released the claim between the two statements. A retry can claim it.
      if (row === undefined) return { outcome: 'in-flight', expiresAtSeconds: endedBySeconds }
      if (!sameBytes(row.body_hash, bodyHash)) return { outcome: 'mismatch' }
      if (row.response_status !== null && row.response_body !== null) {
        return {
          outcome: 'completed',
          uuid: row.uuid,
          response: { status: row.response_status, body: row.response_body },
        }
      }
      const expiresAtSeconds = row.claim_expires_at_seconds
      const mayBeSigned = row.dispatched !== 0
      const isElsewhere = row.node !== node
      if (expiresAtSeconds > endedBySeconds) {
        const earlier = { uuid: row.uuid, uuidSinceSeconds: row.uuid_since_seconds }
        return { outcome: 'in-flight', expiresAtSeconds, ...(mayBeSigned && !isElsewhere ? { earlier } : {}) }
      }
      const unusableFromSeconds = expiresAtSeconds + usableSeconds
      if (mayBeSigned && isElsewhere && unusableFromSeconds > unusableBySeconds) {
        const reportedBySeconds = expiresAtSeconds + REPORT_SECONDS
        return {
          outcome: 'in-flight',
          expiresAtSeconds: reportedBySeconds > endedBySeconds ? reportedBySeconds : unusableFromSeconds,
        }
      }
      const isNew = !mayBeSigned || isElsewhere
      const next = isNew
        ? { uuid, node, dispatched, uuidSinceSeconds, keepUntilSeconds }
        : {
            uuid: row.uuid,
            node: row.node,
            dispatched: 1,
            uuidSinceSeconds: row.uuid_since_seconds,
            // At least until the new claim expires. Takeovers extend the time no further, so that a repeatedly used key
            // also expires.
            keepUntilSeconds: Math.max(row.keep_until_seconds, claimExpiresAtSeconds),
          }
      const taken = await transaction.execute(
        `UPDATE ${table} SET claim_expires_at_seconds = ?, keep_until_seconds = ?, uuid = ?, node = ?, dispatched = ?,
           uuid_since_seconds = ? ${WHERE_STILL_HELD}`,
        [
          claimExpiresAtSeconds,
          next.keepUntilSeconds,
          next.uuid,
          next.node,
          next.dispatched,
          next.uuidSinceSeconds,
          ...KEY(claim),
          row.uuid,
          row.claim_expires_at_seconds,
        ],
      )
      // Another request took over the claim concurrently, with the same duration.
      if (taken === 0) return { outcome: 'in-flight', expiresAtSeconds: claimExpiresAtSeconds }
      if (isNew) return { outcome: 'claimed', claim }
      return { outcome: 'taken-over', claim: { ...claim, uuid: row.uuid }, uuidSinceSeconds: row.uuid_since_seconds }
    }, claimOf(organizationId))
  },

  /** Returns the first stored answer. Null if the claim was deleted, or taken over and not answered yet. */
  complete: async (
    claim: IdempotencyClaim,
    response: StoredResponse,
    keepUntilSeconds: number,
  ): Promise<StoredResponse | null> => {
    const values = [response.status, response.body, keepUntilSeconds, ...HELD(claim)]
    if ((await scope.execute(STATEMENTS[table].complete, values, claimOf(claim.organizationId))) === 1) return response
    const [row] = await scope.statements.query<ClaimRow>(
      `SELECT response_status, response_body FROM ${table} ${WHERE}`,
      KEY(claim),
    )
    return row === undefined || row.response_status === null || row.response_body === null
      ? null
      : { status: row.response_status, body: row.response_body }
  },

  /** Like `complete`, but the holder may still replace the answer. Null if the claim is no longer held. */
  settle: async (
    claim: IdempotencyClaim,
    response: StoredResponse,
    keepUntilSeconds: number,
  ): Promise<StoredResponse | null> => {
    const stored = await scope.execute(
      `UPDATE ${table} SET response_status = ?, response_body = ?, keep_until_seconds = ?
       ${WHERE} AND uuid = ? AND claim_expires_at_seconds = ?`,
      [response.status, response.body, keepUntilSeconds, ...HELD(claim)],
      claimOf(claim.organizationId),
    )
    return stored === 1 ? response : null
  },

  /** Call for an attestation that has expired. Null if the claim is no longer held. */
  replaceUuid: async (claim: IdempotencyClaim, uuid: string): Promise<IdempotencyClaim | null> => {
    const replaced = await scope.execute(
      `UPDATE ${table} SET uuid = ?, uuid_since_seconds = ? ${WHERE_STILL_HELD}`,
      [uuid, scope.nowSeconds(), ...HELD(claim)],
      claimOf(claim.organizationId),
    )
    return replaced === 1 ? { ...claim, uuid } : null
  },

  /** Call before dispatch; if it returns false, do not dispatch. Keeps the claim at least until `keepUntilSeconds`. */
  markDispatched: async (claim: IdempotencyClaim, keepUntilSeconds: number): Promise<boolean> => {
    const values = [keepUntilSeconds, keepUntilSeconds, ...HELD(claim)]
    return (await scope.execute(STATEMENTS[table].markDispatched, values, claimOf(claim.organizationId))) === 1
  },

  /** Returns the unexpired claims of attestations (uuid version 4), except claims under which nothing was signed. */
  listKept: async (): Promise<readonly KeptClaim[]> => {
    const rows = await scope.statements.query<RowOf<KeptClaim>>(
      `SELECT organization_id, key_id, idempotency_key, uuid, body_hash, claim_expires_at_seconds, keep_until_seconds,
         uuid_since_seconds, node
       FROM ${table} WHERE keep_until_seconds > ? AND dispatched = 1 AND substr(uuid, 15, 1) = '4'`,
      [scope.nowSeconds()],
    )
    return rows.map((row) => fieldsOf(row))
  },

  findAnswer: async (
    claim: Pick<IdempotencyClaim, 'organizationId' | 'keyId' | 'idempotencyKey'>,
  ): Promise<Extract<ClaimResult, { readonly outcome: 'completed' }> | null> => {
    const [row] = await scope.statements.query<ClaimRow>(
      `SELECT uuid, response_status, response_body FROM ${table} ${WHERE} AND keep_until_seconds > ?`,
      [...KEY(claim), scope.nowSeconds()],
    )
    return row === undefined || row.response_status === null || row.response_body === null
      ? null
      : { outcome: 'completed', uuid: row.uuid, response: { status: row.response_status, body: row.response_body } }
  },

  /** Copies a claim from elsewhere, unless the key is already claimed here. */
  adopt: async (claim: KeptClaim): Promise<void> => {
    await scope.execute(STATEMENTS[table].insert, insertedBy(claim, 1), claimOf(claim.organizationId))
  },

  /** Dispatched, unanswered claims of this node that have expired by then, oldest first. */
  listUnanswered: async (
    node: string,
    expiredBySeconds: number,
    limit: number,
  ): Promise<readonly UnansweredClaim[]> => {
    const rows = await scope.statements.query<RowOf<IdempotencyClaim> & { readonly uuid_since_seconds: number }>(
      `SELECT organization_id, key_id, idempotency_key, uuid, claim_expires_at_seconds, uuid_since_seconds FROM ${table}
       WHERE node = ? AND node <> '' AND response_status IS NULL AND dispatched = 1 AND claim_expires_at_seconds <= ?
       ORDER BY claim_expires_at_seconds LIMIT ?`,
      [node, expiredBySeconds, limit],
    )
    return rows.map(({ uuid_since_seconds: uuidSinceSeconds, ...claim }) => ({
      claim: fieldsOf(claim),
      uuidSinceSeconds,
    }))
  },

  /** Call only if nothing can have been signed. Returns true if the claim was still held. */
  release: async (claim: IdempotencyClaim): Promise<boolean> =>
    (await scope.execute(`DELETE FROM ${table} ${WHERE_STILL_HELD}`, HELD(claim), claimOf(claim.organizationId))) === 1,

  sweep: (nowSeconds = scope.nowSeconds()): Promise<number> =>
    scope.write(
      (transaction) => {
        const key = 'organization_id, key_id, idempotency_key'
        return sweepRows(transaction, table, key, 'keep_until_seconds <= ?', nowSeconds)
      },
      { survives: 'process-crash' },
    ),
})

export type IdempotencyTable = ReturnType<typeof createIdempotencyTable>
