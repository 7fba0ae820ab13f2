// Evidence of a session, and the operations on it. Source: threats rows 17 and 18.

import type { Zone } from '../domain/document-zone.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import type { EvidenceTarget } from '../domain/evidence.ts'
import type { Level } from '../domain/level.ts'
import { DOCUMENT_KINDS, type DocumentKind, type FieldName, type Requirement } from '../domain/requirements.ts'
import type { Session } from '../domain/session.ts'
import type { ByBrowser } from '../domain/wallet.ts'
import type { SessionFacts } from '../policy/types/session-facts.ts'
import type { EvidenceChange, EvidenceStore } from './evidence/store-types.ts'

export interface Owner {
  /** Name of 1 to 200 characters. */
  readonly name: string
  /** Share in whole percent, 1 to 100. */
  readonly sharePercent: number
}

/** Strings are trimmed and normalized (NFC); empty strings are rejected. */
export interface EvidenceFields {
  readonly fullName?: string
  /** Individuals only. A past calendar date, `YYYY-MM-DD`, at most 130 years ago. */
  readonly birthDate?: string
  /** Country of residence or registration: ISO 3166-1 alpha-2, uppercase. */
  readonly country?: string
  readonly registeredName?: string
  /** Businesses only. 1 to 64 characters. */
  readonly registrationNumber?: string
  /** Businesses only. 1 to 20 owners whose shares add up to at most 100 percent. */
  readonly owners?: readonly Owner[]
}

/** HEIC isn't accepted, because this service can't include a codec for it. */
export type DocumentMediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'application/pdf'

export interface DocumentRule {
  /** Accepted media types; also the `accept` attribute of the file input. */
  readonly mediaTypes: readonly DocumentMediaType[]
  /** Maximum documents of this kind per session, such as two for the sides of a card. */
  readonly maximum: number
}

const IMAGES: readonly DocumentMediaType[] = ['image/jpeg', 'image/png', 'image/webp']
const PAPERS: readonly DocumentMediaType[] = [...IMAGES, 'application/pdf']

export const DOCUMENT_RULES: Readonly<Record<DocumentKind, DocumentRule>> = {
  'identity-document': { mediaTypes: PAPERS, maximum: 4 },
  portrait: { mediaTypes: IMAGES, maximum: 1 },
  'proof-of-address': { mediaTypes: PAPERS, maximum: 4 },
  'registration-document': { mediaTypes: PAPERS, maximum: 4 },
}

export const DOCUMENT_BYTES_MAX = 10 * 1024 * 1024
/** Maximum pixels according to the dimensions in the image's header. */
export const IMAGE_PIXELS_MAX = 40_000_000

export interface DocumentReceipt {
  /** `evidence_` and 16 base62 characters. */
  readonly id: string
  readonly kind: DocumentKind
  /** Type of the stored file: images are re-encoded. */
  readonly mediaType: DocumentMediaType
  readonly byteLength: number
  /** File name on the person's device, at most 100 characters, without control characters. Never used as a path. */
  readonly fileName: string
  readonly createdAtSeconds: number
}

export interface EvidenceList {
  /** Fields that have a value; only `readFields` returns the values. */
  readonly fields: readonly FieldName[]
  readonly documents: readonly DocumentReceipt[]
}

export interface DocumentUpload {
  readonly kind: DocumentKind
  readonly fileName: string
  /** Read up to DOCUMENT_BYTES_MAX, then canceled. */
  readonly stream: ReadableStream<Uint8Array>
  /** Content type of the upload; must match the content. */
  readonly declaredType: string
  /** Uploader's canonical IP address; empty if unknown. */
  readonly address: string
}

export interface OpenedDocument {
  readonly receipt: DocumentReceipt
  /** Fails if a byte was altered. Serve it with `Content-Disposition: attachment` and `Cache-Control: no-store`. */
  readonly stream: ReadableStream<Uint8Array>
}

export type EvidenceSession = Pick<Session, 'organizationId' | 'id' | 'checkType' | 'level'> & ByBrowser

export type SearchedEvidence = EvidenceFields | Pick<Zone, 'number' | 'surname' | 'givenNames'>

/**
 * Functions that write require a `pending` or `retry` session (SessionClosedError). A session returned for certain
 * parts accepts only those parts (PartNotRequestedError). All functions throw SessionUnknownError. `actor` is `person`,
 * `operator:<name>` or `provider:<name>`.
 */
export interface EvidenceService {
  /** Adds or replaces fields. @throws FieldInvalidError, SessionClosedError */
  putFields(session: EvidenceSession, fields: EvidenceFields): Promise<void>
  /** Returns the values for the deciding operator, and records the access. */
  readFields(session: EvidenceSession, actor: string): Promise<EvidenceFields>
  /** Returns values for comparison with lists; empty if there are none. Not recorded: no person sees them. */
  screenedFields(session: EvidenceSession): Promise<EvidenceFields>
  /** Like `screenedFields` for sessions of one organization, in one query. Decrypts values on demand. */
  screenedFieldsOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<EvidenceFields>>
  /** Like `screenedFieldsOf`, for the zones of identity documents. */
  screenedZonesOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<readonly Zone[]>>
  /** Searches sessions of one organization. Each match is recorded as read by `actor`. */
  findByFields(
    sessions: readonly EvidenceSession[],
    matches: (searched: SearchedEvidence) => boolean,
    actor: string,
  ): Promise<ReadonlySet<string>>
  /**
   * Checks, cleans, encrypts and stores a document. @throws DocumentTooLargeError 413, DocumentTypeError 415,
   * DocumentInvalidError 400, DocumentLimitError 409, SessionClosedError 409, EvidenceBusyError 503
   */
  addDocument(session: EvidenceSession, upload: DocumentUpload): Promise<DocumentReceipt>
  listEvidence(session: EvidenceSession): Promise<EvidenceList>
  /** Records the access before the first byte. Null if the session has no such document. */
  openDocument(session: EvidenceSession, documentId: string, actor: string): Promise<OpenedDocument | null>
  /** Destroys the document's key. False if the session has no such document. @throws SessionClosedError */
  removeDocument(session: EvidenceSession, documentId: string): Promise<boolean>
  /** Returns the unmet requirements of the level, by default the level of the session. */
  missing(session: EvidenceSession, level?: Level): Promise<readonly Requirement[]>
  /**
   * Destroys the keys of all evidence, in any status, then deletes the files. Returns the number of erased pieces; all
   * fields together count as one. @param write runs the erasure in the caller's transaction; defaults to a new
   * transaction
   */
  eraseSession(
    session: EvidenceSession,
    actor: string,
    write?: (
      erase: (store: Pick<EvidenceStore, 'eraseAll'>) => Promise<EvidenceChange | null>,
    ) => Promise<EvidenceChange | null>,
  ): Promise<number>
  /** Erases the evidence if its retention has ended, checked with the session locked. */
  eraseExpired(target: EvidenceTarget): Promise<void>
}

export interface DocumentReading {
  /** First document whose zone was readable. */
  readonly documentId: string | null
  readonly zone: Zone | null
  /** Other documents' zones, if different. Absent in readings stored by earlier versions. */
  readonly otherZones?: readonly Zone[]
}

/** A note that is stored, encrypted and erased with a session's evidence. */
export interface SealedNote<Content> {
  /** Replaces the note, unless the evidence was erased in the meantime. */
  put(session: EvidenceSession, content: Content): Promise<void>
  /** Returns the content and records the access. */
  read(session: EvidenceSession, actor: string): Promise<Content | null>
  /** Like `read` for the service's own checks, without recording the access. */
  peek(session: EvidenceSession): Promise<Content | null>
}

export type DocumentReadings = SealedNote<DocumentReading>

/** Facts on which policies decided the session, by sequence number. */
export type DecisionFacts = SealedNote<Readonly<Record<string, SessionFacts>>>

export const parseDocumentKind = (text: string): DocumentKind => {
  const kind = DOCUMENT_KINDS.find((known) => known === text)
  if (kind === undefined) throw new FieldInvalidError('kind', `must be one of ${DOCUMENT_KINDS.join(', ')}`)
  return kind
}
