// What can be wrong with evidence. All are answers; none repeats anything of a document, not even its name.
import { CountersignError, fixedError } from '../../domain/errors.ts'
import { DOCUMENT_BYTES_MAX } from '../evidence-types.ts'

/** More bytes than DOCUMENT_BYTES_MAX (413). */
export class DocumentTooLargeError extends fixedError(
  'PAYLOAD_TOO_LARGE',
  `a document has at most ${DOCUMENT_BYTES_MAX / (1024 * 1024)} MB`,
) {}

/** Not of a kind that is taken here, by its content or by what it was declared to be (415). */
export class DocumentTypeError extends CountersignError {
  constructor(detail = 'the document must be a JPEG, PNG or WebP image or, where one is asked for, a PDF') {
    super('UNSUPPORTED_MEDIA_TYPE', detail)
  }
}

/** Of the right kind, and damaged, too large to open, or more than one thing at once (400). */
export class DocumentInvalidError extends CountersignError {
  constructor(detail: string, cause?: unknown) {
    super('INVALID_REQUEST', detail, { cause })
  }
}

/** The scanner found something in it (400). Its name is in the audit log and is not told. */
export class DocumentInfectedError extends fixedError(
  'INVALID_REQUEST',
  'the scanner found something harmful in the document: send a photograph of the paper instead',
) {}

/** The scanner can't be asked, or does not answer in time (503). */
export class ScannerUnavailableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'documents can not be scanned at the moment; try again in a minute', {
      cause,
      retryAfterSeconds: 60,
    })
  }
}

/** The session has as many documents of the kind as it may (409). */
export class DocumentLimitError extends CountersignError {
  constructor(maximum: number) {
    super('SESSION_CONFLICT', `there can be ${maximum} of these: remove one first`)
  }
}

/** Too many uploads at once, of all or of this session (503). */
export class EvidenceBusyError extends fixedError(
  'OVERLOADED',
  'too many documents are being taken in; try again in a moment',
  { retryAfterSeconds: 2 },
) {}

/** What is stored is not what was written, or is not there (503: for whoever keeps the data folder to mend). */
export class EvidenceUnreadableError extends CountersignError {
  constructor(cause?: unknown) {
    super('DEPENDENCY_UNAVAILABLE', 'the stored evidence can not be read', { cause })
  }
}
