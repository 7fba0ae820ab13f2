// Cosignatures: a witness attests that at this time, a head extended all earlier heads that it had seen. Source:
// https://c2sp.org/tlog-cosignature, "Ed25519 signed message".
import type { LogSigner } from './checkpoint.ts'
import { encodeSignature, isSignedBy, NoteInvalidError, parseNote, signatureOf, type VerifierKey } from './note.ts'

const TIME_BYTES = 8

const messageOf = (text: string, timeSeconds: number): Buffer =>
  Buffer.from(`cosignature/v1\ntime ${timeSeconds}\n${text}`)

/** Returns the signature line. @param signer key of type `cosignature` */
export const cosign = (checkpoint: string, timeSeconds: number, { key, sign }: LogSigner): string => {
  const time = Buffer.alloc(TIME_BYTES)
  time.writeBigUInt64BE(BigInt(timeSeconds))
  const bytes = Buffer.concat([time, sign(messageOf(parseNote(checkpoint).text, timeSeconds))])
  return encodeSignature({ name: key.name, keyId: key.keyId, bytes })
}

/** Adds the lines attributed to these witnesses. */
export const withCosignatures = (checkpoint: string, lines: string, keys: readonly VerifierKey[]): string => {
  const note = parseNote(checkpoint + lines)
  const found = keys.flatMap((key) => signatureOf(note, key) ?? [])
  return checkpoint + found.map(encodeSignature).join('')
}

/** Returns the time in Unix seconds. @throws NoteInvalidError if the cosignature is missing or invalid */
export const openCosignature = (checkpoint: string, key: VerifierKey): number => {
  const note = parseNote(checkpoint)
  const signature = signatureOf(note, key)
  if (signature === null) throw new NoteInvalidError(`the head is not cosigned by ${key.name}`)
  const bytes = Buffer.from(signature.bytes)
  const time = bytes.length > TIME_BYTES ? Number(bytes.readBigUInt64BE(0)) : Number.NaN
  const fits =
    key.type === 'cosignature' &&
    Number.isSafeInteger(time) &&
    isSignedBy(key, messageOf(note.text, time), bytes.subarray(TIME_BYTES))
  if (!fits) throw new NoteInvalidError(`the cosignature of ${key.name} does not match the head`)
  return time
}
