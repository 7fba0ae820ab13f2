// Common reasons for a retry or rejection, inserted into the editable comment in the person's language.
import type { Session } from '../api/types.ts'

const TEXTS = ['en', 'de'] as const
type Language = (typeof TEXTS)[number]

export const LANGUAGE_WORDS: Readonly<Record<Language, string>> = { en: 'English', de: 'German' }

/** Returns the language, or English if it isn't supported. */
export const languageOf = (language: string | null): Language => TEXTS.find((known) => known === language) ?? 'en'

/** `2.en` is version 2 in English. */
export const agreementWord = (agreement: string): string => {
  const [version = '', language = ''] = agreement.split('.')
  return `Version ${version} of the text, in ${LANGUAGE_WORDS[languageOf(language)]}`
}

export const REASON_NEEDED =
  'Give a reason: a rejection is final. If the person must not learn it, use only the internal note.'

export interface Reason {
  readonly label: string
  readonly texts: Readonly<Record<Language, string>>
  /** Parts to submit again; only for a retry. */
  readonly parts: readonly string[]
  readonly type?: Session['type']
}

export const RETRY_REASONS: readonly Reason[] = [
  {
    label: 'Document: not readable',
    texts: {
      en: 'The picture of your document is too blurry to read. Please take it again in good light, with the whole page in view.',
      de: 'Ihr Ausweisdokument ist auf dem Bild nicht scharf genug zu lesen. Bitte nehmen Sie es bei gutem Licht noch einmal auf, sodass die ganze Seite zu sehen ist.',
    },
    parts: ['identity-document'],
  },
  {
    label: 'Document: cut off',
    texts: {
      en: 'Part of your document is cut off in the picture. Please take it again with all four corners visible.',
      de: 'Im Bild fehlt ein Teil Ihres Ausweisdokuments. Bitte nehmen Sie es noch einmal auf, sodass alle vier Ecken zu sehen sind.',
    },
    parts: ['identity-document'],
  },
  {
    label: 'Document: expired',
    texts: {
      en: 'Your document has expired. Please send a valid one.',
      de: 'Ihr Ausweisdokument ist abgelaufen. Bitte senden Sie uns ein gültiges.',
    },
    parts: ['identity-document'],
  },
  {
    label: 'Document: back missing',
    texts: {
      en: 'Please send the back of your card as well.',
      de: 'Bitte senden Sie uns auch die Rückseite Ihrer Karte.',
    },
    parts: ['identity-document'],
  },
  {
    label: 'Portrait: face not visible',
    texts: {
      en: 'Your face is not clearly visible in the photo. Please take it again in good light, without glasses or a hat.',
      de: 'Ihr Gesicht ist auf dem Foto nicht gut genug zu erkennen. Bitte nehmen Sie es bei gutem Licht noch einmal auf, ohne Brille und ohne Kopfbedeckung.',
    },
    parts: ['portrait'],
  },
  {
    label: 'Name differs from the document',
    texts: {
      en: 'The name you entered differs from the name on your document. Please enter it exactly as shown on the document.',
      de: 'Der eingegebene Name weicht von dem in Ihrem Ausweisdokument ab. Bitte schreiben Sie ihn so, wie er dort steht.',
    },
    parts: ['fullName'],
  },
  {
    label: 'Date of birth differs from the document',
    texts: {
      en: 'The date of birth you entered differs from the one on your document. Please correct it.',
      de: 'Das eingegebene Geburtsdatum weicht von dem in Ihrem Ausweisdokument ab. Bitte berichtigen Sie es.',
    },
    parts: ['birthDate'],
  },
  {
    label: 'Address: older than three months',
    texts: {
      en: 'Your proof of address is more than three months old. Please send a more recent one.',
      de: 'Ihr Adressnachweis ist älter als drei Monate. Bitte senden Sie uns einen neueren.',
    },
    parts: ['proof-of-address'],
  },
  {
    label: 'Registration: not readable or outdated',
    texts: {
      en: 'Please send a current extract from the register, as a PDF or as a clear picture of every page.',
      de: 'Bitte senden Sie uns einen aktuellen Registerauszug, als PDF oder mit einem scharfen Bild jeder Seite.',
    },
    parts: ['registration-document'],
  },
  {
    label: 'Owners: incomplete',
    texts: {
      en: 'Please name everyone who owns or controls at least 25% of the business.',
      de: 'Bitte nennen Sie alle Personen, denen mindestens 25 % des Unternehmens gehören oder die es in diesem Maß kontrollieren.',
    },
    parts: ['owners'],
  },
]

export const REJECT_REASONS: readonly Reason[] = [
  {
    label: 'Could not be verified',
    texts: {
      en: 'We could not verify your identity with the information you sent.',
      de: 'Mit Ihren Angaben und Dokumenten konnten wir Ihre Identität nicht bestätigen.',
    },
    parts: [],
    type: 'individual',
  },
  {
    label: 'Could not be verified',
    texts: {
      en: 'We could not verify your business with the information you sent.',
      de: 'Mit Ihren Angaben und Dokumenten konnten wir Ihr Unternehmen nicht bestätigen.',
    },
    parts: [],
    type: 'business',
  },
  {
    label: 'Document not accepted',
    texts: {
      en: 'We do not accept this kind of document.',
      de: 'Diese Art von Dokument akzeptieren wir nicht.',
    },
    parts: [],
  },
  {
    label: 'Document was altered',
    texts: {
      en: 'We could not accept the document you sent.',
      de: 'Das eingereichte Dokument konnten wir nicht akzeptieren.',
    },
    parts: [],
  },
  {
    label: 'Portrait and document differ',
    texts: {
      en: 'The photo and the document do not show the same person.',
      de: 'Das Foto und das Ausweisdokument zeigen nicht dieselbe Person.',
    },
    parts: [],
    type: 'individual',
  },
  {
    label: 'Not in the register',
    texts: {
      en: 'We could not find your business in the register.',
      de: 'Wir konnten Ihr Unternehmen im Register nicht finden.',
    },
    parts: [],
    type: 'business',
  },
  {
    label: 'Owners unknown',
    texts: {
      en: 'We could not determine who owns or controls your business.',
      de: 'Wir konnten nicht feststellen, wem Ihr Unternehmen gehört oder wer es kontrolliert.',
    },
    parts: [],
    type: 'business',
  },
  {
    label: 'Country not served',
    texts: {
      en: 'We cannot offer our service in your country.',
      de: 'In Ihrem Land können wir unsere Dienste nicht anbieten.',
    },
    parts: [],
  },
  {
    label: 'Underage',
    texts: {
      en: 'Our service is available only to adults.',
      de: 'Unsere Dienste stehen nur volljährigen Personen offen.',
    },
    parts: [],
    type: 'individual',
  },
]

export const reasonsFor = (
  verdict: 'retry' | 'rejected',
  type: Session['type'],
  parts: readonly string[],
): readonly Reason[] =>
  (verdict === 'rejected' ? REJECT_REASONS : RETRY_REASONS).filter(
    (reason) =>
      (reason.type === undefined || reason.type === type) &&
      (reason.parts.length === 0 || reason.parts.some((part) => parts.includes(part))),
  )
