// What a request may do with its idempotency key's claim where the answers are in the decision log (invariant 3), over
// SQLite. It says what the table in idempotency.ts says; a test holds the two together.

import { databaseScope } from '../copy/table-scope.ts'
import {
  ANYWHERE,
  type ClaimResult,
  createIdempotencyTable,
  type IdempotencyClaim,
  type IdempotencyTable,
  type KeptClaim,
} from '../idempotency.ts'
import { type ClaimEntry, digestOf, sameHash } from './entry.ts'
import { type ClaimLog, type ClaimLogDependencies, createClaimLog, type Decision } from './log.ts'

/** Fewer than may wait. */
const CARRIED_AT_ONCE = 1_000
const NOT_HELD: Decision<null> = { append: null, result: null }

/** @param findAnswer the answer that is stored for a key, if other nodes left any; null: none did */
const operationsOf = (log: ClaimLog, findAnswer: IdempotencyTable['findAnswer'] | null) => {
  /** Null when the claim is no longer held: given up, or taken over by another request. */
  const change = <Result>(
    claim: IdempotencyClaim,
    changed: (entry: ClaimEntry, nowSeconds: number) => ClaimEntry,
    result: Result,
  ): Promise<Result | null> =>
    log.ask<Result | null>(digestOf(claim), (current, nowSeconds) =>
      current?.uuid === claim.uuid && current.claimExpiresAtSeconds === claim.claimExpiresAtSeconds
        ? { append: changed(current, nowSeconds), result }
        : NOT_HELD,
    )

  return {
    backlogMs: log.backlogMs,

    claim: (async (
      organizationId,
      keyId,
      idempotencyKey,
      bodyHash,
      uuid,
      claimExpiresAtSeconds,
      { keepSeconds } = ANYWHERE,
      heldSeconds = Number.POSITIVE_INFINITY,
    ) => {
      const claim = { organizationId, keyId, idempotencyKey, uuid, claimExpiresAtSeconds }
      const digest = digestOf(claim)
      const found = await log.ask<ClaimResult>(digest, (current, nowSeconds) => {
        if (current === null) {
          const append: ClaimEntry = {
            digest,
            bodyHash,
            uuid,
            claimExpiresAtSeconds,
            keepUntilSeconds: claimExpiresAtSeconds + keepSeconds,
            uuidSinceSeconds: nowSeconds,
            released: false,
          }
          return { append, result: { outcome: 'claimed', claim } }
        }
        if (!sameHash(current.bodyHash, bodyHash)) return { append: null, result: { outcome: 'mismatch' } }
        const { uuidSinceSeconds } = current
        if (current.claimExpiresAtSeconds > Math.min(nowSeconds, heldSeconds)) {
          const earlier = { uuid: current.uuid, uuidSinceSeconds }
          return {
            append: null,
            result: { outcome: 'in-flight', expiresAtSeconds: current.claimExpiresAtSeconds, earlier },
          }
        }
        // A key that is asked for again and again is forgotten in its time all the same.
        const keepUntilSeconds = Math.max(current.keepUntilSeconds, claimExpiresAtSeconds)
        return {
          append: { ...current, claimExpiresAtSeconds, keepUntilSeconds },
          result: { outcome: 'taken-over', claim: { ...claim, uuid: current.uuid }, uuidSinceSeconds },
        }
      })
      return (found.outcome === 'in-flight' ? await findAnswer?.(claim) : null) ?? found
    }) satisfies IdempotencyTable['claim'],

    markDispatched: async (claim: IdempotencyClaim, keepUntilSeconds: number): Promise<boolean> =>
      (await change(
        claim,
        (entry) => ({ ...entry, keepUntilSeconds: Math.max(entry.keepUntilSeconds, keepUntilSeconds) }),
        true,
      )) !== null,

    replaceUuid: (claim: IdempotencyClaim, uuid: string): Promise<IdempotencyClaim | null> =>
      change(claim, (entry, nowSeconds) => ({ ...entry, uuid, uuidSinceSeconds: nowSeconds }), { ...claim, uuid }),

    release: async (claim: IdempotencyClaim): Promise<boolean> =>
      (await change(claim, (entry) => ({ ...entry, released: true }), true)) !== null,
  }
}

export interface LoggedClaimsOptions extends ClaimLogDependencies {
  /** The name that this machine's decision log had as a node over PostgreSQL; null: it had none. */
  readonly node: string | null
}

export type LoggedClaims = ReturnType<typeof operationsOf>

/**
 * PostgreSQL keeps claims in rows of their own, as an older version did: retries may still come after a move to SQLite.
 * A claim of another node isn't in this one's decision log. Its key stays held for as long as the row is kept, and the
 * row has the answer if there was one.
 * @returns whether there are claims of other nodes
 */
const carryOver = async (
  log: ClaimLog,
  table: IdempotencyTable,
  { node }: Pick<LoggedClaimsOptions, 'node'>,
): Promise<boolean> => {
  const rows = await table.listKept()
  const isOwn = (row: KeptClaim): boolean => row.node === '' || row.node === node
  const append = (row: KeptClaim): Promise<null> => {
    const claimExpiresAtSeconds = isOwn(row) ? row.claimExpiresAtSeconds : row.keepUntilSeconds
    const entry = { digest: digestOf(row), ...row, claimExpiresAtSeconds, released: false }
    return log.ask(entry.digest, (current) => ({ append: current === null ? entry : null, result: null }))
  }
  for (let start = 0; start < rows.length; start += CARRIED_AT_ONCE) {
    await Promise.all(rows.slice(start, start + CARRIED_AT_ONCE).map(append))
  }
  return !rows.every(isOwn)
}

/** Knows all claims that are kept. @throws StoreUnavailableError */
export const openLoggedClaims = async (options: LoggedClaimsOptions): Promise<LoggedClaims> => {
  const log = createClaimLog(options)
  const table = createIdempotencyTable(databaseScope(options.database, options.clock))
  await log.load()
  const hasOthers = await carryOver(log, table, options)
  return operationsOf(log, hasOthers ? table.findAnswer : null)
}
