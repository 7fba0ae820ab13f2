// What `countersign decisions` needs of the tree over the log: its tables, its key, and the heads that were kept apart from it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSlotEnd, slotLinesBackwards } from '../decisions/backwards.ts'
import { type LineToProve, proveLine } from '../decisions/prove-line.ts'
import { peekUuid } from '../decisions/record.ts'
import { listSlots } from '../decisions/segment-name.ts'
import { knownNodeName } from '../decisions/ship-names.ts'
import type { ShipTarget } from '../decisions/ship-target.ts'
import { readHeadFile, readShippedHead } from '../decisions/tree-heads.ts'
import { type KeptHead, type TreeReport, verifyTree } from '../decisions/verify-tree.ts'
import type { DataFolder } from '../setup/data-folder.ts'
import { type LogKey, readLogKey } from '../setup/log-key.ts'
import { openDecisionTreeReader } from '../store/decision-tree/open.ts'
import type { DecisionTreeReader } from '../store/decision-tree/reader.ts'
import type { Store } from '../store/store.ts'
import type { StoreTarget } from '../store/store-address.ts'
import { encodeVerifierKey } from '../transparency/note.ts'
import { STORED_HEAD, treeTargetOf } from '../wiring/tree-service.ts'
import { shown } from './decisions-report.ts'
import { CommandFailedError, type CommandOutput } from './output.ts'

export interface TreeAccess extends Pick<LogKey, 'key' | 'saltKey'> {
  /** Null: no service has made a tree yet. */
  readonly tree: DecisionTreeReader | null
  readonly heads: readonly KeptHead[]
  /** What of the heads could not be looked at. */
  readonly warnings: readonly string[]
  close(): Promise<void>
}

export interface TreeAccessOptions {
  readonly folder: Pick<DataFolder, 'keystores' | 'decisionTree' | 'decisionTreeHead'>
  readonly open: () => Promise<Store>
  readonly locateStore: () => Promise<StoreTarget>
  /** Null where nothing is shipped. */
  readonly shipTarget: (() => ShipTarget) | null
}

/** @throws CommandFailedError where no start of this version has been made; what the store is refused with */
export const openTreeAccess = async (options: TreeAccessOptions): Promise<TreeAccess> => {
  const { folder, shipTarget } = options
  const store = await options.open()
  const warnings: string[] = []
  try {
    const logKey = await readLogKey(store.deployment, folder)
    if (logKey === null) {
      throw new CommandFailedError(
        'there is no tree over this log yet: start the service once, or check the --chains alone',
      )
    }
    const stored = await store.deployment.read(STORED_HEAD)
    const inFile = await readHeadFile(folder.decisionTreeHead)
    const shipped =
      shipTarget === null
        ? null
        : await readShippedHead(shipTarget(), logKey.key.name).catch(() => {
            warnings.push('the place that heads are shipped to does not answer: nothing was compared with it')
            return null
          })
    const heads = [
      { where: folder.decisionTreeHead, checkpoint: inFile },
      { where: 'the head in the store', checkpoint: stored },
      { where: 'the shipped head', checkpoint: shipped },
    ].flatMap(({ where, checkpoint }): KeptHead[] =>
      checkpoint === null || checkpoint === '' ? [] : [{ where, checkpoint }],
    )
    // After the heads: the tree goes on meanwhile, and must be seen to hold them.
    const tree = await openDecisionTreeReader(treeTargetOf(await options.locateStore(), folder))
    const close = async (): Promise<void> => {
      await tree?.close()
    }
    return { key: logKey.key, saltKey: logKey.saltKey, tree, heads, warnings, close }
  } finally {
    await store.close()
  }
}

/** A log's folder, or those of all nodes as they were shipped. */
type Logs = string | readonly { readonly node: string; readonly directory: string }[]
export type TreeCheck = (logs: Logs) => Promise<TreeReport>

const stampOf = (time: string): string => new Date(time).toISOString().replaceAll('-', '').replaceAll(':', '')

const EMPTY: Pick<TreeReport, 'size' | 'compared' | 'newer' | 'elsewhere'> = {
  size: 0,
  compared: 0,
  newer: 0,
  elsewhere: 0,
}

/** @param checkpoints files with heads that somebody else kept. @param archivedBefore a time */
export const createTreeCheck =
  (openTree: () => Promise<TreeAccess>, checkpoints: readonly string[], archivedBefore: string | null): TreeCheck =>
  async (logs) => {
    const given = checkpoints.map((path): KeptHead => {
      try {
        return { where: path, checkpoint: readFileSync(path, 'utf8') }
      } catch {
        throw new CommandFailedError(`the checkpoint can't be read: ${path}`)
      }
    })
    const { tree, key, saltKey, heads, warnings, close } = await openTree()
    try {
      const kept = [...heads, ...given]
      if (tree === null) {
        const problems = kept.map(({ where }) => `${where} is of a tree that is gone`)
        return { ...EMPTY, ok: problems.length === 0, problems, warnings: ['there is no tree yet', ...warnings] }
      }
      const isLocal = typeof logs === 'string'
      const nodes = new Set((await tree.segments()).map(({ node }) => node))
      // A log whose name is gone with the rest of it is the only node's, where there is one.
      const nodeOf = (directory: string): string =>
        knownNodeName(directory) ?? (nodes.size === 1 ? [...nodes].join() : '')
      const report = await verifyTree({
        tree,
        key,
        saltKey,
        heads: kept,
        logs: isLocal ? [{ node: nodeOf(logs), directory: logs }] : logs,
        mayBeBehind: !isLocal,
        archivedBefore: archivedBefore === null ? null : stampOf(archivedBefore),
      })
      return { ...report, warnings: [...report.warnings, ...warnings] }
    } finally {
      await close()
    }
  }

export const printTree = (report: TreeReport, stdout: (text: string) => void): void => {
  const { size, compared, newer, elsewhere, problems, warnings } = report
  for (const problem of problems) stdout(`tree PROBLEM: ${shown(problem)}\n`)
  for (const warning of warnings) stdout(`tree warning: ${shown(warning)}\n`)
  const counts = [`${compared} of ${size} lines compared`]
  if (elsewhere > 0) counts.push(`${elsewhere} elsewhere`)
  if (newer > 0) counts.push(`${newer} newer than its head`)
  stdout(`tree: ${counts.join(', ')}: ${problems.length === 0 ? 'ok' : `${problems.length} with problems`}\n`)
}

/** The place of a decision in a node's own log, the newest first; null where it is not there. */
const findLine = (directory: string, uuid: string): LineToProve | null => {
  for (const slot of listSlots(directory)) {
    const slotDirectory = join(directory, slot)
    const { position } = findSlotEnd(slotDirectory)
    if (position === null) continue
    for (const { segment, bytes, start } of slotLinesBackwards(slotDirectory, position)) {
      const peeked = start === 0 ? null : peekUuid(bytes)
      if (peeked === null || peeked.kind === 'withheld' || peeked.uuid !== uuid) continue
      return { slot, segment: segment.name, offset: start, line: bytes.toString('utf8') }
    }
  }
  return null
}

export interface ProveCommand extends CommandOutput {
  readonly uuid: string
  readonly directory: string
  readonly openTree: () => Promise<TreeAccess>
  readonly json: boolean
}

/** @throws CommandFailedError, DecisionDirectoryMissingError */
export const runProve = async ({ uuid, directory, openTree, json, stdout, stderr }: ProveCommand): Promise<number> => {
  const place = findLine(directory, uuid)
  if (place === null) throw new CommandFailedError(`there is no decision ${uuid} in ${directory}`)
  const { tree, key, saltKey, close } = await openTree()
  try {
    const proof = tree === null ? null : await proveLine(tree, saltKey, place)
    if (proof === null) throw new CommandFailedError('no signed head covers this decision yet: try again in a second')
    if (json) stdout(`${JSON.stringify({ uuid, log_key: encodeVerifierKey(key), proof })}\n`)
    else {
      stdout(proof)
      stderr(`The log's key, which whoever checks this has to know from you: ${encodeVerifierKey(key)}\n`)
    }
    return 0
  } finally {
    await close()
  }
}
