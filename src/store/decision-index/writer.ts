// Writes decisions and the log position to the index in one transaction: a crash neither skips nor repeats a line.
import { createGenerationTable, GENERATION_INDEXES, GENERATION_ROWS, type IndexFile, TALLIES, tableOf } from './file.ts'
import { uuidKey, walletKey } from './keys.ts'
import { type Counted, DEFAULT_RULE, isDecision, type Tally, talliesOf } from './tallies.ts'
import type { IndexedDecision, IndexedLine } from './types.ts'

export interface SlotPosition {
  readonly slot: string
  readonly segment: string
  readonly offset: number
}

/** A segment truncated at byte `length`. Delete later lines from the index. */
export interface CutSegment {
  readonly slot: string
  readonly segment: string
  readonly length: number
}

interface Generation {
  readonly id: number
  readonly insert: string
  rows: number
  lowestAt: number
  highestAt: number
}

/** Combines revision and outcome, so that a row stores them as one number. */
export const shadowName = ({ revisionId, outcome }: NonNullable<IndexedDecision['shadow']>): string =>
  `${revisionId} ${outcome}`

const insertOf = (generation: number): string =>
  `INSERT INTO ${tableOf(generation)} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export const createIndexWriter = (file: IndexFile, generationRows = GENERATION_ROWS) => {
  const { database, statement } = file
  /** Numbers by kind and text. Remembers the latest text, because consecutive decisions often share names. */
  const names = new Map<string, { readonly ids: Map<string, number>; text: string; id: number }>()

  const nameId = (kind: string, text: string): number => {
    let known = names.get(kind)
    if (known === undefined) {
      known = { ids: new Map(), text: '', id: 0 }
      names.set(kind, known)
    }
    if (known.id !== 0 && known.text === text) return known.id
    const id = known.ids.get(text) ?? storeName(kind, text, known.ids)
    known.text = text
    known.id = id
    return id
  }

  const storeName = (kind: string, text: string, ids: Map<string, number>): number => {
    const row = statement(
      `INSERT INTO names (kind, text) VALUES (?, ?) ON CONFLICT (kind, text) DO UPDATE SET text = excluded.text
       RETURNING id`,
    ).get(kind, text) as { id: number }
    // Limits the memory. Few deployments have this many rules and keys at once.
    if (ids.size >= 100_000) ids.clear()
    ids.set(text, row.id)
    return row.id
  }

  const readCount = (): number =>
    (database.query('SELECT COALESCE(SUM(rows), 0) AS rows FROM generations').get() as { rows: number }).rows

  const readNewest = (): Generation | null => {
    const row = database
      .query('SELECT id, rows, lowest_at, highest_at FROM generations WHERE complete = 0 ORDER BY id DESC LIMIT 1')
      .get() as { id: number; rows: number; lowest_at: number; highest_at: number } | null
    if (row === null) return null
    const { id, rows, lowest_at: lowestAt, highest_at: highestAt } = row
    return { id, insert: insertOf(id), rows, lowestAt, highestAt }
  }

  const readNumber = (): number =>
    Number(
      (database.query("SELECT value FROM meta WHERE name = 'number'").get() as { value: string } | null)?.value ?? 0,
    )

  let generation = readNewest()
  let count = readCount()
  let number = readNumber()

  const saveGeneration = ({ id, rows, lowestAt, highestAt }: Generation, complete: boolean): void => {
    statement(
      `INSERT INTO generations (id, rows, lowest_at, highest_at, complete, indexes) VALUES (?, ?, ?, ?, ?, 0)
       ON CONFLICT (id) DO UPDATE SET rows = excluded.rows, lowest_at = excluded.lowest_at,
         highest_at = excluded.highest_at, complete = excluded.complete`,
    ).run(id, rows, lowestAt, highestAt, complete ? 1 : 0)
  }

  const openGeneration = (atMs: number): Generation => {
    const newest = database.query('SELECT MAX(id) AS id FROM generations').get() as { id: number | null }
    const id = (newest.id ?? 0) + 1
    const opened = { id, insert: insertOf(id), rows: 0, lowestAt: atMs, highestAt: atMs }
    database.run(createGenerationTable(opened.id))
    return opened
  }

  const addDecision = (decision: IndexedDecision): void => {
    generation ??= openGeneration(decision.atMs)
    const { place, atMs } = decision
    number += 1
    statement(generation.insert).run(
      nameId('organization', decision.organizationId),
      atMs,
      number,
      nameId('project', decision.projectId),
      nameId('policy', decision.policyId),
      nameId('rule', decision.rule ?? DEFAULT_RULE),
      nameId('chain', decision.chain),
      decision.compliant ? 1 : 0,
      decision.shadow === null ? 0 : nameId('shadow', shadowName(decision.shadow)),
      nameId('key', decision.keyId),
      walletKey(decision.wallet),
      uuidKey(decision.uuid),
      nameId('segment', `${place.slot}/${place.segment}`),
      place.offset,
      place.length,
    )
    count += 1
    generation.rows += 1
    generation.lowestAt = Math.min(generation.lowestAt, atMs)
    generation.highestAt = Math.max(generation.highestAt, atMs)
    if (generation.rows >= generationRows) {
      saveGeneration(generation, true)
      file.forget(generation.insert)
      generation = null
    }
  }

  /** A local index stores its only node with an empty name. */
  const addTally = (tally: Tally): void => void statement(TALLIES.add).run(...TALLIES.addParameters(tally, ''))

  const cutOff = ({ slot, segment, length }: CutSegment): void => {
    const segmentId = nameId('segment', `${slot}/${segment}`)
    const generations = database.query('SELECT id FROM generations').all() as { id: number }[]
    for (const { id } of generations) {
      const rows = database
        .query(
          `SELECT (SELECT text FROM names WHERE id = organization) AS organizationId, at AS atMs,
             (SELECT text FROM names WHERE id = policy) AS policyId, (SELECT text FROM names WHERE id = rule) AS rule,
             (SELECT text FROM names WHERE id = key_id) AS keyId, compliant
           FROM ${tableOf(id)} WHERE segment = ? AND offset >= ?`,
        )
        .all(segmentId, length) as Counted[]
      for (const { compliant, denied, ...group } of talliesOf(rows))
        addTally({ ...group, compliant: -compliant, denied: -denied })
      const { changes } = database
        .query(`DELETE FROM ${tableOf(id)} WHERE segment = ? AND offset >= ?`)
        .run(segmentId, length)
      count -= changes
      database.query('UPDATE generations SET rows = rows - ? WHERE id = ?').run(changes, id)
      if (generation?.id === id) generation.rows -= changes
    }
  }

  const appendAll = database.transaction(
    (lines: readonly IndexedLine[], positions: readonly SlotPosition[], cuts: readonly CutSegment[]) => {
      for (const line of lines) {
        if (line.kind === 'decision') addDecision(line)
        else statement('INSERT OR IGNORE INTO withheld (uuid) VALUES (?)').run(uuidKey(line.uuid))
      }
      for (const tally of talliesOf(lines.filter(isDecision))) addTally(tally)
      if (generation !== null) saveGeneration(generation, false)
      for (const cut of cuts) cutOff(cut)
      for (const { slot, segment, offset } of positions) {
        statement('INSERT OR REPLACE INTO positions (slot, segment, offset) VALUES (?, ?, ?)').run(
          slot,
          segment,
          offset,
        )
      }
      statement("INSERT OR REPLACE INTO meta (name, value) VALUES ('number', ?)").run(String(number))
    },
  )

  return {
    append: (lines: readonly IndexedLine[], positions: readonly SlotPosition[], cuts: readonly CutSegment[]) => {
      try {
        appendAll.immediate(lines, positions, cuts)
      } catch (error) {
        names.clear()
        generation = readNewest()
        count = readCount()
        number = readNumber()
        throw error
      }
    },
    /** Creates one missing index of a complete generation. Returns false if none is missing. */
    improve: (): boolean => {
      const row = database
        .query('SELECT id, indexes FROM generations WHERE complete = 1 AND indexes < ? ORDER BY id LIMIT 1')
        .get(GENERATION_INDEXES.length) as { id: number; indexes: number } | null
      const missing = row === null ? undefined : GENERATION_INDEXES[row.indexes]
      if (row === null || missing === undefined) return false
      const table = tableOf(row.id)
      database.transaction(() => {
        database.run(`CREATE INDEX ${table}_${missing.name} ON ${table} ${missing.on}`)
        database.query('UPDATE generations SET indexes = indexes + 1 WHERE id = ?').run(row.id)
      })()
      return true
    },
    positions: (): ReadonlyMap<string, { readonly segment: string; readonly offset: number }> => {
      const rows = database.query('SELECT slot, segment, offset FROM positions').all() as SlotPosition[]
      return new Map(rows.map(({ slot, segment, offset }) => [slot, { segment, offset }]))
    },
    count: (): number => count,
  }
}

export type IndexWriter = ReturnType<typeof createIndexWriter>
