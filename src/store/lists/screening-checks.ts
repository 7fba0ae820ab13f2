// Hits of sessions, and the decisions about them. A decision holds for what was compared when it was made: the same subject
// and entry with another name, date or content are a new hit.
import { randomBase62 } from '../../domain/identifier.ts'
import { type BoundHit, type HitState, NAME_CHECK } from '../../domain/screening-hit.ts'
import type { Session } from '../../domain/session.ts'
import { HitOpenError } from '../../domain/session-errors.ts'
import type { TableScope } from '../copy/table-scope.ts'
import type { Statements, Transaction } from '../database.ts'
import { fieldsOf, type RowOf } from '../row-fields.ts'
import { lockSession, lockSessionAsItIs, placeholdersFor } from '../sessions/session-rows.ts'
import { announceSharing } from '../sessions/session-sharing.ts'

export interface StoredHit extends BoundHit {
  readonly id: string
  /** Name of the check that found it. */
  readonly check: string
  /** Key of the settings under which it was last found. */
  readonly settings: string
  readonly state: HitState
  readonly foundAtSeconds: number
  readonly decidedAtSeconds: number | null
  readonly decidedBy: string | null
  readonly reason: string | null
}

type HitRow = RowOf<Omit<StoredHit, 'check' | 'list' | 'entry' | 'name' | 'why'>> & {
  readonly check_name: string
  readonly list_name: string
  readonly entry_id: string
  readonly entry_name: string
  readonly why: string
}

const HIT_COLUMNS = `id, check_name, list_name, entry_id, version_id, entry_name, subject, basis, subject_basis,
  settings, score, why, state, found_at_seconds, decided_at_seconds, decided_by, reason`

const toHit = (hit: HitRow): StoredHit => {
  const { check_name: check, list_name: list, entry_id: entry, entry_name: name, why, ...row } = hit
  return { ...fieldsOf(row), check, list, entry, name, why: JSON.parse(why) as StoredHit['why'] }
}

const OF_SESSION = 'organization_id = ? AND session_id = ?'

const hitsOf = async (
  statements: Statements,
  organizationId: string,
  sessionId: string,
): Promise<readonly StoredHit[]> =>
  (
    await statements.query<HitRow>(
      `SELECT ${HIT_COLUMNS} FROM screening_hits WHERE ${OF_SESSION} ORDER BY score DESC, id`,
      [organizationId, sessionId],
    )
  ).map(toHit)

interface HitTarget {
  readonly organizationId: string
  readonly sessionId: string
  /** Name of the check. */
  readonly check: string
}

const insertHit = (
  transaction: Transaction,
  { organizationId, sessionId, check }: HitTarget,
  hit: BoundHit,
  settings: string,
  nowSeconds: number,
): Promise<number> =>
  transaction.execute(
    `INSERT INTO screening_hits (id, organization_id, session_id, check_name, list_name, entry_id, version_id, entry_name,
       subject, basis, subject_basis, settings, score, why, state, found_at_seconds)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?)`,
    [
      `hit_${randomBase62(16)}`,
      organizationId,
      sessionId,
      check,
      hit.list,
      hit.entry,
      hit.versionId,
      hit.name,
      hit.subject,
      hit.basis,
      hit.subjectBasis,
      settings,
      hit.score,
      JSON.stringify(hit.why),
      nowSeconds,
    ],
  )

/** Opens a stored hit, or leaves it open, with what was found. */
const openHit = (transaction: Transaction, id: string, hit: BoundHit, settings: string): Promise<number> =>
  transaction.execute(
    `UPDATE screening_hits SET version_id = ?, entry_name = ?, subject = ?, basis = ?, subject_basis = ?, settings = ?,
       score = ?, why = ?, state = 'open', decided_at_seconds = NULL, decided_by = NULL, reason = NULL WHERE id = ?`,
    [
      hit.versionId,
      hit.name,
      hit.subject,
      hit.basis,
      hit.subjectBasis,
      settings,
      hit.score,
      JSON.stringify(hit.why),
      id,
    ],
  )

/** `owner` of `owner 2`: the order of owners may change. */
const roleOf = (subject: string): string => subject.split(' ', 1)[0] ?? ''

type Matches = (stored: StoredHit, hit: BoundHit) => boolean

const isOfEntry: Matches = (stored, hit) => stored.list === hit.list && stored.entry === hit.entry

/** The ways in which a stored hit is the one that was found, the strongest first. */
const MATCHES: readonly Matches[] = [
  (stored, hit) => stored.basis === hit.basis && stored.subject === hit.subject,
  (stored, hit) => stored.basis === hit.basis && roleOf(stored.subject) === roleOf(hit.subject),
  // Stored before hits had a basis.
  (stored, hit) => stored.basis === '' && stored.subject === hit.subject,
]

/** Each stored hit is matched once. Two names of one entry are one hit: the first, which has the highest score. */
const matchHits = (
  found: readonly BoundHit[],
  stored: readonly StoredHit[],
): { readonly matched: ReadonlyMap<BoundHit, StoredHit | undefined>; readonly lost: ReadonlySet<StoredHit> } => {
  const keyOf = ({ list, entry, subject, basis }: BoundHit): string => JSON.stringify([list, entry, subject, basis])
  const hits = [...Map.groupBy(found, keyOf).values()].flatMap(([first]) => first ?? [])
  const matched = new Map<BoundHit, StoredHit | undefined>(hits.map((hit) => [hit, undefined]))
  const lost = new Set(stored)
  for (const matches of MATCHES) {
    for (const hit of hits) {
      if (matched.get(hit) !== undefined) continue
      const same = lost.values().find((candidate) => isOfEntry(candidate, hit) && matches(candidate, hit))
      if (same === undefined) continue
      matched.set(hit, same)
      lost.delete(same)
    }
  }
  return { matched, lost }
}

/** Whether a decision from before hits had a basis may rest on other evidence than there is. */
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

/** What hits make of a check's own outcome. */
const outcomeWith = (outcome: string, hits: readonly Pick<StoredHit, 'state'>[]): string => {
  if (hits.some(({ state }) => state === 'confirmed')) return 'failed'
  return hits.some(({ state }) => state === 'open') ? 'look' : outcome
}

interface Finding {
  readonly hits: readonly BoundHit[]
  /** Outcome of the check without its hits. */
  readonly outcome: string
  readonly settings: string
  readonly subjectBases: readonly string[]
}

/** Of an open hit that is kept although what it was found in is gone. */
const EARLIER = 'earlier'
const CHANGED = { part: EARLIER, points: 0, detail: 'found in data that the person has changed since' }
const ERASED = { part: EARLIER, points: 0, detail: 'found in data that was erased' }

/**
 * Call it in the transaction that stores a check: replaces the check's hits by what was found. An open hit that is not found
 * again is deleted if the list is the reason: its subject was compared again, in full and under the same settings. Otherwise
 * a person decides it, so that nobody ends a hit by typing another name. The same entry, found at the same score or a higher
 * one, takes its place. A cleared hit opens again if its score rises. A hit on another basis is a new one.
 * @returns how many hits were opened, and the check's outcome with its hits
 */
export const replaceHits = async (
  transaction: Transaction,
  target: HitTarget,
  { hits: found, outcome, settings, subjectBases }: Finding,
  nowSeconds: number,
): Promise<{ readonly opened: number; readonly outcome: string }> => {
  const { organizationId, sessionId } = target
  const read = async () =>
    (await hitsOf(transaction, organizationId, sessionId)).filter(({ check }) => check === target.check)
  if (found.length + (await read()).length === 0) return { opened: 0, outcome }
  // A decision about the session reads its hits under the same lock.
  await lockSessionAsItIs(transaction, organizationId, sessionId)
  const { matched, lost } = matchHits(found, await read())
  const isReplaced = (stored: StoredHit): boolean =>
    matched
      .entries()
      .some(
        ([hit, same]) =>
          (same === undefined || same.state === 'open') &&
          isOfEntry(stored, hit) &&
          roleOf(stored.subject) === roleOf(hit.subject) &&
          hit.score >= stored.score,
      )
  let opened = 0
  for (const [hit, same] of matched) {
    if (same === undefined || (await isInDoubt(transaction, target, same))) {
      opened += await insertHit(transaction, target, hit, settings, nowSeconds)
    } else if (same.state === 'open') {
      await openHit(transaction, same.id, hit, settings)
    } else if (same.state === 'cleared' && hit.score > same.score) {
      opened += await openHit(transaction, same.id, hit, settings)
    } else if (same.subject !== hit.subject || same.basis !== hit.basis) {
      await transaction.execute('UPDATE screening_hits SET subject = ?, basis = ?, subject_basis = ? WHERE id = ?', [
        hit.subject,
        hit.basis,
        hit.subjectBasis,
        same.id,
      ])
    }
  }
  for (const hit of outcome === 'not-done' ? [] : lost) {
    if (hit.state !== 'open' || hit.settings !== settings) continue
    if (subjectBases.includes(hit.subjectBasis) || isReplaced(hit)) {
      await transaction.execute('DELETE FROM screening_hits WHERE id = ?', [hit.id])
    } else if (!hit.why.some(({ part }) => part === EARLIER)) {
      const why = JSON.stringify([...hit.why, CHANGED])
      await transaction.execute('UPDATE screening_hits SET why = ? WHERE id = ?', [why, hit.id])
    }
  }
  return { opened, outcome: outcomeWith(outcome, await read()) }
}

/**
 * Call it in the transaction that erases a session's evidence: clears in hits on names whom the name resembled. The list's
 * version stays, and the decision with its reason. An open hit stays open: an erasure must not settle a session that other
 * organizations rely on. Hits on wallets stay: wallets are no evidence.
 */
export const eraseResemblances = async (
  transaction: Transaction,
  organizationId: string,
  sessionId: string,
): Promise<void> => {
  const parameters = [organizationId, sessionId, NAME_CHECK]
  // Entries stay distinct, because they are a part of the table's unique constraint.
  await transaction.execute(
    `UPDATE screening_hits SET entry_id = id, entry_name = '', basis = '', subject_basis = '', score = 0,
       why = CASE state WHEN 'open' THEN ? ELSE '[]' END WHERE ${OF_SESSION} AND check_name = ?`,
    [JSON.stringify([ERASED]), ...parameters],
  )
  // Once the open hits are cleared, the check does not pass: there is nothing to compare.
  await transaction.execute(
    `UPDATE session_checks SET own_outcome = 'not-done' WHERE ${OF_SESSION} AND name = ? AND outcome = 'look'`,
    parameters,
  )
}

/**
 * Call it in the transaction that completes a session.
 * @throws HitOpenError
 */
export const requireNoOpenHit = async (
  transaction: Transaction,
  { organizationId, id }: Pick<Session, 'organizationId' | 'id'>,
): Promise<void> => {
  const rows = await transaction.query(
    `SELECT 1 AS one FROM screening_hits WHERE ${OF_SESSION} AND state = 'open' LIMIT 1`,
    [organizationId, id],
  )
  if (rows.length > 0) throw new HitOpenError()
}

export const createScreeningCheckTable = (scope: TableScope) => ({
  /** The highest score first. */
  hits: (organizationId: string, sessionId: string): Promise<readonly StoredHit[]> =>
    hitsOf(scope.statements, organizationId, sessionId),

  /** Decisions about the hits of some sessions, in the order in which the hits were found. */
  statesOf: async (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<readonly (Pick<StoredHit, 'list' | 'entry' | 'subject' | 'state'> & { readonly sessionId: string })[]> => {
    if (sessionIds.length === 0) return []
    const rows = await scope.statements.query<
      Pick<HitRow, 'list_name' | 'entry_id' | 'subject' | 'state'> & { readonly session_id: string }
    >(
      `SELECT session_id, list_name, entry_id, subject, state FROM screening_hits WHERE organization_id = ?
         AND session_id IN (${placeholdersFor(sessionIds)}) ORDER BY found_at_seconds`,
      [organizationId, ...sessionIds],
    )
    return rows.map(({ session_id: sessionId, list_name: list, entry_id: entry, subject, state }) => ({
      sessionId,
      list,
      entry,
      subject,
      state,
    }))
  },

  /** How many hits of each state some sessions have; sessions without any are left out. */
  countMany: async (
    organizationId: string,
    sessionIds: readonly string[],
  ): Promise<ReadonlyMap<string, Readonly<Record<HitState, number>>>> => {
    const counts = new Map<string, Record<HitState, number>>()
    if (sessionIds.length === 0) return counts
    const rows = await scope.statements.query<{ session_id: string; state: HitState; count: number }>(
      `SELECT session_id, state, COUNT(*) AS count FROM screening_hits WHERE organization_id = ?
         AND session_id IN (${placeholdersFor(sessionIds)}) GROUP BY session_id, state`,
      [organizationId, ...sessionIds],
    )
    for (const { session_id: id, state, count } of rows) {
      const ofSession = counts.get(id) ?? { open: 0, cleared: 0, confirmed: 0 }
      ofSession[state] = Number(count)
      counts.set(id, ofSession)
    }
    return counts
  },

  /** @returns the hit as it is now, and its state before; null when the session has no such hit */
  decideHit: (
    target: { readonly organizationId: string; readonly sessionId: string; readonly hitId: string },
    decision: { readonly state: 'cleared' | 'confirmed'; readonly by: string; readonly reason: string },
  ): Promise<{ readonly hit: StoredHit; readonly before: HitState } | null> =>
    scope.write(async (transaction) => {
      const { organizationId, sessionId, hitId } = target
      const now = scope.nowSeconds()
      // A decision about the session reads its hits under the same lock.
      await lockSession(transaction, organizationId, sessionId, now)
      const before = (await hitsOf(transaction, organizationId, sessionId)).find(({ id }) => id === hitId)
      if (before === undefined) return null
      const { state, by, reason } = decision
      await transaction.execute(
        'UPDATE screening_hits SET state = ?, decided_at_seconds = ?, decided_by = ?, reason = ? WHERE id = ?',
        [state, now, by, reason, hitId],
      )
      const hits = await hitsOf(transaction, organizationId, sessionId)
      const others = hits.filter(({ check }) => check === before.check)
      const ofCheck = [organizationId, sessionId, before.check]
      const [made] = await transaction.query<{ own_outcome: string | null }>(
        `SELECT own_outcome FROM session_checks WHERE ${OF_SESSION} AND name = ?`,
        ofCheck,
      )
      await transaction.execute(`UPDATE session_checks SET outcome = ? WHERE ${OF_SESSION} AND name = ?`, [
        // Without an own outcome, the check may not have been made in full.
        outcomeWith(made?.own_outcome ?? 'not-done', others),
        ...ofCheck,
      ])
      await announceSharing(transaction, organizationId, sessionId, now)
      return {
        before: before.state,
        hit: { ...before, state, reason, decidedAtSeconds: now, decidedBy: by },
      }
    }),
})
