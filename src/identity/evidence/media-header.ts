// Reads a file's type and image size from its header, without decoding it; ignores its name and declared type (threats
// row 18). Source: ITU-T T.81 annex B (JPEG), W3C PNG §5, RFC 9649 (WebP), ISO 32000-2 §7.5 (PDF).
import type { DocumentMediaType } from '../evidence-types.ts'
import { DocumentInvalidError, DocumentTypeError } from './errors.ts'

export type MediaHeader =
  | {
      readonly mediaType: Exclude<DocumentMediaType, 'application/pdf'>
      readonly width: number
      readonly height: number
    }
  | { readonly mediaType: 'application/pdf' }

interface Size {
  readonly width: number
  readonly height: number
}

const DAMAGED = 'the image is damaged'
/** Maximum steps: far above the number of segments, fill bytes or chunks in real images. */
const STEPS_MAX = 100_000
const CARRIES_MORE = 'the document contains additional embedded data'

const startsWith = (bytes: Uint8Array, prefix: readonly number[], at = 0): boolean =>
  bytes.length >= at + prefix.length && prefix.every((byte, index) => bytes[at + index] === byte)

const ascii = (text: string): readonly number[] => [...text].map((character) => character.charCodeAt(0))

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const reading = <Value>(read: () => Value): Value => {
  try {
    return read()
  } catch (error) {
    throw error instanceof RangeError ? new DocumentInvalidError(DAMAGED, error) : error
  }
}

const JPEG_MAGIC = [0xff, 0xd8, 0xff]

/** Returns whether the marker is SOF0 to SOF15, without DHT, JPG and DAC in the same range. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Accepts data after the image, such as depth maps and clips from phones. Re-encoding removes it. */
const jpegSize = (bytes: Uint8Array): Size => {
  const view = viewOf(bytes)
  let at = 2
  for (let step = 0; step < STEPS_MAX; step++) {
    if (view.getUint8(at) !== 0xff) throw new DocumentInvalidError(DAMAGED)
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1
      continue
    }
    at += 1
    if (isFrameHeader(marker)) return { height: view.getUint16(at + 4), width: view.getUint16(at + 6) }
    // In a valid file, the frame header precedes any scan and the end of the image.
    if (marker === 0xda || marker === 0xd9) throw new DocumentInvalidError(DAMAGED)
    const length = view.getUint16(at + 1)
    if (length < 2) throw new DocumentInvalidError(DAMAGED)
    at += 1 + length
  }
  throw new DocumentInvalidError(DAMAGED)
}

const IEND = 0x49454e44
const PNG_MAGIC = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

const pngSize = (bytes: Uint8Array): Size => {
  const view = viewOf(bytes)
  if (view.getUint32(8) !== 13 || !startsWith(bytes, ascii('IHDR'), 12)) throw new DocumentInvalidError(DAMAGED)
  const size = { width: view.getUint32(16), height: view.getUint32(20) }
  let at = 8
  for (let step = 0; step < STEPS_MAX; step++) {
    const isEnd = view.getUint32(at + 4) === IEND
    at += 12 + view.getUint32(at)
    if (!isEnd) continue
    if (at !== bytes.length) throw new DocumentInvalidError(at > bytes.length ? DAMAGED : CARRIES_MORE)
    return size
  }
  throw new DocumentInvalidError(DAMAGED)
}

const uint24 = (view: DataView, at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)

const webpSize = (bytes: Uint8Array): Size => {
  const view = viewOf(bytes)
  const length = view.getUint32(4, true) + 8
  if (length !== bytes.length) throw new DocumentInvalidError(length > bytes.length ? DAMAGED : CARRIES_MORE)
  if (startsWith(bytes, ascii('VP8X'), 12)) return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 }
  if (startsWith(bytes, ascii('VP8L'), 12) && view.getUint8(20) === 0x2f) {
    const bits = view.getUint32(21, true)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  if (startsWith(bytes, ascii('VP8 '), 12) && startsWith(bytes, [0x9d, 0x01, 0x2a], 23)) {
    return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
  }
  throw new DocumentInvalidError(DAMAGED)
}

const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1', 'avif']

const isHeic = (bytes: Uint8Array): boolean =>
  startsWith(bytes, ascii('ftyp'), 4) && HEIC_BRANDS.some((brand) => startsWith(bytes, ascii(brand), 8))

/** @param bytes the whole document @throws DocumentTypeError; DocumentInvalidError for a damaged or incomplete file */
export const readMediaHeader = (bytes: Uint8Array): MediaHeader => {
  if (startsWith(bytes, JPEG_MAGIC)) return { mediaType: 'image/jpeg', ...reading(() => jpegSize(bytes)) }
  if (startsWith(bytes, PNG_MAGIC)) return { mediaType: 'image/png', ...reading(() => pngSize(bytes)) }
  if (startsWith(bytes, ascii('RIFF')) && startsWith(bytes, ascii('WEBP'), 8)) {
    return { mediaType: 'image/webp', ...reading(() => webpSize(bytes)) }
  }
  if (startsWith(bytes, ascii('%PDF-'))) return { mediaType: 'application/pdf' }
  if (isHeic(bytes)) throw new DocumentTypeError('HEIC and AVIF images are not supported: send a JPEG')
  throw new DocumentTypeError()
}
