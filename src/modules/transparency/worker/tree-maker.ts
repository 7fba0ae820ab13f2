// One pass of the tree: every node submits new lines; the leader adds them as leaves and signs the new head.

import { createLineIntake, type LineIntake } from '../../../decision-log/line-hashes.ts'
import { withTimeout } from '../../../lib/with-timeout.ts'
import type { ShipTarget } from '../../../object-store/ship-target.ts'
import { writePrivateFile } from '../../../signing/private-file.ts'
import type { DecisionTree } from '../store/open.ts'
import { type LeafRun, NO_HEAD, type StoredHead } from '../store/types.ts'
import type { KeepHead } from '../store/writer.ts'
import { type LogSigner, openCheckpoint } from '../tree/checkpoint.ts'
import { leafHashesOf } from '../tree/hash.ts'
import type { VerifierKey } from '../tree/note.ts'
import type { ReadTiles } from '../tree/prove.ts'
import { coverProblem } from '../verify/leaf-cover.ts'
import {
  headProblem,
  isOfOtherLog,
  readHeadFile,
  readShippedHead,
  shipHead,
  TreeRolledBackError,
} from '../verify/tree-heads.ts'

export interface TreeMakerOptions {
  readonly directory: string
  readonly tree: Pick<DecisionTree, 'reader' | 'writer'>
  readonly saltKey: Uint8Array
  /** Opened on first use. */
  readonly signer: () => Promise<LogSigner>
  readonly key: VerifierKey
  readonly headFile: string
  readonly knownHeads: readonly string[]
  readonly ship: { readonly target: ShipTarget; readonly intervalMs: number } | null
  readonly flush: boolean
  readonly monotonicMs: () => number
  /** Called by tests that kill the process at each step. */
  readonly onStep?: (step: TreeStep) => void
}

type TreeStep = 'submitted' | 'grown' | 'kept' | 'signed' | 'shipped'

/** Maximum runs of lines per submission. */
const RUNS_AT_ONCE = 16
/** Time after which the first head is signed without comparing the shipped head. */
const SHIPPED_HEAD_MS = 3_000

export const createTreeMaker = (options: TreeMakerOptions) => {
  const { directory, tree, saltKey, key, headFile, knownHeads, ship, flush, monotonicMs } = options
  const { onStep = () => undefined } = options
  let intake: LineIntake | null = null
  let isChecked = false
  /** Never reset: rows that were altered once stay suspect. */
  let brokenCover: string | null = null
  /** Latest head that this process has signed or read; undefined until the head file is read. */
  let kept: string | null | undefined
  let shippedSize = -1
  let shippedAtMs = Number.NEGATIVE_INFINITY
  let shipFailure: { readonly cause: unknown } | null = null
  /** Set if the shipped head doesn't belong to this tree. */
  let refused: TreeRolledBackError | null = null

  /** Passes new lines to `submit`. Returns true if there may be more. */
  const readLog = async (submit: (runs: readonly LeafRun[]) => Promise<unknown>): Promise<boolean> => {
    intake ??= createLineIntake({ directory, taken: await tree.writer.taken() })
    try {
      const runs: LeafRun[] = []
      for (let run = intake.next(); run !== null; run = intake.next()) {
        const { slot, segment, start, end, hashes } = run
        runs.push({ slot, segment, startByte: start, endByte: end, hashes: leafHashesOf(hashes, saltKey) })
        if (runs.length === RUNS_AT_ONCE) break
      }
      if (flush) intake.flush()
      if (runs.length > 0) await submit(runs)
      return runs.length === RUNS_AT_ONCE
    } catch (error) {
      // The runs may not be stored, so the next pass continues from the tables.
      intake = null
      throw error
    }
  }

  const readHead = async (): Promise<StoredHead> => (await tree.reader.head()) ?? NO_HEAD

  const requireHeld = async (encoded: string, where: string, head?: StoredHead, readTiles?: ReadTiles) => {
    const problem = await headProblem(encoded, key, head ?? (await readHead()), readTiles ?? tree.reader.readTiles)
    if (problem !== null) throw new TreeRolledBackError(`${where}: ${problem}`)
  }

  /** Requires that the tree contains the kept head. Then keeps the tree's signed head if it is newer. */
  const keep: KeepHead = async (head, readTiles) => {
    if (kept === undefined) {
      const inFile = await readHeadFile(headFile)
      kept = inFile === null || isOfOtherLog(inFile, key) ? null : inFile
    }
    if (head.checkpoint === kept) return
    if (kept !== null) await requireHeld(kept, headFile, head, readTiles)
    const keptSize = kept === null ? 0 : openCheckpoint(kept, key).size
    if (head.checkpoint === '' || head.signedSize <= keptSize) return
    await requireHeld(head.checkpoint, 'the tree’s own head', head, readTiles)
    await writePrivateFile(headFile, head.checkpoint)
    kept = head.checkpoint
    onStep('kept')
  }

  /** Call before the first leaf is added, because a signature can't be revoked. */
  const checkHeads = async (): Promise<void> => {
    if (isChecked) return
    for (const known of knownHeads) await requireHeld(known, 'the head in the store')
    // If the target is unavailable, `ship` compares its head before writing.
    const shipped = await withTimeout(readShipped(), SHIPPED_HEAD_MS, () => undefined).catch(() => undefined)
    if (shipped === undefined && refused !== null) throw refused
    if (shipped) await requireHeld(shipped, 'the shipped head')
    brokenCover ??= await coverProblem(tree.reader, (await tree.reader.head())?.size ?? 0)
    if (brokenCover !== null) throw new TreeRolledBackError(brokenCover)
    await keep(await readHead(), tree.reader.readTiles)
    refused = null
    isChecked = true
  }

  const readShipped = async (): Promise<string | null> => (ship === null ? null : readShippedHead(ship.target, key))

  const lead = async (): Promise<StoredHead> => {
    await checkHeads()
    const lost = await tree.reader.lostHead()
    if (lost !== null && !isOfOtherLog(lost, key)) await requireHeld(lost, 'the head of another node')
    while (await tree.writer.grow());
    while (await readLog(tree.writer.grow));
    onStep('grown')
    const head = await tree.writer.sign(await options.signer(), keep)
    onStep('signed')
    // If it was already signed, the database may have been replaced by an older copy.
    await keep(head, tree.reader.readTiles)
    return head
  }

  return {
    /** @throws TreeRolledBackError; an operator must then investigate before a head is signed */
    pass: async (leads: boolean): Promise<StoredHead | null> => {
      if (leads) {
        try {
          return await lead()
        } catch (error) {
          // The store may have failed over to a database without the last heads.
          isChecked = false
          throw error
        }
      }
      // Another node may sign heads in the meantime.
      isChecked = false
      while (await readLog(tree.writer.submit));
      onStep('submitted')
      try {
        await keep(await readHead(), tree.reader.readTiles)
      } catch (error) {
        // The leader may not have read this head before the failover.
        if (error instanceof TreeRolledBackError && kept) await tree.writer.keepLostHead(kept)
        throw error
      }
      return null
    },

    /** Ships the head of a pass, if due. Passes don't wait for it. @throws the error of the last shipping attempt */
    ship: async (head: StoredHead): Promise<void> => {
      if (ship === null || head.checkpoint === '' || head.size === shippedSize) return
      if (monotonicMs() - shippedAtMs >= ship.intervalMs) {
        shipFailure = null
        try {
          const there = await readShipped()
          if (there !== null) await requireHeld(there, 'the shipped head')
          await shipHead(ship.target, key.name, head.checkpoint)
          shippedSize = head.size
          onStep('shipped')
        } catch (error) {
          shipFailure = { cause: error }
          if (error instanceof TreeRolledBackError) {
            refused = error
            // Nothing is signed until all heads match.
            isChecked = false
          }
        }
        shippedAtMs = monotonicMs()
      }
      if (shipFailure !== null) throw shipFailure.cause
    },
  }
}
