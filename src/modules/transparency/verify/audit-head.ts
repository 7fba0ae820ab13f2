// Latest audit entry, signed with the log key and stored next to the tree's head, as a checkpoint with a separate
// origin.
import type { AuditHead } from '../../../store/audit.ts'
import { type LogSigner, openCheckpoint, signCheckpoint } from '../tree/checkpoint.ts'
import type { VerifierKey } from '../tree/note.ts'

const originOf = ({ name }: VerifierKey): string => `${name}/audit`

export const signAuditHead = ({ sequence, hash }: AuditHead, signer: LogSigner): string =>
  signCheckpoint({ size: sequence, root: Uint8Array.fromHex(hash) }, signer, originOf(signer.key))

/** @throws NoteInvalidError unless the log has signed the head */
export const openAuditHead = (encoded: string, key: VerifierKey): AuditHead => {
  const { size, root } = openCheckpoint(encoded, key, originOf(key))
  return { sequence: size, hash: Buffer.from(root).toString('hex') }
}
