// Heads of the tree that are kept apart from it: in a file, and where the log is shipped. A tree that does not hold a head
// that was signed before is an older copy, or another history: nothing of it may be signed.
import { readFile } from 'node:fs/promises'
import { isMissingFile, NamedError } from '../../../lib/named-error.ts'
import { digestOf, type ShipTarget } from '../../../object-store/ship-target.ts'
import { type Checkpoint, openCheckpoint, type TreeHead } from '../tree/checkpoint.ts'
import { NoteInvalidError, type VerifierKey } from '../tree/note.ts'
import { type ReadTiles, readRoot } from '../tree/prove.ts'

/** The tree in the tables is not the one that heads were signed of. `message` is one line for the operator. */
export class TreeRolledBackError extends NamedError {}

/** @returns null where there is no such file */
export const readHeadFile = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

/** Under the log's own name, beside the nodes' logs. */
const headObject = (logName: string): string => `log-heads/${logName.replaceAll(/[^A-Za-z0-9-]+/g, '-')}`

/** A head with as many cosignatures as a note may have is far below. */
export const HEAD_MAX_BYTES = 65_536

/** @returns null where there is none. Of what is larger than any head, only the beginning, which is no signed head */
export const readHeadObject = async (target: ShipTarget, name: string): Promise<string | null> => {
  const bytes = await target.readRange(name, 0, HEAD_MAX_BYTES)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}

/** @returns null where none has been shipped */
export const readShippedHead = (target: ShipTarget, logName: string): Promise<string | null> =>
  readHeadObject(target, headObject(logName))

export const shipHead = async (target: ShipTarget, logName: string, checkpoint: string): Promise<void> => {
  const name = headObject(logName)
  const content = new Blob([checkpoint])
  await target.put(name, content)
  if (!(await target.isIntact(name, await digestOf(content.stream())))) {
    throw new Error('the target holds other bytes than it was given')
  }
}

/** Why the tree does not hold a head; null when it does. */
export const headProblem = async (
  encoded: string,
  key: VerifierKey,
  tree: TreeHead,
  readTiles: ReadTiles,
): Promise<string | null> => {
  let head: Checkpoint
  try {
    head = openCheckpoint(encoded, key)
  } catch (error) {
    if (error instanceof NoteInvalidError) return error.message
    throw error
  }
  if (head.size > tree.size) {
    return `the head has ${head.size} leaves and the tree only ${tree.size}: the tree is an older copy, or was cut`
  }
  const root = await readRoot(readTiles, head.size)
  return Buffer.compare(root, head.root) === 0
    ? null
    : `the tree does not go on from the head of ${head.size} leaves: it was written anew`
}
