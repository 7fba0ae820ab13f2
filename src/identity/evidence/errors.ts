// Evidence errors with a response. None contains data from a document, including its name.
import { CountersignError, fixedError } from '../../domain/errors.ts'
import { DOCUMENT_BYTES_MAX } from '../evidence-types.ts'

export class DocumentTooLargeError extends fixedError(
  'PAYLOAD_TOO_LARGE',
  `a document must be at most ${DOCUMENT_BYTES_MAX / (1024 * 1024)} MB`,
) {}

export class DocumentTypeError extends CountersignError {
  constructor(detail = 'the document must be a JPEG, PNG or WebP image or, if requested, a PDF') {
    super('UNSUPPORTED_MEDIA_TYPE', detail)
  }
}

/** The type is accepted, but the file is damaged, too large to open, or contains several files (400). */
export class DocumentInvalidError extends CountersignError {
  constructor(detail: string, cause?: unknown) {
    super('INVALID_REQUEST', detail, { cause })
  }
}

/** The scanner found malware (400); only the audit log contains its name. */
export class DocumentInfectedError extends fixedError(
  'INVALID_REQUEST',
  'the virus scanner found a threat in the document: send a photo of the paper instead',
) {}

export class ScannerUnavailableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'documents cannot be scanned at the moment; try again in a minute', {
      cause,
      retryAfterSeconds: 60,
    })
  }
}

export class DocumentLimitError extends CountersignError {
  constructor(maximum: number) {
    super('SESSION_CONFLICT', `at most ${maximum} documents are allowed: remove a document first`)
  }
}

/** Too many concurrent uploads, in total or for this session (503). */
export class EvidenceBusyError extends fixedError(
  'OVERLOADED',
  'too many documents are being uploaded; try again in a moment',
  { retryAfterSeconds: 2 },
) {}

/** The stored file is missing or altered (503). The operator must repair the data folder. */
export class EvidenceUnreadableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'could not read the stored evidence', { cause })
  }
}
