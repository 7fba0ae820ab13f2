// Checkpoints: size and root of a tree, signed by its log. Source: https://c2sp.org/tlog-checkpoint.
import { HASH_BYTES } from './hash.ts'
import { decodeBase64, encodeNote, NoteInvalidError, openNote, parseNote, type VerifierKey } from './note.ts'

export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

export interface Checkpoint extends TreeHead {
  readonly origin: string
}

export interface LogSigner {
  readonly key: VerifierKey
  /** Signs with Ed25519. */
  sign(message: Uint8Array): Uint8Array
}

const encodeCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`

/** Ignores lines after the third. @throws NoteInvalidError */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [origin = '', size = '', root = ''] = text.split('\n')
  const hash = decodeBase64(root)
  const isSize = /^(0|[1-9][0-9]*)$/.test(size) && Number.isSafeInteger(Number(size))
  if (origin === '' || !isSize || hash?.length !== HASH_BYTES)
    throw new NoteInvalidError('the text is not a checkpoint')
  return { origin, size: Number(size), root: hash }
}

/** Returns the checkpoint of a signed note, whose signatures are not verified. @throws NoteInvalidError */
export const readCheckpoint = (encoded: string): Checkpoint => parseCheckpoint(parseNote(encoded).text)

export const signCheckpoint = ({ size, root }: TreeHead, { key, sign }: LogSigner, origin = key.name): string => {
  const text = encodeCheckpoint({ origin, size, root })
  const bytes = sign(Buffer.from(text))
  return encodeNote({ text, signatures: [{ name: key.name, keyId: key.keyId, bytes }] })
}

/** @throws NoteInvalidError unless the log has signed the checkpoint */
export const openCheckpoint = (encoded: string, key: VerifierKey, origin = key.name): Checkpoint => {
  const checkpoint = parseCheckpoint(openNote(encoded, key))
  if (checkpoint.origin !== origin) throw new NoteInvalidError(`the checkpoint belongs to ${checkpoint.origin}`)
  return checkpoint
}
