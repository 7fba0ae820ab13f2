// Each node submits new lines; the leader adds them as leaves. Compare-and-set on segment position and head adds each
// line once. A head is signed after its commit.
import { randomBytes } from 'node:crypto'
import { NamedError } from '../../../lib/named-error.ts'
import type { Database, Transaction } from '../../../store/database.ts'
import { type LogSigner, readCheckpoint, signCheckpoint } from '../tree/checkpoint.ts'
import { EMPTY_TREE, edgeOf, edgeTiles, growTree, rootOf } from '../tree/grow.ts'
import { HASH_BYTES } from '../tree/hash.ts'
import type { ReadTiles } from '../tree/prove.ts'
import { AUDIT_HEAD, LOST_HEAD, PUBLISHED, readHead, readMeta, readTilesOf } from './reader.ts'
import { type LeafRun, NO_HEAD, type StoredHead } from './types.ts'

/** Another process changed rows that the transaction had read. Retry after the rollback. */
export class TreeMovedError extends NamedError {}

/** Submitted runs per transaction. */
const PENDING_ROWS = 64
/** Leaves per span; bounds the search for a line. */
const SPAN_LEAVES = 4_096

const ANY_PENDING = 'SELECT segment_id FROM decision_tree_pending LIMIT 1'

const newSegmentId = (): number => randomBytes(6).readUIntBE(0, 6)

const segmentIdOf = async (transaction: Transaction, node: string, run: LeafRun): Promise<number> => {
  const [known] = await transaction.query<{ id: number }>(
    'SELECT id FROM decision_tree_segments WHERE node = ? AND slot = ? AND segment = ?',
    [node, run.slot, run.segment],
  )
  if (known !== undefined) return known.id
  const id = newSegmentId()
  await transaction.execute(
    'INSERT INTO decision_tree_segments (id, node, slot, segment, taken_bytes) VALUES (?, ?, ?, ?, 0)',
    [id, node, run.slot, run.segment],
  )
  return id
}

const take = async (transaction: Transaction, node: string, run: LeafRun): Promise<PendingRow> => {
  const id = await segmentIdOf(transaction, node, run)
  const moved = await transaction.execute(
    'UPDATE decision_tree_segments SET taken_bytes = ? WHERE id = ? AND taken_bytes = ?',
    [run.endByte, id, run.startByte],
  )
  if (moved !== 1) throw new TreeMovedError('the segment was already processed to another byte')
  return { segment_id: id, start_byte: run.startByte, end_byte: run.endByte, hashes: run.hashes }
}

interface PendingRow {
  readonly segment_id: number
  readonly start_byte: number
  readonly end_byte: number
  readonly hashes: Uint8Array
}

/** Extends the previous span if bytes and leaves continue without a gap. */
const addSpan = async (transaction: Transaction, row: PendingRow, firstLeaf: number): Promise<void> => {
  const leaves = row.hashes.length / HASH_BYTES
  const continued = await transaction.execute(
    `UPDATE decision_tree_spans SET end_byte = ?, leaves = leaves + ?
     WHERE segment_id = ? AND end_byte = ? AND first_leaf + leaves = ? AND leaves + ? <= ?
       AND start_byte = (SELECT MAX(start_byte) FROM decision_tree_spans WHERE segment_id = ?)`,
    [row.end_byte, leaves, row.segment_id, row.start_byte, firstLeaf, leaves, SPAN_LEAVES, row.segment_id],
  )
  if (continued > 0) return
  await transaction.execute(
    `INSERT INTO decision_tree_spans (segment_id, start_byte, end_byte, first_leaf, leaves) VALUES (?, ?, ?, ?, ?)`,
    [row.segment_id, row.start_byte, row.end_byte, firstLeaf, leaves],
  )
}

const writeMeta = (transaction: Transaction, name: string, value: string): Promise<number> =>
  transaction.execute(
    'INSERT INTO decision_tree_meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [name, value],
  )

export type KeepHead = (head: StoredHead, readTiles: ReadTiles) => Promise<void>

export const createDecisionTreeWriter = (database: Database, node: string) => ({
  /** `slot/segment` → bytes that this node has submitted. */
  taken: async (): Promise<ReadonlyMap<string, number>> =>
    new Map(
      (
        await database.query<{ slot: string; segment: string; taken_bytes: number }>(
          'SELECT slot, segment, taken_bytes FROM decision_tree_segments WHERE node = ?',
          [node],
        )
      ).map(({ slot, segment, taken_bytes }) => [`${slot}/${segment}`, taken_bytes]),
    ),

  /** Submits runs of this node. @throws TreeMovedError if a run doesn't start at the taken position of its segment */
  submit: (runs: readonly LeafRun[]): Promise<void> =>
    database.transaction(async (transaction) => {
      for (const run of runs) {
        const { segment_id, start_byte, end_byte, hashes } = await take(transaction, node, run)
        await transaction.execute(
          'INSERT INTO decision_tree_pending (segment_id, start_byte, end_byte, hashes) VALUES (?, ?, ?, ?)',
          [segment_id, start_byte, end_byte, hashes],
        )
      }
    }),

  /** Adds submitted runs, and the given runs of this node. @returns true if more may remain @throws TreeMovedError */
  grow: async (own: readonly LeafRun[] = []): Promise<boolean> => {
    // Writes nothing if there are no submissions, because a commit would wait for the disk.
    if (own.length === 0 && (await database.query(ANY_PENDING)).length === 0) return false
    return database.transaction(async (transaction) => {
      // Locks before reading, to exclude rows that another process is taking.
      await transaction.execute('UPDATE decision_tree_head SET size = size WHERE id = 1')
      const head = await readHead(transaction)
      const pending = await transaction.query<PendingRow>(
        `SELECT segment_id, start_byte, end_byte, hashes FROM decision_tree_pending
         ORDER BY segment_id, start_byte LIMIT ${PENDING_ROWS}`,
      )
      const rows = [...pending]
      for (const run of own) rows.push(await take(transaction, node, run))
      if (rows.length === 0) return false
      const read = readTilesOf(transaction)
      const edge = head === null ? EMPTY_TREE : edgeOf(head.size, await read(edgeTiles(head.size)))
      const grown = growTree(edge, Buffer.concat(rows.map(({ hashes }) => hashes)))
      const { size } = grown.edge
      const root = rootOf(grown.edge)
      const moved =
        head === null
          ? await transaction.execute(
              `INSERT INTO decision_tree_head (id, size, root, signed_size, checkpoint) VALUES (1, ?, ?, 0, '')
               ON CONFLICT (id) DO NOTHING`,
              [size, root],
            )
          : await transaction.execute('UPDATE decision_tree_head SET size = ?, root = ? WHERE id = 1 AND size = ?', [
              size,
              root,
              head.size,
            ])
      if (moved !== 1) throw new TreeMovedError('another process has moved the head')
      for (const { level, number, hashes } of grown.tiles) {
        await transaction.execute(
          `INSERT INTO decision_tree_tiles (level, number, hashes) VALUES (?, ?, ?)
           ON CONFLICT (level, number) DO UPDATE SET hashes = excluded.hashes`,
          [level, number, hashes],
        )
      }
      let firstLeaf = edge.size
      for (const row of rows) {
        await addSpan(transaction, row, firstLeaf)
        firstLeaf += row.hashes.length / HASH_BYTES
      }
      for (const row of pending) {
        const deleted = await transaction.execute(
          'DELETE FROM decision_tree_pending WHERE segment_id = ? AND start_byte = ?',
          [row.segment_id, row.start_byte],
        )
        if (deleted !== 1) throw new TreeMovedError('another process has added these leaves')
      }
      return pending.length === PENDING_ROWS
    })
  },

  /**
   * Signs a head unless it is signed already.
   * @param keep stores a head elsewhere before readers can see it; the head is discarded if this fails
   */
  sign: async (signer: LogSigner, keep: KeepHead = async () => undefined): Promise<StoredHead> => {
    const before = await readHead(database)
    if (before === null) return NO_HEAD
    if (before.signedSize === before.size) return before
    return database.transaction(async (transaction) => {
      // With this lock, `keep` compares the rows of the same database that stores the head, even during a failover.
      await transaction.execute('UPDATE decision_tree_head SET size = size WHERE id = 1')
      const head = (await readHead(transaction)) ?? before
      if (head.signedSize === head.size) return head
      const signed = { ...head, checkpoint: signCheckpoint(head, signer), signedSize: head.size }
      await keep(signed, readTilesOf(transaction))
      await transaction.execute('UPDATE decision_tree_head SET signed_size = ?, checkpoint = ? WHERE id = 1', [
        signed.signedSize,
        signed.checkpoint,
      ])
      return signed
    })
  },
  keepAuditHead: (encoded: string): Promise<void> =>
    database.transaction(async (transaction) => {
      await writeMeta(transaction, AUDIT_HEAD, encoded)
    }),
  keepLostHead: (encoded: string): Promise<void> =>
    database.transaction(async (transaction) => {
      await writeMeta(transaction, LOST_HEAD, encoded)
    }),

  /** Publishes a head unless a newer one is published. @param checkpoint null to publish every signed head */
  publish: (checkpoint: string | null): Promise<void> =>
    database.transaction(async (transaction) => {
      // Takes the same lock as `grow`: if two processes publish at once, the newer head remains.
      await transaction.execute('UPDATE decision_tree_head SET size = size WHERE id = 1')
      const before = await readMeta(transaction, PUBLISHED)
      if (checkpoint === null) await transaction.execute(`DELETE FROM decision_tree_meta WHERE name = '${PUBLISHED}'`)
      else if (before === null || readCheckpoint(before).size <= readCheckpoint(checkpoint).size) {
        await writeMeta(transaction, PUBLISHED, checkpoint)
      }
    }),
})

export type DecisionTreeWriter = ReturnType<typeof createDecisionTreeWriter>
