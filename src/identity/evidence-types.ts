// Parts of a session's evidence, and the operations of the verification page on it. Source: threats rows 17 and 18.

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
  /** 1 to 200 characters. */
  readonly name: string
  /** Whole percent, 1 to 100. */
  readonly sharePercent: number
}

/** Entered fields. Strings are trimmed and normalized (NFC); empty strings are rejected. */
export interface EvidenceFields {
  readonly fullName?: string
  /** Individual. A past calendar date, `YYYY-MM-DD`, at most 130 years ago. */
  readonly birthDate?: string
  /** Both. ISO 3166-1 alpha-2, uppercase: country of residence or registration. */
  readonly country?: string
  readonly registeredName?: string
  /** Business. 1 to 64 characters. */
  readonly registrationNumber?: string
  /** Business. 1 to 20 owners whose shares add up to at most 100 percent. */
  readonly owners?: readonly Owner[]
}

/** HEIC is not accepted, because this service cannot include a codec for it. */
export type DocumentMediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'application/pdf'

export interface DocumentRule {
  /** Also the `accept` attribute of the file input. */
  readonly mediaTypes: readonly DocumentMediaType[]
  /** Maximum documents of this kind per session, for example the two sides of a card. */
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
/** Maximum pixels according to the image's header. */
export const IMAGE_PIXELS_MAX = 40_000_000

export interface DocumentReceipt {
  /** `evidence_` and 16 base62 characters. */
  readonly id: string
  readonly kind: DocumentKind
  /** Media type of the stored file; images are re-encoded. */
  readonly mediaType: DocumentMediaType
  readonly byteLength: number
  /** Name on the person's device, at most 100 characters, without control characters. Never used as a path. */
  readonly fileName: string
  readonly createdAtSeconds: number
}

export interface EvidenceList {
  /** Filled fields. Only `readFields` reads their values. */
  readonly fields: readonly FieldName[]
  /** Oldest first. */
  readonly documents: readonly DocumentReceipt[]
}

export interface DocumentUpload {
  readonly kind: DocumentKind
  readonly fileName: string
  /** At most DOCUMENT_BYTES_MAX are read; the rest is cancelled. */
  readonly stream: ReadableStream<Uint8Array>
  /** Content type of the upload; must match the content. */
  readonly declaredType: string
  /** Canonical address; empty if unknown. */
  readonly address: string
}

export interface OpenedDocument {
  readonly receipt: DocumentReceipt
  /** Fails if a byte was altered. Serve it with `Content-Disposition: attachment` and `Cache-Control: no-store`. */
  readonly stream: ReadableStream<Uint8Array>
}

export type EvidenceSession = Pick<Session, 'organizationId' | 'id' | 'checkType' | 'level'> & ByBrowser

/** Evidence that a search compares: entered fields, or the zone of a document. */
export type SearchedEvidence = EvidenceFields | Pick<Zone, 'number' | 'surname' | 'givenNames'>

/**
 * Writing requires a session in `pending` or `retry` (otherwise SessionClosedError). A session that was returned for
 * certain parts accepts only these (PartNotRequestedError). All functions throw SessionUnknownError for an unknown
 * session. `actor` is `person`, `operator:<name>` or `provider:<name>`.
 */
export interface EvidenceService {
  /** Adds or replaces fields. @throws FieldInvalidError, SessionClosedError */
  putFields(session: EvidenceSession, fields: EvidenceFields): Promise<void>
  /** Values for the deciding operator. Audited. */
  readFields(session: EvidenceSession, actor: string): Promise<EvidenceFields>
  /**
   * Values for comparison with lists; the access is not recorded, because no person sees them. Empty if there are none.
   */
  screenedFields(session: EvidenceSession): Promise<EvidenceFields>
  /**
   * Like `screenedFields` for many sessions of one organization, with one query. The result decrypts one session's
   * values.
   */
  screenedFieldsOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<EvidenceFields>>
  /** Like `screenedFieldsOf`, for the zones of identity documents. */
  screenedZonesOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<readonly Zone[]>>
  /** Finds sessions of one organization by fields or document zone. Each match is recorded as read by `actor`. */
  findByFields(
    sessions: readonly EvidenceSession[],
    matches: (searched: SearchedEvidence) => boolean,
    actor: string,
  ): Promise<ReadonlySet<string>>
  /**
   * Checks, cleans, encrypts and stores one document.
   * @throws DocumentTooLargeError 413, DocumentTypeError 415, DocumentInvalidError and DocumentLimitError 400/409,
   * SessionClosedError 409, EvidenceBusyError 503
   */
  addDocument(session: EvidenceSession, upload: DocumentUpload): Promise<DocumentReceipt>
  listEvidence(session: EvidenceSession): Promise<EvidenceList>
  /** Audited before the first byte. Null if the session has no such document. */
  openDocument(session: EvidenceSession, documentId: string, actor: string): Promise<OpenedDocument | null>
  /** Destroys the document's key. False if the session has no such document. @throws SessionClosedError */
  removeDocument(session: EvidenceSession, documentId: string): Promise<boolean>
  /** Unmet requirements of the level; defaults to the session's level. */
  missing(session: EvidenceSession, level?: Level): Promise<readonly Requirement[]>
  /**
   * Destroys all keys of the session's evidence in any status, then deletes the files. Returns the number of erased
   * pieces; all fields count as one.
   * @param write passes a store in the caller's transaction; defaults to a new transaction
   */
  eraseSession(
    session: EvidenceSession,
    actor: string,
    write?: (
      erase: (store: Pick<EvidenceStore, 'eraseAll'>) => Promise<EvidenceChange | null>,
    ) => Promise<EvidenceChange | null>,
  ): Promise<number>
  /** Erases the evidence if its retention period has ended, checked with the session locked. */
  eraseExpired(target: EvidenceTarget): Promise<void>
}

export interface DocumentReading {
  /** First document whose zone was readable. */
  readonly documentId: string | null
  /** Zone of that document; null if none was readable. */
  readonly zone: Zone | null
  /** Differing zones of the other documents. Absent in readings stored by earlier versions. */
  readonly otherZones?: readonly Zone[]
}

/** A note stored with a session's evidence, encrypted and erased with it. */
export interface SealedNote<Content> {
  /** Replaces the note. Does nothing if the evidence was erased in the meantime. */
  put(session: EvidenceSession, content: Content): Promise<void>
  /** Audited. */
  read(session: EvidenceSession, actor: string): Promise<Content | null>
  /** Like `read`, for the service's own checks: the access is not recorded. */
  peek(session: EvidenceSession): Promise<Content | null>
}

export type DocumentReadings = SealedNote<DocumentReading>

/** Facts on which policies decided the session, by its sequence number at that time. */
export type DecisionFacts = SealedNote<Readonly<Record<string, SessionFacts>>>

export const parseDocumentKind = (text: string): DocumentKind => {
  const kind = DOCUMENT_KINDS.find((known) => known === text)
  if (kind === undefined) throw new FieldInvalidError('kind', `must be one of ${DOCUMENT_KINDS.join(', ')}`)
  return kind
}
