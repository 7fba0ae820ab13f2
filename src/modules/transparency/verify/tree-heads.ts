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

type Ownership = 'own' | 'renamed' | 'other' | 'invalid'

/**
 * Returns which log signed a head of a tree or an audit log. Another log has another key, for example the log from before
 * `begin-tree` elsewhere. With the same key under another name, the log was renamed in the database.
 */
const ownershipOf = (encoded: string, { name, type, publicKey }: VerifierKey): Ownership => {
  try {
    const origin = readCheckpoint(encoded).origin.replace(/\/audit$/, '')
    if (origin === name) return 'own'
    return signatureOf(parseNote(encoded), verifierKeyOf(origin, type, publicKey)) === null ? 'other' : 'renamed'
  } catch (error) {
    if (error instanceof NoteInvalidError) return 'invalid'
    throw error
  }
}

export const isOfOtherLog = (encoded: string, key: VerifierKey): boolean => ownershipOf(encoded, key) === 'other'

/** Heads are shipped next to the logs of the nodes. */
const HEADS = 'log-heads/'

const headObject = (logName: string): string => `${HEADS}${logName.replaceAll(/[^A-Za-z0-9-]+/g, '-')}`

/** Maximum size of a head: far above a head with the maximum number of cosignatures. */
export const HEAD_MAX_BYTES = 65_536

/** Returns null if the object doesn't exist. A larger object is truncated, which makes the head invalid. */
export const readHeadObject = async (target: ShipTarget, name: string): Promise<string | null> => {
  const bytes = await target.readRange(name, 0, HEAD_MAX_BYTES)
  return bytes === null ? null : Buffer.from(bytes).toString('utf8')
}

/** Returns the shipped head; if there is none, a head that the same key signed under another name. */
export const readShippedHead = async (target: ShipTarget, key: VerifierKey): Promise<string | null> => {
  const own = await readHeadObject(target, headObject(key.name))
  if (own !== null) return own
  for (const { name } of await target.list(HEADS)) {
    const head = await readHeadObject(target, name)
    if (head !== null && ownershipOf(head, key) === 'renamed') return head
  }
  return null
}

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
