// Latest audit entry, signed with the log key and stored next to the tree's head. A checkpoint with a separate origin.
import type { AuditHead } from '../../../store/audit.ts'
import { encodeCheckpoint, type LogSigner, parseCheckpoint } from '../tree/checkpoint.ts'
import { encodeNote, NoteInvalidError, openNote, type VerifierKey } from '../tree/note.ts'

const originOf = ({ name }: VerifierKey): string => `${name}/audit`

export const signAuditHead = ({ sequence, hash }: AuditHead, { key, sign }: LogSigner): string => {
  const text = encodeCheckpoint({ origin: originOf(key), size: sequence, root: Uint8Array.fromHex(hash) })
  const bytes = sign(Buffer.from(text))
  return encodeNote({ text, signatures: [{ name: key.name, keyId: key.keyId, bytes }] })
}

/** @throws NoteInvalidError unless the log has signed the head */
export const openAuditHead = (encoded: string, key: VerifierKey): AuditHead => {
  const { origin, size, root } = parseCheckpoint(openNote(encoded, key))
  if (origin !== originOf(key)) throw new NoteInvalidError('the text is not a head of the audit log')
  return { sequence: size, hash: Buffer.from(root).toString('hex') }
}
