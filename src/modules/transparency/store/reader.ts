// Reads the stored tree: head, tiles, and the mapping from lines to leaves.

import type { Database, Statements } from '../../../store/database.ts'
import { fieldsOf, type RowOf } from '../../../store/row-fields.ts'
import type { ReadTiles } from '../tree/prove.ts'
import type { StoredHead, TreeSegment, TreeSpan } from './types.ts'

export const readHead = async (statements: Statements): Promise<StoredHead | null> => {
  const [row] = await statements.query<RowOf<StoredHead>>(
    'SELECT size, root, signed_size, checkpoint FROM decision_tree_head WHERE id = 1',
  )
  return row === undefined ? null : fieldsOf(row)
}

/** Set only if heads require cosignatures before publication. */
export const PUBLISHED = 'published'

export const AUDIT_HEAD = 'audit_head'

/** Head of a node whose tree lost it, for the leader to compare. */
export const LOST_HEAD = 'lost_head'

export const readMeta = async (statements: Statements, name: string): Promise<string | null> => {
  const [row] = await statements.query<{ value: string }>('SELECT value FROM decision_tree_meta WHERE name = ?', [name])
  return row?.value ?? null
}

/** Returns empty hashes for a missing tile. */
export const readTilesOf =
  (statements: Statements): ReadTiles =>
  async (tiles) => {
    const found: Uint8Array[] = []
    for (const { level, number } of tiles) {
      const [row] = await statements.query<{ hashes: Uint8Array }>(
        'SELECT hashes FROM decision_tree_tiles WHERE level = ? AND number = ?',
        [level, number],
      )
      found.push(row?.hashes ?? new Uint8Array(0))
    }
    return found
  }

type SpanRow = RowOf<TreeSpan>

export const createDecisionTreeReader = (database: Pick<Database, 'query'>) => ({
  readTiles: readTilesOf(database),
  head: (): Promise<StoredHead | null> => readHead(database),
  /** Returns the published signed head: with witnesses, the latest cosigned head. Null if there is none yet. */
  published: async (): Promise<string | null> =>
    (await readMeta(database, PUBLISHED)) ?? ((await readHead(database))?.checkpoint || null),
  auditHead: (): Promise<string | null> => readMeta(database, AUDIT_HEAD),
  lostHead: (): Promise<string | null> => readMeta(database, LOST_HEAD),
  /** Spans that contain this byte of the segment, one per node with a segment of this name. */
  spansAt: async (
    { slot, segment }: Pick<TreeSegment, 'slot' | 'segment'>,
    byte: number,
  ): Promise<readonly TreeSpan[]> => {
    const spans: TreeSpan[] = []
    const segments = await database.query<{ id: number }>(
      'SELECT id FROM decision_tree_segments WHERE slot = ? AND segment = ?',
      [slot, segment],
    )
    for (const { id } of segments) {
      const [row] = await database.query<SpanRow>(
        `SELECT start_byte, end_byte, first_leaf, leaves FROM decision_tree_spans
         WHERE segment_id = ? AND start_byte <= ? ORDER BY start_byte DESC LIMIT 1`,
        [id, byte],
      )
      if (row !== undefined && row.end_byte > byte) spans.push(fieldsOf(row))
    }
    return spans
  },
  /** Returns the segments of all nodes that have lines in the tree, with the number of submitted bytes. */
  segments: async (): Promise<readonly (TreeSegment & { readonly takenBytes: number })[]> =>
    (
      await database.query<TreeSegment & { readonly taken_bytes: number }>(
        'SELECT node, slot, segment, taken_bytes FROM decision_tree_segments ORDER BY node, slot, segment',
      )
    ).map(fieldsOf),
  spans: async ({ node, slot, segment }: TreeSegment): Promise<readonly TreeSpan[]> =>
    (
      await database.query<SpanRow>(
        `SELECT start_byte, end_byte, first_leaf, leaves FROM decision_tree_spans s
         JOIN decision_tree_segments g ON g.id = s.segment_id
         WHERE g.node = ? AND g.slot = ? AND g.segment = ? ORDER BY s.start_byte`,
        [node, slot, segment],
      )
    ).map(fieldsOf),
})

export type DecisionTreeReader = ReturnType<typeof createDecisionTreeReader>
