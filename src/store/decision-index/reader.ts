// Finds decisions per generation, newest first, with the most selective index. A long search stops early and can be resumed.

import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { hasVersion, type IndexFile, setConnection, TALLIES, tableOf } from './file.ts'
import { uuidKey, walletKey } from './keys.ts'
import { DEFAULT_RULE, type TallyQuestion, type TallyRow } from './tallies.ts'
import type { DecisionCount, DecisionFilter, DecisionPlace, DecisionPosition, FoundPlaces } from './types.ts'
import { shadowName } from './writer.ts'

interface Generation {
  readonly id: number
  readonly lowest_at: number
  readonly highest_at: number
  readonly indexes: number
}

interface PlaceRow {
  readonly at: number
  readonly number: number
  readonly segment: string
  readonly offset: number
  readonly length: number
  readonly withheld: number
}

interface Conditions {
  readonly sql: string
  readonly parameters: (number | bigint)[]
  readonly index: keyof typeof POSITION | null
}

/** Number of indexes that a generation has once it has this index. */
const POSITION = { wallet: 1, uuid: 2, project: 3, rule: 4, denied: 5, shadow: 6 } as const

export interface SearchBudget {
  readonly monotonicMs: () => number
  /** Milliseconds after which a search starts no further generation. */
  readonly limitMs: number
}

export interface IndexReading extends Pick<IndexFile, 'database' | 'close'> {
  isStale(): boolean
}

const fileNumber = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null

/** Opens the index in addition to the single writing connection. Null if there is no readable index. */
export const openIndexForReading = (path: string): IndexReading | null => {
  const number = fileNumber(path)
  if (number === null) return null
  let database: Database
  try {
    database = new Database(path, { readonly: true, strict: true })
  } catch {
    return null
  }
  if (!hasVersion(database) || fileNumber(path) !== number) {
    database.close()
    return null
  }
  setConnection(database)
  return { database, close: () => database.close(), isStale: () => fileNumber(path) !== number }
}

export const createIndexReader = (file: Pick<IndexFile, 'database'>, { monotonicMs, limitMs }: SearchBudget) => {
  const { database } = file

  const nameId = (kind: string, text: string): number | null =>
    (database.query('SELECT id FROM names WHERE kind = ? AND text = ?').get(kind, text) as { id: number } | null)?.id ??
    null

  /** Returns null if the index lacks one of the names, so that nothing matches. */
  const conditionsOf = (filter: DecisionFilter): Conditions | null => {
    const parts: string[] = []
    const parameters: (number | bigint)[] = []
    const named: readonly (readonly [string, string | null | undefined])[] = [
      ['organization', filter.organizationId],
      ['project', filter.projectId],
      ['policy', filter.policyId],
      ['rule', filter.rule === null ? DEFAULT_RULE : filter.rule],
      ['chain', filter.chain],
      ['shadow', filter.shadow && shadowName(filter.shadow)],
    ]
    for (const [column, text] of named) {
      if (text === undefined || text === null) continue
      const id = nameId(column, text)
      if (id === null) return null
      parts.push(`${column} = ?`)
      parameters.push(id)
    }
    if (filter.shadow !== undefined) parts.push('shadow <> 0')
    if (filter.wallet !== undefined) {
      parts.push('wallet = ?')
      parameters.push(walletKey(filter.wallet))
    }
    // A literal, because a parameter would not match the condition of the partial index.
    if (filter.verdict !== undefined) parts.push(`compliant = ${filter.verdict === 'compliant' ? 1 : 0}`)
    if (filter.sinceMs !== undefined) {
      parts.push('at >= ?')
      parameters.push(filter.sinceMs)
    }
    if (filter.untilMs !== undefined) {
      parts.push('at < ?')
      parameters.push(filter.untilMs)
    }
    const index =
      filter.wallet !== undefined
        ? 'wallet'
        : filter.shadow !== undefined
          ? 'shadow'
          : filter.projectId !== undefined
            ? 'project'
            : filter.rule !== undefined
              ? 'rule'
              : filter.verdict === 'denied'
                ? 'denied'
                : null
    return { sql: parts.join(' AND '), parameters, index }
  }

  const sourceOf = (generation: Generation, index: keyof typeof POSITION | null): string => {
    const table = tableOf(generation.id)
    return index === null || generation.indexes < POSITION[index] ? table : `${table} INDEXED BY ${table}_${index}`
  }

  const generationsOf = (filter: Pick<DecisionFilter, 'sinceMs' | 'untilMs'>, after: DecisionPosition | null) =>
    database
      .query(
        `SELECT id, lowest_at, highest_at, indexes FROM generations WHERE rows > 0 AND highest_at >= ? AND lowest_at <= ?
         ORDER BY highest_at DESC, id DESC`,
      )
      .all(
        filter.sinceMs ?? 0,
        Math.min(filter.untilMs ?? Number.MAX_SAFE_INTEGER, after?.atMs ?? Number.MAX_SAFE_INTEGER),
      ) as Generation[]

  const toPlace = (row: PlaceRow): DecisionPlace => {
    const slash = row.segment.indexOf('/')
    return {
      slot: row.segment.slice(0, slash),
      segment: row.segment.slice(slash + 1),
      offset: row.offset,
      length: row.length,
      atMs: row.at,
      number: row.number,
      withheld: row.withheld === 1,
    }
  }

  const COLUMNS = `at, number, offset, length, (SELECT text FROM names WHERE id = segment) AS segment,
    EXISTS (SELECT 1 FROM withheld WHERE withheld.uuid = found.uuid) AS withheld`

  const selectFrom = (
    generation: Generation,
    { sql, parameters, index }: Conditions,
    after: DecisionPosition | null,
    limit: number,
  ): PlaceRow[] => {
    const afterSql = after === null ? '' : ' AND (at, number) < (?, ?)'
    const afterParameters = after === null ? [] : [after.atMs, after.number]
    // Select the first rows with the index alone, then read their remaining columns.
    return database
      .query(
        `SELECT ${COLUMNS} FROM (
           SELECT row.at, row.number, row.uuid, row.segment, row.offset, row.length FROM (
             SELECT organization, at, number FROM ${sourceOf(generation, index)}
             WHERE ${sql}${afterSql} ORDER BY at DESC, number DESC LIMIT ?
           ) AS one CROSS JOIN ${tableOf(generation.id)} AS row
             ON row.organization = one.organization AND row.at = one.at AND row.number = one.number
         ) AS found`,
      )
      .all(...parameters, ...afterParameters, limit) as PlaceRow[]
  }

  const byNewest = (left: PlaceRow, right: PlaceRow): number => right.at - left.at || right.number - left.number

  return {
    find: (filter: DecisionFilter, after: DecisionPosition | null, limit: number): FoundPlaces => {
      const startedMs = monotonicMs()
      const conditions = conditionsOf(filter)
      if (conditions === null) return { places: [], next: null, complete: true }
      let found: PlaceRow[] = []
      let unread: Generation | null = null
      for (const generation of generationsOf(filter, after)) {
        const last = found[limit]
        if (last !== undefined && generation.highest_at < last.at) break
        // Stop only if the next page starts later than this one: generations overlap in time, so the search could
        // otherwise return to the same generations forever.
        const goesOn = after === null || generation.highest_at < after.atMs
        if (goesOn && monotonicMs() - startedMs > limitMs) {
          unread = generation
          break
        }
        found = [...found, ...selectFrom(generation, conditions, after, limit + 1)].sort(byNewest).slice(0, limit + 1)
      }
      if (unread !== null) {
        // The result is complete only for decisions newer than the first unread generation.
        const { highest_at } = unread
        const certain = found.filter(({ at }) => at > highest_at).slice(0, limit)
        const next = { atMs: highest_at, number: Number.MAX_SAFE_INTEGER }
        return { places: certain.map(toPlace), next, complete: false }
      }
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1) : undefined
      return {
        places: shown.map(toPlace),
        next: last === undefined ? null : { atMs: last.at, number: last.number },
        complete: true,
      }
    },

    /** Matches the first half of the uuid in all organizations. The caller must compare the rest. */
    findByUuid: (uuid: string): readonly DecisionPlace[] => {
      const key = uuidKey(uuid)
      return generationsOf({}, null).flatMap((generation) =>
        (
          database
            .query(
              `SELECT ${COLUMNS} FROM (SELECT at, number, uuid, segment, offset, length FROM ${sourceOf(generation, 'uuid')}
                 WHERE uuid = ?) AS found`,
            )
            .all(key) as PlaceRow[]
        ).map(toPlace),
      )
    },

    /** Groups by time come oldest first, other groups most frequent first. */
    tally: (question: TallyQuestion): readonly TallyRow[] => {
      const asked = TALLIES.ask(question)
      return asked === null
        ? []
        : database
            .query(asked.sql)
            .all(...asked.parameters)
            .map(asked.toRow)
    },

    count: (filter: DecisionFilter): DecisionCount => {
      const startedMs = monotonicMs()
      const conditions = conditionsOf(filter)
      let count = 0
      if (conditions === null) return { count, exact: true }
      for (const generation of generationsOf(filter, null)) {
        if (monotonicMs() - startedMs > limitMs) return { count, exact: false }
        const row = database
          .query(`SELECT COUNT(*) AS count FROM ${sourceOf(generation, conditions.index)} WHERE ${conditions.sql}`)
          .get(...conditions.parameters) as { count: number }
        count += row.count
      }
      return { count, exact: true }
    },
  }
}
