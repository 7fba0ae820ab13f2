// Claims of idempotency keys on SQLite; the answers are in the decision log (invariant 3). Equivalent to
// idempotency.ts.

import { databaseScope } from '../copy/table-scope.ts'
import {
  ANYWHERE,
  type ClaimResult,
  type ClaimTimes,
  createIdempotencyTable,
  type IdempotencyClaim,
  type IdempotencyTable,
  type KeptClaim,
} from '../idempotency.ts'
import { type ClaimEntry, digestOf, sameHash } from './entry.ts'
import { ownClaimLog } from './groups.ts'
import { type ClaimLog, type ClaimLogDependencies, createClaimLog, type Decision } from './log.ts'

const CARRIED_AT_ONCE = 1_000
const NOT_HELD: Decision<boolean> = { append: null, result: false }

/**
 * @param firstOwn claims with lower numbers stay in flight: this node's decision log may lack their outcome
 * @param findAnswer returns the answer that another node stored; null if no other node left answers
 */
const operationsOf = (log: ClaimLog, firstOwn: number, findAnswer: IdempotencyTable['findAnswer'] | null) => {
  const change = (
    claim: IdempotencyClaim,
    changed: (entry: ClaimEntry, nowSeconds: number) => ClaimEntry,
  ): Promise<boolean> =>
    log.ask(claim.organizationId, digestOf(claim), (current, nowSeconds) =>
      current?.uuid === claim.uuid && current.claimExpiresAtSeconds === claim.claimExpiresAtSeconds
        ? { append: changed(current, nowSeconds), result: true }
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
      times?: ClaimTimes,
    ) => {
      const claim = { organizationId, keyId, idempotencyKey, uuid, claimExpiresAtSeconds }
      const digest = digestOf(claim)
      const found = await log.ask<ClaimResult>(organizationId, digest, (current, nowSeconds, number) => {
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
        const expiresAtSeconds = number < firstOwn ? current.keepUntilSeconds : current.claimExpiresAtSeconds
        if (expiresAtSeconds > Math.min(nowSeconds, times?.endedBySeconds ?? nowSeconds)) {
          const earlier = { uuid: current.uuid, uuidSinceSeconds }
          return { append: null, result: { outcome: 'in-flight', expiresAtSeconds, earlier } }
        }
        // At least until the new claim expires. Takeovers extend the time no further, so that a repeatedly used key
        // also expires.
        const keepUntilSeconds = Math.max(current.keepUntilSeconds, claimExpiresAtSeconds)
        return {
          append: { ...current, claimExpiresAtSeconds, keepUntilSeconds },
          result: { outcome: 'taken-over', claim: { ...claim, uuid: current.uuid }, uuidSinceSeconds },
        }
      })
      return (found.outcome === 'in-flight' ? await findAnswer?.(claim) : null) ?? found
    }) satisfies IdempotencyTable['claim'],

    markDispatched: (claim: IdempotencyClaim, keepUntilSeconds: number): Promise<boolean> =>
      change(claim, (entry) => ({
        ...entry,
        keepUntilSeconds: Math.max(entry.keepUntilSeconds, keepUntilSeconds),
      })),

    replaceUuid: async (claim: IdempotencyClaim, uuid: string): Promise<IdempotencyClaim | null> =>
      (await change(claim, (entry, nowSeconds) => ({ ...entry, uuid, uuidSinceSeconds: nowSeconds })))
        ? { ...claim, uuid }
        : null,

    release: (claim: IdempotencyClaim): Promise<boolean> => change(claim, (entry) => ({ ...entry, released: true })),
  }
}

export interface LoggedClaimsOptions extends ClaimLogDependencies {
  /** Name of this node's decision log. Null if this process doesn't attest. */
  readonly node: string | null
}

export type LoggedClaims = ReturnType<typeof operationsOf>

/**
 * Copies claims stored in rows (by PostgreSQL or an earlier version). A key claimed by another node stays in flight
 * until its row expires. @returns true if other nodes have claims
 */
const carryOver = async (log: ClaimLog, table: IdempotencyTable, node: string): Promise<boolean> => {
  const rows = await table.listKept()
  const isOwn = (row: KeptClaim): boolean => row.node === '' || row.node === node
  const append = (row: KeptClaim): Promise<null> => {
    const claimExpiresAtSeconds = isOwn(row) ? row.claimExpiresAtSeconds : row.keepUntilSeconds
    const entry = { digest: digestOf(row), ...row, claimExpiresAtSeconds, released: false }
    return log.ask(row.organizationId, entry.digest, (current) => ({
      append: current === null ? entry : null,
      result: null,
    }))
  }
  for (let start = 0; start < rows.length; start += CARRIED_AT_ONCE) {
    await Promise.all(rows.slice(start, start + CARRIED_AT_ONCE).map(append))
  }
  return !rows.every(isOwn)
}

export const openLoggedClaims = async (options: LoggedClaimsOptions): Promise<LoggedClaims> => {
  const log = createClaimLog(options)
  const scope = databaseScope(options.database, options.clock)
  const table = createIdempotencyTable(scope)
  const { node } = options
  const next = await log.load()
  if (node === null) return operationsOf(log, next, null)
  const { firstNumber } = await ownClaimLog(scope, node, next)
  const hasOthers = await carryOver(log, table, node)
  return operationsOf(log, firstNumber, hasOthers ? table.findAnswer : null)
}
