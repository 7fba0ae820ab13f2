// What is said most often when something is sent back or rejected. Each is a beginning: it lands in the comment, where it
// can be changed. Written to the person, who reads it as it stands.

export interface Reason {
  /** For the list of reasons. */
  readonly label: string
  readonly text: string
  /** With a retry: what is to be done again. */
  readonly parts: readonly string[]
}

export const RETRY_REASONS: readonly Reason[] = [
  {
    label: 'Document: not readable',
    text: 'The picture of your document is not sharp enough to read. Please take it again in good light, with the whole page in view.',
    parts: ['identity-document'],
  },
  {
    label: 'Document: cut off',
    text: 'A part of your document is missing in the picture. Please take it again so that all four corners can be seen.',
    parts: ['identity-document'],
  },
  {
    label: 'Document: expired',
    text: 'Your document has expired. Please send one that is valid.',
    parts: ['identity-document'],
  },
  {
    label: 'Document: back side missing',
    text: 'Please send the back of your card as well.',
    parts: ['identity-document'],
  },
  {
    label: 'Portrait: face not visible',
    text: 'Your face can not be seen well enough in the portrait. Please take it again in good light, without glasses or a hat.',
    parts: ['portrait'],
  },
  {
    label: 'Name differs from the document',
    text: 'The name that you typed differs from the one in your document. Please write it as the document has it.',
    parts: ['fullName'],
  },
  {
    label: 'Date of birth differs from the document',
    text: 'The date of birth that you typed differs from the one in your document. Please correct it.',
    parts: ['birthDate'],
  },
  {
    label: 'Address: older than three months',
    text: 'Your proof of address is older than three months. Please send a newer one.',
    parts: ['proof-of-address'],
  },
  {
    label: 'Registration: not readable or outdated',
    text: 'Please send a current extract of the register, as a PDF or a sharp picture of every page.',
    parts: ['registration-document'],
  },
  {
    label: 'Owners: incomplete',
    text: 'Please name everyone who owns or controls 25 % of the business or more.',
    parts: ['owners'],
  },
]

export const REJECT_REASONS: readonly Reason[] = [
  {
    label: 'Could not be verified',
    text: 'We could not verify your identity with what you sent.',
    parts: [],
  },
  {
    label: 'Document not accepted',
    text: 'We do not accept this kind of document.',
    parts: [],
  },
  {
    label: 'Document was altered',
    text: 'The document that you sent could not be accepted.',
    parts: [],
  },
  {
    label: 'Portrait and document differ',
    text: 'The portrait and the document do not show the same person.',
    parts: [],
  },
  {
    label: 'Country not served',
    text: 'We can not offer our service in your country.',
    parts: [],
  },
  { label: 'Age', text: 'Our service is for people of full age.', parts: [] },
]
