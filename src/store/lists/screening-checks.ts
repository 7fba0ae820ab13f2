// Hits of sessions and their decisions, each of which applies only to the compared subject and entry.
import { randomBase62 } from '../../domain/identifier.ts'
import { type BoundHit, HIT_STATES, type HitState, NAME_CHECK } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { HitConfirmedError, HitOpenError } from '../../domain/session-errors.ts'
import { among, columnsOf, hidden, integer, json, named, nullable, sql, text, typed } from '../columns.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { lockSession, lockSessionAsItIs, placeholdersFor } from '../sessions/session-rows.ts'
import { announceSharing } from '../sessions/session-sharing.ts'
import { defineTable, type ItemOf } from '../table.ts'

export interface StoredHit extends BoundHit {
  readonly id: string
  readonly listing: string | null
  readonly check: string
  /** Key of the settings with which the hit was last found. */
  readonly settings: string
  readonly state: HitState
  readonly foundAtSeconds: number
  readonly decidedAtSeconds: number | null
  readonly decidedBy: string | null
  readonly reason: string | null
}

const PLACE = {
  list: named('list_name', text),
  entry: named('entry_id', text),
  subject: text,
  state: typed<HitState>(),
}

const HITS = defineTable('screening_hits', {
  id: text,
  organizationId: hidden(text),
  sessionId: hidden(text),
  ...PLACE,
  check: named('check_name', text),
  name: named('entry_name', text),
  ...columnsOf<Pick<StoredHit, 'versionId' | 'basis' | 'subjectBasis' | 'settings' | 'score' | 'foundAtSeconds'>>()(
    'versionId basis subjectBasis settings score foundAtSeconds',
  ),
  listing: nullable(text),
  why: json<StoredHit['why']>(),
  decidedAtSeconds: nullable(integer),
  decidedBy: nullable(text),
  reason: nullable(text),
})
const STATES = defineTable('screening_hits', {
  organizationId: hidden(text),
  sessionId: text,
  ...PLACE,
  foundAtSeconds: hidden(integer),
})

const OF_SESSION = 'organization_id = ? AND session_id = ?'

const hitsOf = async (
  statements: Statements,
  organizationId: string,
  sessionId: string,
): Promise<readonly StoredHit[]> =>
  (await HITS.list(statements, { organizationId, sessionId }, ['id'])).toSorted((one, other) => other.score - one.score)

export interface EndedHit extends Omit<StoredHit, 'basis' | 'subjectBasis' | 'settings' | 'listing'> {
  readonly endedAtSeconds: number
}

const ENDED = defineTable('screening_ended_hits', {
  id: text,
  organizationId: hidden(text),
  sessionId: hidden(text),
  list: PLACE.list,
  entry: PLACE.entry,
  subject: PLACE.subject,
  state: PLACE.state,
  check: HITS.shape.check,
  name: HITS.shape.name,
  ...columnsOf<
    Pick<EndedHit, 'versionId' | 'score' | 'foundAtSeconds' | 'decidedAtSeconds' | 'decidedBy' | 'reason'>
  >()('versionId score foundAtSeconds decidedAtSeconds decidedBy reason'),
  why: HITS.shape.why,
  endedAtSeconds: integer,
})

interface HitTarget {
  readonly organizationId: string
  readonly sessionId: string
  readonly check: string
}

const openedBy = (
  { versionId, name, subject, basis, subjectBasis, score, why, listing = null }: BoundHit,
  settings: string,
) => ({ versionId, name, subject, basis, subjectBasis, score, why, listing, settings, state: 'open' }) as const

const UNDECIDED = { decidedAtSeconds: null, decidedBy: null, reason: null }

/** Returns `owner` for `owner 2`, because the order of owners may change. */
const roleOf = (subject: string): string => subject.split(' ', 1)[0] ?? ''

type Matches = (stored: StoredHit, hit: BoundHit) => boolean

const isOfEntry: Matches = (stored, hit) => stored.list === hit.list && stored.entry === hit.entry

/** Criteria for a stored hit to equal a found hit, strongest first. */
const MATCHES: readonly Matches[] = [
  (stored, hit) => stored.basis === hit.basis && stored.subject === hit.subject,
  (stored, hit) => stored.basis === hit.basis && roleOf(stored.subject) === roleOf(hit.subject),
  // Stored by a version without a basis.
  (stored, hit) => stored.basis === '' && stored.subject === hit.subject,
  // Stored by a version whose basis of wallet hits lacked the entry's content.
  (stored, hit) => stored.basis === stored.subjectBasis && stored.basis === hit.subjectBasis,
]

/** Matches each stored hit at most once. Several names of one entry are one hit. */
const matchHits = (
  found: readonly BoundHit[],
  stored: readonly StoredHit[],
): { readonly matched: Map<BoundHit, StoredHit | undefined>; readonly lost: ReadonlySet<StoredHit> } => {
  const keyOf = ({ list, entry, subject, basis }: BoundHit): string => JSON.stringify([list, entry, subject, basis])
  const hits = [...Map.groupBy(found, keyOf).values()].flatMap(([first]) => first ?? [])
  const matched = new Map<BoundHit, StoredHit | undefined>(hits.map((hit) => [hit, undefined]))
  const lost = new Set(stored)
  const entryOf = ({ list, entry }: BoundHit): string => JSON.stringify([list, entry])
  const byEntry = Map.groupBy(stored, entryOf)
  for (const matches of MATCHES) {
    for (const hit of byEntry.size === 0 ? [] : hits) {
      if (matched.get(hit) !== undefined) continue
      const same = byEntry.get(entryOf(hit))?.find((candidate) => lost.has(candidate) && matches(candidate, hit))
      if (same === undefined) continue
      matched.set(hit, same)
      lost.delete(same)
    }
  }
  return { matched, lost }
}

/** Returns true if a decision stored without a basis may depend on evidence that has changed since. */
const isInDoubt = async (
  transaction: Transaction,
  { organizationId, sessionId }: HitTarget,
  { basis, decidedAtSeconds }: StoredHit,
): Promise<boolean> => {
  if (basis !== '' || decidedAtSeconds === null) return false
  const changes = await transaction.query(
    `SELECT 1 FROM session_events WHERE ${OF_SESSION} AND kind = 'evidence-changed' AND created_at_seconds >= ? LIMIT 1`,
    [organizationId, sessionId, decidedAtSeconds],
  )
  return changes.length > 0
}

const outcomeWith = (outcome: string, hits: readonly Pick<StoredHit, 'state'>[]): string => {
  if (hits.some(({ state }) => state === 'confirmed')) return 'failed'
  return hits.some(({ state }) => state === 'open') ? 'look' : outcome
}

interface Finding {
  readonly hits: readonly BoundHit[]
  /** Outcome of the check without its hits. */
  readonly outcome: string
  readonly settings: string
  readonly lowestScore: number
  readonly subjectBases: readonly string[]
}

/** Marks an open hit that is kept although its data is gone. */
const EARLIER = 'earlier'
const CHANGED = { part: EARLIER, points: 0, detail: 'found in data that the person has since changed' }
const ERASED = { part: EARLIER, points: 0, detail: 'found in data that was erased' }

const endHit = async (
  transaction: Transaction,
  target: HitTarget,
  { basis: _, subjectBasis: __, settings: ___, listing: ____, ...hit }: StoredHit,
  nowSeconds: number,
): Promise<void> => {
  const { organizationId, sessionId } = target
  await ENDED.insert(transaction, { ...hit, organizationId, sessionId, endedAtSeconds: nowSeconds })
  await HITS.removeAll(transaction, { organizationId, id: hit.id })
}

/**
 * Replaces a check's hits, in the transaction that stores the check. A missing open hit ends only if its subject was
 * compared again, completely and with the same settings: nobody can end it by entering another name. A cleared hit ends
 * with any settings, and reopens if its score rises.
 * @returns the number of opened hits, and the check's outcome including its hits
 */
export const replaceHits = async (
  transaction: Transaction,
  target: HitTarget,
  { hits: found, outcome, settings, lowestScore, subjectBases }: Finding,
  nowSeconds: number,
): Promise<{ readonly opened: number; readonly outcome: string }> => {
  const { organizationId, sessionId } = target
  const read = async () =>
    (await hitsOf(transaction, organizationId, sessionId)).filter(({ check }) => check === target.check)
  if (found.length + (await read()).length === 0) return { opened: 0, outcome }
  // A decision about the session reads its hits under the same lock.
  await lockSessionAsItIs(transaction, organizationId, sessionId)
  const { matched, lost } = matchHits(found, await read())
  for (const [hit, same] of matched) {
    if (same?.state !== 'cleared' || same.listing === null || same.listing === (hit.listing ?? null)) continue
    await endHit(transaction, target, same, nowSeconds)
    matched.set(hit, undefined)
  }
  const isReplaced = (stored: StoredHit): boolean =>
    matched.entries().some(
      ([hit, same]) =>
        (same === undefined || same.state === 'open') &&
        // A screener's entry is an address, which can be flagged on several chains.
        hit.subject !== 'wallet' &&
        isOfEntry(stored, hit) &&
        roleOf(stored.subject) === roleOf(hit.subject) &&
        hit.score >= stored.score,
    )
  let opened = 0
  for (const [hit, same] of matched) {
    const found = openedBy(hit, settings)
    if (same === undefined || (await isInDoubt(transaction, target, same))) {
      const { list, entry } = hit
      const id = `hit_${randomBase62(16)}`
      await HITS.insert(transaction, { id, ...target, list, entry, ...found, foundAtSeconds: nowSeconds })
      opened++
    } else if (same.state === 'open' || (same.state === 'cleared' && hit.score > same.score)) {
      if (Bun.deepEquals({ ...same, ...found }, same)) continue
      await HITS.updateAll(transaction, { organizationId, id: same.id }, { ...found, ...UNDECIDED })
      if (same.state === 'cleared') opened++
    } else if (
      same.subject !== hit.subject ||
      same.basis !== hit.basis ||
      same.settings !== settings ||
      same.listing !== found.listing
    ) {
      const { subject, basis, subjectBasis, listing } = found
      const bound = { subject, basis, subjectBasis, listing, settings }
      await HITS.updateAll(transaction, { organizationId, id: same.id }, bound)
    }
  }
  for (const hit of outcome === 'not-done' ? [] : lost) {
    const { id } = hit
    if (hit.state !== 'cleared' && hit.settings !== settings) continue
    // A higher threshold does not end a clearance: the entry may still be listed.
    if (hit.state === 'cleared' && hit.score < lowestScore) continue
    const isCompared = subjectBases.includes(hit.subjectBasis)
    if (hit.state !== 'open') {
      const isListed = found.some((other) => isOfEntry(hit, other))
      if (isCompared && !isListed) await endHit(transaction, target, hit, nowSeconds)
    } else if (isCompared || isReplaced(hit)) {
      await HITS.removeAll(transaction, { organizationId, id })
    } else if (!hit.why.some(({ part }) => part === EARLIER)) {
      await HITS.updateAll(transaction, { organizationId, id }, { why: [...hit.why, CHANGED] })
    }
  }
  return { opened, outcome: outcomeWith(outcome, await read()) }
}

/** Call for checks that are not performed: otherwise, their entries could end and be listed again unnoticed. */
export const endClearedHits = async (
  transaction: Transaction,
  { organizationId, sessionId }: Omit<HitTarget, 'check'>,
  isOmitted: (check: string) => boolean,
  nowSeconds: number,
): Promise<void> => {
  const read = async () =>
    (await hitsOf(transaction, organizationId, sessionId)).filter(
      ({ check, state }) => state === 'cleared' && isOmitted(check),
    )
  if ((await read()).length === 0) return
  await lockSessionAsItIs(transaction, organizationId, sessionId)
  for (const hit of await read()) {
    await endHit(transaction, { organizationId, sessionId, check: hit.check }, hit, nowSeconds)
  }
}

/**
 * Erases the names in a session's hits, in the transaction that erases its evidence. Decisions and open hits stay: an
 * erasure must not decide a session. Wallet hits stay, because wallets are not evidence.
 */
export const eraseResemblances = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
): Promise<void> => {
  const ofNames = { organizationId, sessionId, check: NAME_CHECK }
  // Keep entries distinct for the table's unique constraint.
  const erased = { entry: sql`id`, name: '', score: 0 }
  const why = sql`CASE state WHEN 'open' THEN ${JSON.stringify([ERASED])} ELSE '[]' END`
  await HITS.updateAll(transaction, ofNames, { ...erased, basis: '', subjectBasis: '', why })
  await ENDED.updateAll(transaction, ofNames, { ...erased, why: [] })
  // Nothing is left to compare, so the check must not pass when the open hits are cleared.
  await transaction.execute(
    `UPDATE session_checks SET own_outcome = 'not-done' WHERE ${OF_SESSION} AND name = ? AND outcome = 'look'`,
    [organizationId, sessionId, NAME_CHECK],
  )
}

/**
 * Call in the transaction that completes a session. True if a hit is confirmed. @throws HitOpenError, HitConfirmedError
 */
export const requireHitsDecided = async (
  transaction: Transaction,
  { organizationId, id: sessionId }: Pick<Session, 'organizationId' | 'id'>,
  mayOverride: boolean,
): Promise<boolean> => {
  const has = async (state: HitState) => (await HITS.count(transaction, { organizationId, sessionId, state })) > 0
  if (await has('open')) throw new HitOpenError()
  const hasConfirmed = await has('confirmed')
  if (hasConfirmed && !mayOverride) throw new HitConfirmedError()
  return hasConfirmed
}

export const createScreeningCheckTable = (scope: TableScope) => ({
  hits: (organizationId: string, sessionId: string): Promise<readonly StoredHit[]> =>
    hitsOf(scope.statements, organizationId, sessionId),

  endedHits: (organizationId: string, sessionId: string): Promise<readonly EndedHit[]> =>
    ENDED.list(scope, { organizationId, sessionId }, { by: ['endedAtSeconds', 'id'], descending: true }),

  statesOf: (organizationId: string, sessionIds: readonly string[]): Promise<readonly ItemOf<typeof STATES>[]> =>
    STATES.list(scope, { organizationId, sessionId: among(sessionIds) }, ['foundAtSeconds']),

  countMany: async (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<ReadonlyMap<string, Readonly<Record<HitState, number>>>> => {
    const counts = new Map<string, Record<HitState, number>>()
    if (sessionIds.length === 0) return counts
    const rows = await scope.statements.query<{ session_id: string; state: HitState; count: number }>(
      // The condition on states lets SQLite use all columns of an index.
      `SELECT session_id, state, COUNT(*) AS count FROM screening_hits WHERE organization_id = ?
         AND state IN (${placeholdersFor(HIT_STATES)})
         AND session_id IN (${placeholdersFor(sessionIds)}) GROUP BY session_id, state`,
      [organizationId, ...HIT_STATES, ...sessionIds],
    )
    for (const { session_id: id, state, count } of rows) {
      const ofSession = counts.get(id) ?? { open: 0, cleared: 0, confirmed: 0 }
      ofSession[state] = Number(count)
      counts.set(id, ofSession)
    }
    return counts
  },

  /** Returns the decided hit and its previous state; null if the session has no such hit. */
  decideHit: (
    target: { readonly organizationId: string; readonly sessionId: string; readonly hitId: string },
    decision: { readonly state: 'cleared' | 'confirmed'; readonly by: string; readonly reason: string },
  ): Promise<{ readonly hit: StoredHit; readonly before: HitState } | null> =>
    scope.write(async (transaction) => {
      const { organizationId, sessionId, hitId } = target
      const now = scope.nowSeconds()
      await lockSession(transaction, organizationId, sessionId, now)
      const before = (await hitsOf(transaction, organizationId, sessionId)).find(({ id }) => id === hitId)
      if (before === undefined) return null
      const { state, by, reason } = decision
      const decided = { state, decidedAtSeconds: now, decidedBy: by, reason }
      await HITS.updateAll(transaction, { organizationId, id: hitId }, decided)
      const hits = await hitsOf(transaction, organizationId, sessionId)
      const others = hits.filter(({ check }) => check === before.check)
      const ofCheck = [organizationId, sessionId, before.check]
      const [made] = await transaction.query<{ own_outcome: string | null }>(
        `SELECT own_outcome FROM session_checks WHERE ${OF_SESSION} AND name = ?`,
        ofCheck,
      )
      await transaction.execute(`UPDATE session_checks SET outcome = ? WHERE ${OF_SESSION} AND name = ?`, [
        // Without its own outcome, the check may be incomplete.
        outcomeWith(made?.own_outcome ?? 'not-done', others),
        ...ofCheck,
      ])
      await announceSharing(transaction, organizationId, sessionId, now)
      return { before: before.state, hit: { ...before, ...decided } }
    }),
})
