// Heads stored outside the tree. A tree without a signed head is an older copy or another history, and must not be
// signed.
import { readFile } from 'node:fs/promises'
import { isMissingFile, NamedError } from '../../../lib/named-error.ts'
import { digestOf, type ShipTarget } from '../../../object-store/ship-target.ts'
import { type Checkpoint, openCheckpoint, readCheckpoint, type TreeHead } from '../tree/checkpoint.ts'
import { NoteInvalidError, parseNote, signatureOf, type VerifierKey, verifierKeyOf } from '../tree/note.ts'
import { type ReadTiles, readRoot } from '../tree/prove.ts'

/** The tree doesn't contain a signed head. `message` is one line for the operator. */
export class TreeRolledBackError extends NamedError {}

export const readHeadFile = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissingFile(error)) return null
    throw error
  }
}

/**
 * Returns whether a head of the tree or the audit log belongs to another log, for example before `begin-tree`
 * elsewhere. A log with the same key is not another log: whoever can write to the database can rename the log, but
 * `begin-tree` also creates a key.
 */
export const isOfOtherLog = (encoded: string, { name, type, publicKey }: VerifierKey): boolean => {
  try {
    const origin = readCheckpoint(encoded).origin.replace(/\/audit$/, '')
    return origin !== name && signatureOf(parseNote(encoded), verifierKeyOf(origin, type, publicKey)) === null
  } catch (error) {
    if (error instanceof NoteInvalidError) return false
    throw error
  }
}

/** Returns the shipped head, next to the logs of the nodes. */
const headObject = (logName: string): string => `log-heads/${logName.replaceAll(/[^A-Za-z0-9-]+/g, '-')}`

/** Maximum size of a head: far above a head with the maximum number of cosignatures. */
export const HEAD_MAX_BYTES = 65_536

/** Returns null if the object doesn't exist. A larger object is truncated, which makes the head invalid. */
export const readHeadObject = async (target: ShipTarget, name: string): Promise<string | null> => {
  const bytes = await target.readRange(name, 0, HEAD_MAX_BYTES)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}

export const readShippedHead = (target: ShipTarget, logName: string): Promise<string | null> =>
  readHeadObject(target, headObject(logName))

export const shipHead = async (target: ShipTarget, logName: string, checkpoint: string): Promise<void> => {
  const name = headObject(logName)
  const content = new Blob([checkpoint])
  await target.put(name, content)
  if (!(await target.isIntact(name, await digestOf(content.stream())))) {
    throw new Error('the uploaded content differs from the original')
  }
}

/** Returns the reason that the tree doesn't contain the head; null if it does. */
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
    return `the head has ${head.size} leaves, but the tree has only ${tree.size}: the tree is an older copy or was truncated`
  }
  const root = await readRoot(readTiles, head.size)
  return Buffer.compare(root, head.root) === 0
    ? null
    : `the tree does not extend the head of ${head.size} leaves: it was rewritten`
}
