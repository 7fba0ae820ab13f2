// What a session's evidence consists of, what each level asks for, and what the verification page may do with it.
// Source: decisions §5, "Levels": evidence per level; threats rows 17 and 18.
import { FieldInvalidError } from '../domain/errors.ts'
import type { Level } from '../domain/level.ts'
import type { CheckType, Session } from '../domain/session.ts'

/** One who owns a part of a business. */
export interface Owner {
  /** 1 to 200 characters. */
  readonly name: string
  /** Whole percent, 1 to 100. */
  readonly sharePercent: number
}

/** What is typed in. Texts are trimmed and normalised (NFC); empty ones are refused. */
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

export type FieldName = keyof EvidenceFields

export const DOCUMENT_KINDS = ['identity-document', 'portrait', 'proof-of-address', 'registration-document'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** What is kept and served. HEIC is no input: no codec for it may be shipped with this service. */
export type DocumentMediaType = 'image/jpeg' | 'image/png' | 'image/webp' | 'application/pdf'

export interface DocumentRule {
  /** For `accept` of a file input, too. */
  readonly mediaTypes: readonly DocumentMediaType[]
  /** Documents of the kind that a session may have, for example the two sides of a card. */
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

/** Bytes of one document as it is sent. */
export const DOCUMENT_BYTES_MAX = 10 * 1024 * 1024
/** Pixels that an image's header may announce. */
export const IMAGE_PIXELS_MAX = 40_000_000

export type Requirement =
  | { readonly part: 'field'; readonly name: FieldName }
  | { readonly part: 'document'; readonly kind: DocumentKind }

const field = (name: FieldName): Requirement => ({ part: 'field', name })
const document = (kind: DocumentKind): Requirement => ({ part: 'document', kind })

/** What a level asks for in addition to those below it. */
const ADDED: Readonly<Record<CheckType, Readonly<Record<Level, readonly Requirement[]>>>> = {
  kyc: {
    1: [field('fullName'), field('birthDate'), field('country')],
    2: [document('identity-document'), document('portrait')],
    3: [document('proof-of-address')],
  },
  kyb: {
    1: [field('registeredName'), field('registrationNumber'), field('country'), document('registration-document')],
    2: [],
    3: [field('owners')],
  },
}

const LEVELS_ASCENDING: readonly Level[] = [1, 2, 3]

/** Everything that a session of this kind and level needs, in the order in which to ask for it. */
export const requirementsOf = (checkType: CheckType, level: Level): readonly Requirement[] =>
  LEVELS_ASCENDING.filter((step) => step <= level).flatMap((step) => ADDED[checkType][step])

/** One document, without its content. */
export interface DocumentReceipt {
  /** `evidence_` and 16 base62 characters. */
  readonly id: string
  readonly kind: DocumentKind
  /** Of what is kept, which may differ from what was sent: images are written anew. */
  readonly mediaType: DocumentMediaType
  /** Of what is kept. */
  readonly byteLength: number
  /** As the person's device called it, cut to 100 characters without control characters: text, never a path. */
  readonly fileName: string
  readonly createdAtSeconds: number
}

export interface EvidenceList {
  /** Which fields are filled. Their values are read by `readFields` alone. */
  readonly fields: readonly FieldName[]
  /** Oldest first. */
  readonly documents: readonly DocumentReceipt[]
}

export interface DocumentUpload {
  readonly kind: DocumentKind
  readonly fileName: string
  /** At most DOCUMENT_BYTES_MAX are read of it; it is cancelled beyond. */
  readonly stream: ReadableStream<Uint8Array>
  /** The content type that came with it. Where it is one of DocumentMediaType it must agree with the content. */
  readonly declaredType: string
}

export interface OpenedDocument {
  readonly receipt: DocumentReceipt
  /**
   * Errors where a byte of the file is not what was stored. Serve it with `Content-Disposition: attachment`
   * and `Cache-Control: no-store`; the listener adds the policy that lets nothing in it run.
   */
  readonly stream: ReadableStream<Uint8Array>
}

/** Whose evidence: a session as it was read, of which nothing but these is used. */
export type EvidenceSession = Pick<Session, 'organizationId' | 'id' | 'checkType' | 'level'>

/**
 * A session's evidence. Writing needs a session that is pending or retry (SessionClosedError otherwise); all functions
 * throw SessionUnknownError where the organization has no such session, and never tell another organization's from none.
 * `actor` is `person`, `operator:<name>` or `provider:<name>`.
 */
export interface EvidenceService {
  /** Adds to and replaces what is there. @throws FieldInvalidError, SessionClosedError */
  putFields(session: EvidenceSession, fields: EvidenceFields): Promise<void>
  /** The values, for whoever decides. Audited. */
  readFields(session: EvidenceSession, actor: string): Promise<EvidenceFields>
  /**
   * Checks, cleans, encrypts and stores one document.
   * @throws DocumentTooLargeError 413, DocumentTypeError 415, DocumentInvalidError and DocumentLimitError 400/409,
   * SessionClosedError 409, EvidenceBusyError 503.
   */
  addDocument(session: EvidenceSession, upload: DocumentUpload): Promise<DocumentReceipt>
  listEvidence(session: EvidenceSession): Promise<EvidenceList>
  /** Audited before the first byte. Null when the session has no such document. */
  openDocument(session: EvidenceSession, documentId: string, actor: string): Promise<OpenedDocument | null>
  /** For good: its key is destroyed. False when the session has no such document. @throws SessionClosedError */
  removeDocument(session: EvidenceSession, documentId: string): Promise<boolean>
  /** What the level (the session's own unless stated) still asks for; empty: it can be handed in. */
  missing(session: EvidenceSession, level?: Level): Promise<readonly Requirement[]>
  /**
   * Destroys all keys of the session's evidence, whatever its status, then the files. Answers how many pieces, the fields
   * being one, were erased. A session that was open cannot be decided `completed` on what is gone: see `missing`.
   */
  eraseSession(session: EvidenceSession, actor: string): Promise<number>
}

/** For the page: a kind as a form names it. @throws FieldInvalidError */
export const parseDocumentKind = (text: string): DocumentKind => {
  const kind = DOCUMENT_KINDS.find((known) => known === text)
  if (kind === undefined) throw new FieldInvalidError('kind', `must be one of ${DOCUMENT_KINDS.join(', ')}`)
  return kind
}
