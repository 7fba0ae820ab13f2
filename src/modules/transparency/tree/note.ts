// Signed notes, verified with the reader's key; the name in a note isn't trusted. Source: https://c2sp.org/signed-note.
import { createPublicKey, verify } from 'node:crypto'

/** A signature of the note, or a witness's timestamped cosignature of a checkpoint. */
const SIGNATURE_TYPES = { ed25519: 1, cosignature: 4 } as const
type SignatureType = keyof typeof SIGNATURE_TYPES

export interface VerifierKey {
  readonly name: string
  readonly type: SignatureType
  /** Public key of 32 bytes. */
  readonly publicKey: Uint8Array
  /** First four bytes of SHA-256 of name, type and key. */
  readonly keyId: number
}

interface NoteSignature {
  readonly name: string
  readonly keyId: number
  /** Signature without the key id. */
  readonly bytes: Uint8Array
}

export interface Note {
  /** Text, which ends with a newline. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

/** `message` is one line for the sender. */
export class NoteInvalidError extends Error {
  override readonly name = 'NoteInvalidError'
}

const PUBLIC_KEY_BYTES = 32
const SIGNATURES_MAX = 100
/** SubjectPublicKeyInfo prefix of Ed25519 (RFC 8410). */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex')

const isKeyName = (name: string): boolean => name !== '' && !/[\p{White_Space}+]/u.test(name)

const idOf = (name: string, type: SignatureType, publicKey: Uint8Array): number => {
  const hash = new Bun.SHA256().update(`${name}\n`).update(Uint8Array.of(SIGNATURE_TYPES[type])).update(publicKey)
  return Number.parseInt(hash.digest('hex').slice(0, 8), 16)
}

/** Returns null unless the text is canonical base64 (RFC 4648, section 4). */
export const decodeBase64 = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

/** @throws NoteInvalidError for a name that notes don't permit */
export const verifierKeyOf = (name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey => {
  if (!isKeyName(name)) throw new NoteInvalidError('a key name must not contain spaces or plus signs')
  return { name, type, publicKey, keyId: idOf(name, type, publicKey) }
}

const hexId = (keyId: number): string => keyId.toString(16).padStart(8, '0')

/** Encodes `<name>+<key id>+<base64>`. */
export const encodeVerifierKey = ({ name, type, publicKey, keyId }: VerifierKey): string =>
  `${name}+${hexId(keyId)}+${Buffer.concat([Uint8Array.of(SIGNATURE_TYPES[type]), publicKey]).toString('base64')}`

/** @throws NoteInvalidError */
export const parseVerifierKey = (text: string): VerifierKey => {
  const [, name = '', id, key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? []
  const bytes = decodeBase64(key)
  const type = (['ed25519', 'cosignature'] as const).find((known) => SIGNATURE_TYPES[known] === bytes?.[0])
  if (bytes === null || type === undefined || bytes.length !== 1 + PUBLIC_KEY_BYTES) {
    throw new NoteInvalidError('a log key must have the form <name>+<8 hex digits>+<base64 of an Ed25519 key>')
  }
  const parsed = verifierKeyOf(name, type, bytes.subarray(1))
  if (hexId(parsed.keyId) !== id) throw new NoteInvalidError('the key id does not belong to this name and key')
  return parsed
}

const hasControl = (text: string): boolean => [...text].some((character) => character < ' ' && character !== '\n')

/** @throws NoteInvalidError for text that notes don't permit */
export const encodeNote = ({ text, signatures }: Note): string => {
  if (!text.endsWith('\n') || hasControl(text)) throw new NoteInvalidError('a note must consist of lines of text')
  return `${text}\n${signatures.map(encodeSignature).join('')}`
}

/** Encodes one line: `— <name> <base64>`. */
export const encodeSignature = ({ name, keyId, bytes }: NoteSignature): string => {
  const id = Buffer.alloc(4)
  id.writeUInt32BE(keyId)
  return `\u2014 ${name} ${Buffer.concat([id, bytes]).toString('base64')}\n`
}

/** @throws NoteInvalidError */
export const parseNote = (note: string): Note => {
  const end = note.lastIndexOf('\n\n')
  const lines = note.slice(end + 2).split('\n')
  if (end < 0 || lines.pop() !== '' || lines.length === 0 || lines.length > SIGNATURES_MAX || hasControl(note)) {
    throw new NoteInvalidError('the text is not a signed note')
  }
  const signatures = lines.map((line): NoteSignature => {
    const [, name = '', base64 = ''] = /^\u2014 ([^ ]+) ([^ ]+)$/u.exec(line) ?? []
    const bytes = decodeBase64(base64)
    if (!isKeyName(name) || bytes === null || bytes.length < 5) {
      throw new NoteInvalidError('a line below the note is not a signature')
    }
    return { name, keyId: bytes.readUInt32BE(0), bytes: bytes.subarray(4) }
  })
  return { text: note.slice(0, end + 1), signatures }
}

export const isSignedBy = ({ publicKey }: VerifierKey, message: Uint8Array, signature: Uint8Array): boolean => {
  const key = createPublicKey({ key: Buffer.concat([SPKI_HEADER, publicKey]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}

/** Returns the unverified signature attributed to this key; null if there is none. */
export const signatureOf = ({ signatures }: Note, key: VerifierKey): NoteSignature | null =>
  signatures.find(({ name, keyId }) => name === key.name && keyId === key.keyId) ?? null

/** Returns the text of the note. @throws NoteInvalidError if it is malformed or not signed with the key */
export const openNote = (encoded: string, key: VerifierKey): string => {
  const note = parseNote(encoded)
  const signature = signatureOf(note, key)
  if (signature === null) throw new NoteInvalidError(`the note is not signed by ${key.name}`)
  if (key.type !== 'ed25519' || !isSignedBy(key, Buffer.from(note.text), signature.bytes)) {
    throw new NoteInvalidError(`the signature of ${key.name} does not match the note`)
  }
  return note.text
}
