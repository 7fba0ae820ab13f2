// The tree over the decision log, for `countersign decisions verify` and `prove`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailedError, type CommandOutput } from '../../command-line/output.ts'
import { findSlotEnd, slotLinesBackwards } from '../../decision-log/backwards.ts'
import { peekUuid } from '../../decision-log/record.ts'
import { listSlots } from '../../decision-log/segment-name.ts'
import {
  openTreeAccess,
  type TreeAccess,
  type TreeAccessOptions,
} from '../../modules/transparency/service/tree-access.ts'
import { encodeVerifierKey } from '../../modules/transparency/tree/note.ts'
import { type CheckedLogs, checkTree } from '../../modules/transparency/verify/check-tree.ts'
import { type LineToProve, proveLine } from '../../modules/transparency/verify/prove-line.ts'
import type { KeptHead, TreeReport } from '../../modules/transparency/verify/verify-tree.ts'
import type { Store } from '../../store/store.ts'
import { shown } from './decisions-report.ts'

const DAMAGED_SHOWN = 3

/** @throws CommandFailedError when this version of the service was never started; errors of opening the store */
export const openTreeForCommand = async (
  open: () => Promise<Store>,
  options: Omit<TreeAccessOptions, 'store'>,
): Promise<TreeAccess> => {
  const store = await open()
  try {
    const access = await openTreeAccess({ store, ...options })
    if (access !== null) return access
    throw new CommandFailedError(
      'there is no tree over this log yet: start the service once, or check the --chains alone',
    )
  } finally {
    await store.close()
  }
}

export type TreeCheck = (logs: CheckedLogs) => Promise<TreeReport>

/** @param checkpoints files with heads that a third party kept. @param archivedBefore an ISO time: older lines may be archived */
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
    const access = await openTree()
    try {
      return await checkTree({ ...access, heads: [...access.heads, ...given], archivedBefore }, logs)
    } finally {
      await access.close()
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

/**
 * Finds a decision in a node's log, newest lines first.
 * @throws CommandFailedError when it is not found; the text names damaged lines, which may include it
 */
const findLine = (directory: string, uuid: string): LineToProve => {
  const damaged: string[] = []
  let others = 0
  for (const slot of listSlots(directory)) {
    const slotDirectory = join(directory, slot)
    const { position } = findSlotEnd(slotDirectory)
    if (position === null) continue
    for (const { segment, bytes, start } of slotLinesBackwards(slotDirectory, position)) {
      if (start === 0) continue
      const peeked = peekUuid(bytes)
      if (peeked === null && damaged.length < DAMAGED_SHOWN) damaged.push(`${slot}/${segment.name} at byte ${start}`)
      else if (peeked === null) others += 1
      if (peeked === null || peeked.kind === 'withheld' || peeked.uuid !== uuid) continue
      return { slot, segment: segment.name, offset: start, line: bytes.toString('utf8') }
    }
  }
  const none = `there is no decision ${uuid} in ${directory}`
  if (damaged.length === 0) throw new CommandFailedError(none)
  const places = `${damaged.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
  throw new CommandFailedError(`${none}; lines that can't be read: ${places}. See countersign decisions verify`)
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
