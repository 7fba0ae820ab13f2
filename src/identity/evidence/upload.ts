import { readAtPace, UploadFragmentedError, type UploadPace, UploadTooSlowError } from '../../lib/upload-pace.ts'
import { BodyFragmentedError } from '../../server/json-body.ts'
import {
  DOCUMENT_BYTES_MAX,
  DOCUMENT_RULES,
  type DocumentMediaType,
  type DocumentUpload,
  IMAGE_PIXELS_MAX,
} from '../evidence-types.ts'
import type { PdfChecker } from './check-pdf.ts'
import { DocumentInvalidError, DocumentTooLargeError, DocumentTypeError } from './errors.ts'
import { readMediaHeader } from './media-header.ts'
import type { Reencoder } from './reencode.ts'

export interface DocumentPrograms {
  readonly reencoder: Reencoder
  readonly pdfChecker: Pick<PdfChecker, 'check'>
}

/** Content types that browsers send for unknown types. */
const UNDECLARED = new Set(['', 'application/octet-stream', 'binary/octet-stream'])
const ALIASES: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg', 'image/pjpeg': 'image/jpeg' }

/** About 1 MB arrives within the time limit at the minimum rate. */
export const UPLOAD_PACE: UploadPace = { timeLimitMs: 60_000, graceMs: 10_000, bytesPerSecondMin: 16_384 }

export const readUpload = async (stream: ReadableStream<Uint8Array>, pace: UploadPace): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of readAtPace(stream, pace)) {
      length += piece.length
      if (length > DOCUMENT_BYTES_MAX) throw new DocumentTooLargeError()
      pieces.push(piece)
    }
  } catch (error) {
    if (error instanceof DocumentTooLargeError) throw error
    if (error instanceof UploadFragmentedError) throw new BodyFragmentedError()
    const problem = error instanceof UploadTooSlowError ? 'upload timed out' : 'upload was incomplete'
    throw new DocumentInvalidError(`the document ${problem}`, error)
  }
  if (length === 0) throw new DocumentInvalidError('the document is empty')
  return Buffer.concat(pieces, length)
}

const requireDeclared = (declared: string, mediaType: DocumentMediaType): void => {
  const plain = (declared.split(';')[0] ?? '').trim().toLowerCase()
  if (UNDECLARED.has(plain) || (ALIASES[plain] ?? plain) === mediaType) return
  throw new DocumentTypeError('the document does not match its content type')
}

export const cleanDocument = async (
  bytes: Uint8Array,
  { kind, declaredType, organizationId }: Pick<DocumentUpload, 'kind' | 'declaredType'> & { organizationId: string },
  { reencoder, pdfChecker }: DocumentPrograms,
): Promise<{ readonly mediaType: DocumentMediaType; readonly bytes: Uint8Array }> => {
  const header = readMediaHeader(bytes)
  const { mediaType } = header
  if (!DOCUMENT_RULES[kind].mediaTypes.includes(mediaType)) {
    throw new DocumentTypeError('the document must be a JPEG, PNG or WebP image')
  }
  requireDeclared(declaredType, mediaType)
  if (mediaType === 'application/pdf') {
    await pdfChecker.check(bytes, organizationId)
    return { mediaType, bytes }
  }
  const { width, height } = header
  if (width === 0 || height === 0 || width * height > IMAGE_PIXELS_MAX) {
    throw new DocumentInvalidError(`the image must have at most ${IMAGE_PIXELS_MAX / 1_000_000} megapixels`)
  }
  return { mediaType: 'image/jpeg', bytes: await reencoder.reencode(bytes, organizationId) }
}
