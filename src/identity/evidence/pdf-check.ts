// PDFs are kept as they are: there is no way to write one anew that keeps what it shows. So they are only ever handed out
// as attachments, and refused here where they are visibly more than paper: another file glued to them, or one that acts.
// No guarantee: what is inside compressed objects is not seen. Source: ISO 32000-2 §7.5, §12.6; APPNOTE.TXT §4.3.16 (zip).
import { DocumentInvalidError } from './errors.ts'

const END = Buffer.from('%%EOF')
const ZIP_END = Buffer.from([0x50, 0x4b, 0x05, 0x06])
const ZIP_END_BYTES = 22
const ZIP_COMMENT_MAX = 65_535

/** Names that a paper needs none of: scripts, programs to start, files inside, and films. */
const ACTIVE = ['/JavaScript', '/Launch', '/EmbeddedFile', '/RichMedia']

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09 || byte === 0x00

/** A zip archive that ends where the document ends: unpackers read an archive from its end. */
const endsAsZip = (bytes: Buffer): boolean => {
  const from = Math.max(0, bytes.length - ZIP_END_BYTES - ZIP_COMMENT_MAX)
  for (let at = bytes.indexOf(ZIP_END, from); at !== -1; at = bytes.indexOf(ZIP_END, at + 1)) {
    if (at + ZIP_END_BYTES > bytes.length) return false
    if (at + ZIP_END_BYTES + bytes.readUInt16LE(at + 20) === bytes.length) return true
  }
  return false
}

/** @throws DocumentInvalidError */
export const checkPdf = (document: Uint8Array): void => {
  const bytes = Buffer.from(document.buffer, document.byteOffset, document.byteLength)
  const last = bytes.lastIndexOf(END)
  if (last === -1 || !bytes.includes('startxref')) throw new DocumentInvalidError('the PDF is damaged')
  for (let at = last + END.length; at < bytes.length; at++) {
    if (!isBlank(bytes[at])) throw new DocumentInvalidError('the document carries something besides itself')
  }
  if (endsAsZip(bytes)) throw new DocumentInvalidError('the document carries something besides itself')
  if (ACTIVE.some((name) => bytes.includes(name))) {
    throw new DocumentInvalidError('the PDF holds scripts or other files: print it to a new PDF, or send a picture')
  }
}
