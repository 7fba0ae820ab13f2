// A simple model of the table of idempotency claims.
import type { Clock } from '../../src/lib/time.ts'
import type { IdempotencyClaim, IdempotencyTable, KeptClaim, StoredResponse } from '../../src/store/idempotency.ts'

type Row = { -readonly [Field in keyof KeptClaim]: KeptClaim[Field] } & {
  dispatched: boolean
  answer: StoredResponse | null
}
type Key = Pick<IdempotencyClaim, 'organizationId' | 'keyId' | 'idempotencyKey'>
type ClaimResult = Awaited<ReturnType<IdempotencyTable['claim']>>

const claimOf = ({ organizationId, keyId, idempotencyKey, uuid, claimExpiresAtSeconds }: Row): IdempotencyClaim => ({
  organizationId,
  keyId,
  idempotencyKey,
  uuid,
  claimExpiresAtSeconds,
})

export const createIdempotencyModel = (clock: Pick<Clock, 'unixSeconds'>) => {
  const rows = new Map<string, Row>()
  const nameOf = ({ organizationId, keyId, idempotencyKey }: Key): string =>
    JSON.stringify([organizationId, keyId, idempotencyKey])
  const now = (): number => clock.unixSeconds()
  /** The row of the claim; null if its holder lost or replaced it. */
  const ownRow = (claim: IdempotencyClaim): Row | null => {
    const row = rows.get(nameOf(claim))
    return row?.uuid === claim.uuid && row.claimExpiresAtSeconds === claim.claimExpiresAtSeconds ? row : null
  }
  const heldRow = (claim: IdempotencyClaim): Row | null => {
    const row = ownRow(claim)
    return row?.answer === null ? row : null
  }
  const keep = (row: Row, response: StoredResponse, keepUntilSeconds: number): StoredResponse => {
    Object.assign(row, { answer: response, keepUntilSeconds })
    return response
  }

  const claim = (
    ...[
      organizationId,
      keyId,
      idempotencyKey,
      bodyHash,
      uuid,
      expires,
      place,
      { endedBySeconds, unusableBySeconds },
    ]: Required<Parameters<IdempotencyTable['claim']>>
  ): ClaimResult => {
    const key = { organizationId, keyId, idempotencyKey }
    const { node } = place
    const fresh: Row = {
      ...key,
      uuid,
      claimExpiresAtSeconds: expires,
      bodyHash,
      keepUntilSeconds: expires + place.keepSeconds,
      uuidSinceSeconds: now(),
      node,
      dispatched: node === '',
      answer: null,
    }
    const start = (): ClaimResult => {
      rows.set(nameOf(key), fresh)
      return { outcome: 'claimed', claim: claimOf(fresh) }
    }
    const row = rows.get(nameOf(key))
    if (row === undefined || row.keepUntilSeconds <= unusableBySeconds) return start()
    if (Buffer.compare(row.bodyHash, bodyHash) !== 0) return { outcome: 'mismatch' }
    if (row.answer !== null) return { outcome: 'completed', uuid: row.uuid, response: row.answer }
    const isElsewhere = row.node !== node
    const { uuid: earlierUuid, uuidSinceSeconds, claimExpiresAtSeconds } = row
    if (claimExpiresAtSeconds > endedBySeconds) {
      const isKnown = row.dispatched && !isElsewhere
      const earlier = { uuid: earlierUuid, uuidSinceSeconds }
      return { outcome: 'in-flight', expiresAtSeconds: claimExpiresAtSeconds, ...(isKnown ? { earlier } : {}) }
    }
    if (!row.dispatched) return start()
    if (isElsewhere) {
      // Its node reports within five seconds, or its signature becomes unusable.
      const ends = [claimExpiresAtSeconds + 5, claimExpiresAtSeconds + place.usableSeconds]
      if (ends[1]! <= unusableBySeconds) return start()
      return { outcome: 'in-flight', expiresAtSeconds: ends[0]! > endedBySeconds ? ends[0]! : ends[1]! }
    }
    row.claimExpiresAtSeconds = expires
    row.keepUntilSeconds = Math.max(row.keepUntilSeconds, expires)
    return { outcome: 'taken-over', claim: claimOf(row), uuidSinceSeconds }
  }

  return {
    claim,
    complete: (held: IdempotencyClaim, response: StoredResponse, keepUntilSeconds: number) => {
      const row = heldRow(held)
      return row === null ? (rows.get(nameOf(held))?.answer ?? null) : keep(row, response, keepUntilSeconds)
    },
    settle: (held: IdempotencyClaim, response: StoredResponse, keepUntilSeconds: number) => {
      const row = ownRow(held)
      return row === null ? null : keep(row, response, keepUntilSeconds)
    },
    replaceUuid: (held: IdempotencyClaim, uuid: string) => {
      const row = heldRow(held)
      if (row === null) return null
      Object.assign(row, { uuid, uuidSinceSeconds: now() })
      return claimOf(row)
    },
    markDispatched: (held: IdempotencyClaim, keepUntilSeconds: number) => {
      const row = heldRow(held)
      if (row === null) return false
      row.dispatched = true
      row.keepUntilSeconds = Math.max(row.keepUntilSeconds, keepUntilSeconds)
      return true
    },
    release: (held: IdempotencyClaim) => heldRow(held) !== null && rows.delete(nameOf(held)),
    adopt: (adopted: KeptClaim) => {
      if (!rows.has(nameOf(adopted))) rows.set(nameOf(adopted), { ...adopted, dispatched: true, answer: null })
    },
    findAnswer: (key: Key) => {
      const row = rows.get(nameOf(key))
      if (row === undefined || row.answer === null || row.keepUntilSeconds <= now()) return null
      return { outcome: 'completed' as const, uuid: row.uuid, response: row.answer }
    },
    listKept: (): KeptClaim[] =>
      [...rows.values()]
        .filter(({ keepUntilSeconds, dispatched, uuid }) => keepUntilSeconds > now() && dispatched && uuid[14] === '4')
        .map(({ dispatched: _, answer: __, ...kept }) => kept),
    listUnanswered: (node: string, expiredBySeconds: number) =>
      [...rows.values()]
        .filter((row) => row.node === node && node !== '' && row.answer === null && row.dispatched)
        .filter((row) => row.claimExpiresAtSeconds <= expiredBySeconds)
        .map((row) => ({ claim: claimOf(row), uuidSinceSeconds: row.uuidSinceSeconds })),
    sweep: (): number => {
      const expired = [...rows].filter(([, row]) => row.keepUntilSeconds <= now())
      for (const [name] of expired) rows.delete(name)
      return expired.length
    },
  }
}
