// The newest entry of the audit log, signed by the log key and kept beside the tree's head: whoever rewrites the audit log in
// the database, cuts it or sets it back can't sign it anew. Its form is that of a checkpoint, under a name of its own.
import type { AuditHead } from '../../../store/audit.ts'
import { encodeCheckpoint, type LogSigner, parseCheckpoint } from '../tree/checkpoint.ts'
import { encodeNote, NoteInvalidError, openNote, type VerifierKey } from '../tree/note.ts'

const originOf = ({ name }: VerifierKey): string => `${name}/audit`

export const signAuditHead = ({ sequence, hash }: AuditHead, { key, sign }: LogSigner): string => {
  const text = encodeCheckpoint({ origin: originOf(key), size: sequence, root: Uint8Array.fromHex(hash) })
  const bytes = sign(Buffer.from(text))
  return encodeNote({ text, signatures: [{ name: key.name, keyId: key.keyId, bytes }] })
}

/** @throws NoteInvalidError when the log has not signed it */
export const openAuditHead = (encoded: string, key: VerifierKey): AuditHead => {
  const { origin, size, root } = parseCheckpoint(openNote(encoded, key))
  if (origin !== originOf(key)) throw new NoteInvalidError('this is no head of the audit log')
  return { sequence: size, hash: Buffer.from(root).toString('hex') }
}
