// Checkpoints: the size and the root of a tree, signed by its log. Source: https://c2sp.org/tlog-checkpoint.
import { HASH_BYTES } from './hash.ts'
import { decodeBase64, encodeNote, NoteInvalidError, openNote, type VerifierKey } from './note.ts'

export interface TreeHead {
  /** Leaves. */
  readonly size: number
  readonly root: Uint8Array
}

export interface Checkpoint extends TreeHead {
  /** The log's name. */
  readonly origin: string
}

/** What signs for a log. */
export interface LogSigner {
  readonly key: VerifierKey
  /** Ed25519. */
  sign(message: Uint8Array): Uint8Array
}

export const encodeCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`

/** Of a note's text. Lines after the third say nothing to us. @throws NoteInvalidError */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [origin = '', size = '', root = ''] = text.split('\n')
  const hash = decodeBase64(root)
  const isSize = /^(0|[1-9][0-9]*)$/.test(size) && Number.isSafeInteger(Number(size))
  if (origin === '' || !isSize || hash?.length !== HASH_BYTES) throw new NoteInvalidError('this is no checkpoint')
  return { origin, size: Number(size), root: hash }
}

/** The log's name in the checkpoint is that of its key. */
export const signCheckpoint = ({ size, root }: TreeHead, { key, sign }: LogSigner): string => {
  const text = encodeCheckpoint({ origin: key.name, size, root })
  const bytes = sign(Buffer.from(text))
  return encodeNote({ text, signatures: [{ name: key.name, keyId: key.keyId, bytes }] })
}

/** @throws NoteInvalidError when the log has not signed it */
export const openCheckpoint = (encoded: string, key: VerifierKey): Checkpoint => {
  const checkpoint = parseCheckpoint(openNote(encoded, key))
  if (checkpoint.origin !== key.name) throw new NoteInvalidError(`the checkpoint is of ${checkpoint.origin}`)
  return checkpoint
}
