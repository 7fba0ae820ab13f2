// The parts of a session's evidence, and what the verification page may do with it. Source: threats rows 17 and 18.

import type { Zone } from '../domain/document-zone.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import type { EvidenceTarget } from '../domain/evidence.ts'
import type { Level } from '../domain/level.ts'
import { DOCUMENT_KINDS, type DocumentKind, type FieldName, type Requirement } from '../domain/requirements.ts'
import type { Session } from '../domain/session.ts'
import type { ByBrowser } from '../domain/wallet.ts'
import type { SessionFacts } from '../policy/types/session-facts.ts'
import type { EvidenceChange, EvidenceStore } from './evidence/store-types.ts'

/** A person who owns a part of a business. */
export interface Owner {
  /** 1 to 200 characters. */
  readonly name: string
  /** Whole percent, 1 to 100. */
  readonly sharePercent: number
}

/** Fields that people enter. Texts are trimmed and normalised (NFC); empty ones are refused. */
export interface EvidenceFields {
  /** Individual. 1 to 200 characters. */
  readonly fullName?: string
  /** Individual. A calendar date of the past, `YYYY-MM-DD`, at most 130 years ago. */
  readonly birthDate?: string
  /** Both. ISO 3166-1 alpha-2, upper case: where the person lives or the business is registered. */
  readonly country?: string
  /** Business. 1 to 200 characters. */
  readonly registeredName?: string
  /** Business. 1 to 64 characters. */
  readonly registrationNumber?: string
  /** Business. 1 to 20 owners whose shares come to at most 100 percent. */
  readonly owners?: readonly Owner[]
}

/** Media types that are stored and served. HEIC is not accepted, since this service may not include a codec for it. */
export type DocumentMediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'application/pdf'

export interface DocumentRule {
  /** Also the `accept` attribute of the file input. */
  readonly mediaTypes: readonly DocumentMediaType[]
  /** Maximum documents of this kind in a session, for example the two sides of a card. */
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

/** Maximum bytes of one uploaded document. */
export const DOCUMENT_BYTES_MAX = 10 * 1024 * 1024
/** Maximum pixels that an image's header may state. */
export const IMAGE_PIXELS_MAX = 40_000_000

/** One document, without its content. */
export interface DocumentReceipt {
  /** `evidence_` and 16 base62 characters. */
  readonly id: string
  readonly kind: DocumentKind
  /** Media type of the stored file, which may differ from the upload: images are re-encoded. */
  readonly mediaType: DocumentMediaType
  /** Bytes of the stored file. */
  readonly byteLength: number
  /** The file's name on the person's device, cut to 100 characters without control characters: text, never a path. */
  readonly fileName: string
  readonly createdAtSeconds: number
}

export interface EvidenceList {
  /** The filled fields. Only `readFields` reads their values. */
  readonly fields: readonly FieldName[]
  /** Oldest first. */
  readonly documents: readonly DocumentReceipt[]
}

export interface DocumentUpload {
  readonly kind: DocumentKind
  readonly fileName: string
  /** At most DOCUMENT_BYTES_MAX are read; the rest is cancelled. */
  readonly stream: ReadableStream<Uint8Array>
  /** The content type sent with the upload. If it is a DocumentMediaType, it must match the content. */
  readonly declaredType: string
  /** The sender's address in canonical form; empty if unknown. */
  readonly address: string
}

export interface OpenedDocument {
  readonly receipt: DocumentReceipt
  /**
   * Fails when a byte of the file differs from what was stored. Serve it with `Content-Disposition: attachment` and
   * `Cache-Control: no-store`; the listener adds the policy that prevents anything in it from running.
   */
  readonly stream: ReadableStream<Uint8Array>
}

/** The session that the evidence belongs to; only these members are used. */
export type EvidenceSession = Pick<Session, 'organizationId' | 'id' | 'checkType' | 'level'> & ByBrowser

/** The evidence that a search compares: entered fields, or the zone of a document. */
export type SearchedEvidence = EvidenceFields | Pick<Zone, 'number' | 'surname' | 'givenNames'>

/**
 * A session's evidence. Writing requires a session in `pending` or `retry` (otherwise SessionClosedError). A session
 * that was returned for certain parts accepts only these (PartNotRequestedError). All functions throw
 * SessionUnknownError when the organization has no such session; another organization's session gives the same error.
 * `actor` is `person`, `operator:<name>` or `provider:<name>`.
 */
export interface EvidenceService {
  /** Adds fields, and replaces existing ones. @throws FieldInvalidError, SessionClosedError */
  putFields(session: EvidenceSession, fields: EvidenceFields): Promise<void>
  /** The values, for the operator who decides. Audited. */
  readFields(session: EvidenceSession, actor: string): Promise<EvidenceFields>
  /** The values, for comparison with lists. Nobody sees them, so no access is recorded. Empty when there are none. */
  screenedFields(session: EvidenceSession): Promise<EvidenceFields>
  /**
   * Like `screenedFields` for many sessions of one organization, with one query. The returned function decrypts one
   * session's values.
   */
  screenedFieldsOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<EvidenceFields>>
  /** Like `screenedFieldsOf` for the zones of identity documents. Empty when there are none. */
  screenedZonesOf(sessions: readonly EvidenceSession[]): Promise<(session: EvidenceSession) => Promise<readonly Zone[]>>
  /**
   * Finds sessions of one organization with matching fields or a matching document zone. Each result is recorded as
   * read by `actor`, because a match reveals its values.
   */
  findByFields(
    sessions: readonly EvidenceSession[],
    matches: (searched: SearchedEvidence) => boolean,
    actor: string,
  ): Promise<ReadonlySet<string>>
  /**
   * Checks, cleans, encrypts and stores one document.
   * @throws DocumentTooLargeError 413, DocumentTypeError 415, DocumentInvalidError and DocumentLimitError 400/409,
   * SessionClosedError 409, EvidenceBusyError 503.
   */
  addDocument(session: EvidenceSession, upload: DocumentUpload): Promise<DocumentReceipt>
  listEvidence(session: EvidenceSession): Promise<EvidenceList>
  /** Audited before the first byte. Null when the session has no such document. */
  openDocument(session: EvidenceSession, documentId: string, actor: string): Promise<OpenedDocument | null>
  /**
   * Removes it permanently: its key is destroyed. False when the session has no such document. @throws
   * SessionClosedError
   */
  removeDocument(session: EvidenceSession, documentId: string): Promise<boolean>
  /**
   * The unmet requirements of the level (by default the session's own). When there are none, the session can be
   * submitted.
   */
  missing(session: EvidenceSession, level?: Level): Promise<readonly Requirement[]>
  /**
   * Destroys all keys of the session's evidence in any status, then deletes the files. Returns the number of
   * erased pieces; all fields together count as one. An open session can't be decided `completed` on erased
   * evidence: see `missing`.
   * @param write passes the erasing function a store in the caller's transaction; by default a new transaction is used
   */
  eraseSession(
    session: EvidenceSession,
    actor: string,
    write?: (
      erase: (store: Pick<EvidenceStore, 'eraseAll'>) => Promise<EvidenceChange | null>,
    ) => Promise<EvidenceChange | null>,
  ): Promise<number>
  /** Erases the session's evidence if its retention period has ended, checked with the session locked. */
  eraseExpired(target: EvidenceTarget): Promise<void>
}

/** The data read from a session's identity documents. */
export interface DocumentReading {
  /** The first document whose zone was readable. */
  readonly documentId: string | null
  /** The zone of that document; null if none was readable. */
  readonly zone: Zone | null
  /** Differing zones of the other documents. Absent in readings stored by earlier versions. */
  readonly otherZones?: readonly Zone[]
}

/** A note stored with a session's evidence, encrypted and erased with it. */
export interface SealedNote<Content> {
  /** Replaces the note. Does nothing when the evidence was erased meanwhile. */
  put(session: EvidenceSession, content: Content): Promise<void>
  /** Null when there is no note. Audited. */
  read(session: EvidenceSession, actor: string): Promise<Content | null>
  /** Like `read` for the service's own checks: no person sees it, so no access is recorded. */
  peek(session: EvidenceSession): Promise<Content | null>
}

export type DocumentReadings = SealedNote<DocumentReading>

/** The facts that policies decided the session on, keyed by the session's sequence number at that time. */
export type DecisionFacts = SealedNote<Readonly<Record<string, SessionFacts>>>

/** Parses a document kind from the page's form. @throws FieldInvalidError */
export const parseDocumentKind = (text: string): DocumentKind => {
  const kind = DOCUMENT_KINDS.find((known) => known === text)
  if (kind === undefined) throw new FieldInvalidError('kind', `must be one of ${DOCUMENT_KINDS.join(', ')}`)
  return kind
}
