// Rejects PDFs with active content, attached files, encryption, excessive inflated data, or filters that can't be
// inspected. PDFs are stored unchanged, and a viewer may still find content that this check misses. Source:
// ISO 32000-2 §7.3.5, §7.5, §12.6; APPNOTE.TXT §4.3.16 (zip).
import { DocumentInvalidError } from './errors.ts'
import { hexDigit } from './pdf-ascii.ts'
import { findObjectStreams, UNREADABLE } from './pdf-object-streams.ts'
import { INFLATE_LIMITS, type InflateLimits, inflateStreams, TOO_LARGE } from './pdf-streams.ts'

const REFUSALS = {
  damaged: 'the PDF is damaged',
  carriesMore: 'the document contains additional embedded data',
  packed: 'the PDF uses an old compression method that cannot be inspected: print it to a new PDF, or send an image',
  active: 'the PDF contains scripts or other files: print it to a new PDF, or send an image',
  encrypted: 'the PDF is encrypted: print it to a new PDF without a password, or send an image',
}

export const PDF_REFUSALS: ReadonlySet<string> = new Set([...Object.values(REFUSALS), TOO_LARGE, UNREADABLE])

export const ACCEPTED = 'accepted'

const END = Buffer.from('%%EOF')
const ZIP_END = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const ZIP_END_BYTES = 22
const ZIP_COMMENT_MAX = 65_535

const ACTIVE = [
  '/JavaScript',
  '/Launch',
  '/EmbeddedFile',
  '/FileAttachment',
  '/RichMedia',
  '/Rendition',
  '/Movie',
  '/Sound',
  '/GoToE',
  '/ImportData',
  '/OnInstantiate',
]
/** PDFium reads 0x80 and 0xFF as blanks. */
const BLANK = String.raw`[\s\0\x80\xff]`
/**
 * Matches names with a value, because image data can contain the short names by chance. A value after a comment, or
 * after more than 32 blanks, can be anything. The pattern is bounded, so that matching takes linear time.
 */
const ACTIVE_SHORT = new RegExp(
  String.raw`/(?:XFA${BLANK}{0,32}\[|(?:EF|XFA)(?:${BLANK}{33}|${BLANK}{0,32}(?:<<|%)|${BLANK}{1,32}[-+.\d](?:[-+.\d%]|${BLANK})))`,
)
const HASH = 0x23

/** Returns a negative number unless both bytes are hex digits. */
const hexAt = (bytes: Buffer, at: number): number => {
  const [high, low] = [hexDigit(bytes[at] ?? 0), hexDigit(bytes[at + 1] ?? 0)]
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

/** Any character of a name can be written as `#` and two hex digits. */
const decodeNames = (bytes: Buffer): Buffer => {
  if (!bytes.includes(HASH)) return bytes
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const code = bytes[at] === HASH ? hexAt(bytes, at + 1) : -1
    decoded[length] = code === -1 ? bytes[at]! : code
    length += 1
    if (code !== -1) at += 2
  }
  return decoded.subarray(0, length)
}

/** Unlike zlib, these filters have no header by which to find their streams. */
const OPAQUE = ['/LZWDecode', '/RunLengthDecode']
/** Viewers accept the short filter names of inline images in other streams too. */
const OPAQUE_SHORT = new RegExp(
  String.raw`/F(?:ilter)?(?:\[|${BLANK}){0,32}(?:/[A-Za-z0-9]{1,32}${BLANK}{0,32}){0,4}/(?:LZW|RL)(?![A-Za-z0-9])`,
)

const requirePassive = (content: Buffer): void => {
  const decoded = decodeNames(content)
  const hasShort = decoded.includes('/LZW') || decoded.includes('/RL')
  if (OPAQUE.some((name) => decoded.includes(name)) || (hasShort && OPAQUE_SHORT.test(decoded.toString('latin1')))) {
    throw new DocumentInvalidError(REFUSALS.packed)
  }
  const hasActiveShort = decoded.includes('/EF') || decoded.includes('/XFA')
  if (
    ACTIVE.some((name) => decoded.includes(name)) ||
    (hasActiveShort && ACTIVE_SHORT.test(decoded.toString('latin1')))
  ) {
    throw new DocumentInvalidError(REFUSALS.active)
  }
}

const ENCRYPT = '/Encrypt'

/** Rejects encrypted documents. The trailer and the cross-reference stream's dictionary are never encrypted. */
const requireOpen = (content: Buffer): void => {
  const decoded = decodeNames(content)
  for (let at = decoded.indexOf(ENCRYPT); at !== -1; at = decoded.indexOf(ENCRYPT, at + ENCRYPT.length)) {
    if (/[A-Za-z0-9]/.test(String.fromCharCode(decoded[at + ENCRYPT.length] ?? 0))) continue
    throw new DocumentInvalidError(REFUSALS.encrypted)
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09 || byte === 0x00

/** Returns whether the file is also a zip archive, which unpackers read from the end. */
const endsAsZip = (bytes: Buffer): boolean => {
  const from = Math.max(0, bytes.length - ZIP_END_BYTES - ZIP_COMMENT_MAX)
  for (let at = bytes.indexOf(ZIP_END, from); at !== -1; at = bytes.indexOf(ZIP_END, at + 1)) {
    if (at + ZIP_END_BYTES > bytes.length) return false
    if (at + ZIP_END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return true
  }
  return false
}

/**
 * Call it in a separate process (check-pdf.ts), because a hostile document can take seconds. @throws
 * DocumentInvalidError with one of PDF_REFUSALS
 */
export const checkPdf = async (document: Uint8Array, limits: InflateLimits = INFLATE_LIMITS): Promise<void> => {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength)
  const last = bytes.lastIndexOf(END)
  if (last === -1 || !bytes.includes('startxref')) throw new DocumentInvalidError(REFUSALS.damaged)
  for (let at = last + END.length; at < bytes.length; at++) {
    if (!isBlank(bytes[at])) throw new DocumentInvalidError(REFUSALS.carriesMore)
  }
  if (endsAsZip(bytes)) throw new DocumentInvalidError(REFUSALS.carriesMore)
  requirePassive(bytes)
  requireOpen(bytes)
  await inflateStreams(bytes, findObjectStreams(bytes, decodeNames(bytes)), requirePassive, limits)
}
