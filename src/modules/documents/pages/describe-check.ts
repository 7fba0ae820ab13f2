// Texts for the checks of documents and people: labels, and the meaning of each outcome.
import type { ReviewParts } from '../../../dashboard/page/module-pages.ts'

const NOT_DONE = 'It could not be checked. That is our error, not the person’s.'

const CHECKS: Readonly<Record<string, { readonly label: string; readonly [outcome: string]: string }>> = {
  document: { label: 'Document', 'not-done': NOT_DONE },
  'document.zone': {
    label: 'Machine-readable zone',
    look: 'The documents name different numbers.',
    unreadable: 'No picture shows a zone that can be read with certainty. That says nothing about the person.',
    'not-done': 'There is no picture to read: a PDF is looked at by you.',
  },
  'document.name': {
    label: 'Name on the document',
    look: 'Similar but not the same, or typed in another script.',
    failed: 'Another name was typed.',
  },
  'document.birth-date': {
    label: 'Date of birth',
    look: 'The document leaves out the month or the day.',
    failed: 'Another date was typed.',
  },
  'document.country': { label: 'Country', look: 'The document is of another country than the address.' },
  'document.expiry': { label: 'Validity', failed: 'The document has expired.' },
  'document.number': { label: 'Same document', look: 'Another person submitted this document.' },
  person: { label: 'Person', 'not-done': NOT_DONE },
  'person.age': { label: 'Age' },
  'person.name': {
    label: 'Same person',
    look: 'Another identity, or a rejected session, has this name and date of birth.',
  },
  'person.address': {
    label: 'Country of the address',
    look: 'It was submitted from a country other than the one entered.',
  },
  'person.portrait': {
    label: 'Same portrait',
    look: 'Another identity, or a rejected session, has this picture.',
    unreadable: 'The picture could not be compared.',
  },
}

export const describeCheck: NonNullable<ReviewParts['describeCheck']> = (check) => {
  const { check: name, outcome, minimum_age: minimum } = check
  const words = CHECKS[name]
  if (words === undefined) return null
  const { label } = words
  if (name === 'person.age' && outcome !== 'passed') {
    return { label, text: `Younger than ${minimum} by the date that was typed.` }
  }
  return { label, text: words[outcome] ?? '' }
}
