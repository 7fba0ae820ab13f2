// PDFs are stored unchanged, because re-encoding would lose content. They are served as attachments only, and refused if they have
// active content, another file attached, far more inflated than compressed data, encryption, or a filter that can't be
// inspected. This is no guarantee: a viewer may see what this check does not.
// Source: ISO 32000-2 §7.3.5, §7.5, §12.6; APPNOTE.TXT §4.3.16 (zip).
import { DocumentInvalidError } from './errors.ts'
import { INFLATE_LIMITS, type InflateLimits, inflateStreams } from './pdf-streams.ts'

const END = Buffer.from('%%EOF')
const ZIP_END = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const ZIP_END_BYTES = 22
const ZIP_COMMENT_MAX = 65_535

/** Names of active content: scripts, programs to start, embedded files, media. */
const ACTIVE = ['/JavaScript', '/Launch', '/EmbeddedFile', '/RichMedia']
const HASH = 0x23

/** @returns two hex digits; empty when the text there is something else */
const hexAt = (bytes: Buffer, at: number): string => {
  const text = bytes.toString('latin1', at, at + 2)
  return /^[0-9a-fA-F]{2}$/.test(text) ? text : ''
}

/** Any character of a name may be written as `#` and two hex digits. */
const decodeNames = (bytes: Buffer): Buffer => {
  if (!bytes.includes(HASH)) return bytes
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] === HASH ? Number.parseInt(hexAt(bytes, at + 1), 16) : Number.NaN
    decoded[length] = Number.isNaN(code) ? bytes[at]! : code
    length += 1
    if (!Number.isNaN(code)) at += 2
  }
  return decoded.subarray(0, length)
}

/** Unlike zlib, these filters have no header by which their streams could be recognized. */
const OPAQUE = ['/LZWDecode', '/RunLengthDecode']
/** Viewers also accept the short filter names of inline images in streams. */
const OPAQUE_SHORT = /\/F(?:ilter)?[\s[]{0,32}(?:\/[A-Za-z0-9]{1,32}\s{0,32}){0,4}\/(?:LZW|RL)(?![A-Za-z0-9])/

const requirePassive = (content: Buffer): void => {
  const decoded = decodeNames(content)
  if (OPAQUE.some((name) => decoded.includes(name)) || OPAQUE_SHORT.test(decoded.toString('latin1'))) {
    throw new DocumentInvalidError(
      'the PDF is packed in an old way that can not be looked into: print it to a new PDF, or send a picture',
    )
  }
  if (ACTIVE.some((name) => decoded.includes(name))) {
    throw new DocumentInvalidError('the PDF holds scripts or other files: print it to a new PDF, or send a picture')
  }
}

const ENCRYPT = '/Encrypt'

/** Refuses encrypted documents. The trailer and the cross-reference stream's dictionary, which name it, are never encrypted. */
const requireOpen = (content: Buffer): void => {
  const decoded = decodeNames(content)
  for (let at = decoded.indexOf(ENCRYPT); at !== -1; at = decoded.indexOf(ENCRYPT, at + ENCRYPT.length)) {
    // Skip longer names, such as `/EncryptMetadata`.
    if (/[A-Za-z0-9]/.test(String.fromCharCode(decoded[at + ENCRYPT.length] ?? 0))) continue
    throw new DocumentInvalidError('the PDF is encrypted: print it to a new PDF without a password, or send a picture')
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09 || byte === 0x00

/** Whether the file also ends as a zip archive, which unpackers read from its end. */
const endsAsZip = (bytes: Buffer): boolean => {
  const from = Math.max(0, bytes.length - ZIP_END_BYTES - ZIP_COMMENT_MAX)
  for (let at = bytes.indexOf(ZIP_END, from); at !== -1; at = bytes.indexOf(ZIP_END, at + 1)) {
    if (at + ZIP_END_BYTES > bytes.length) return false
    if (at + ZIP_END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return true
  }
  return false
}

/** @throws DocumentInvalidError, also when the streams inflate to more than the limits */
export const checkPdf = async (document: Uint8Array, limits: InflateLimits = INFLATE_LIMITS): Promise<void> => {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength)
  const last = bytes.lastIndexOf(END)
  if (last === -1 || !bytes.includes('startxref')) throw new DocumentInvalidError('the PDF is damaged')
  for (let at = last + END.length; at < bytes.length; at++) {
    if (!isBlank(bytes[at])) throw new DocumentInvalidError('the document carries something besides itself')
  }
  if (endsAsZip(bytes)) throw new DocumentInvalidError('the document carries something besides itself')
  requirePassive(bytes)
  requireOpen(bytes)
  await inflateStreams(bytes, requirePassive, limits)
}
