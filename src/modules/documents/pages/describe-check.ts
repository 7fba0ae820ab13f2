import type { ReviewParts } from '../../../dashboard/page/module-pages.ts'

const NOT_DONE = 'The check could not run. This is a service error, not the person’s fault.'

const CHECKS: Readonly<Record<string, { readonly label: string; readonly [outcome: string]: string }>> = {
  document: { label: 'Document', 'not-done': NOT_DONE },
  'document.zone': {
    label: 'Machine-readable zone',
    look: 'The documents have different numbers.',
    unreadable: 'No picture shows a readable zone. This does not count against the person.',
    'not-done': 'There is no picture to read. Review the PDF yourself.',
  },
  'document.name': {
    label: 'Name on the document',
    look: 'The names are similar but not identical, or in different scripts.',
    failed: 'A different name was entered.',
  },
  'document.birth-date': {
    label: 'Date of birth',
    look: 'The document does not state the month or the day.',
    failed: 'A different date was entered.',
  },
  'document.country': { label: 'Country', look: 'The document is from a country other than the country of residence.' },
  'document.expiry': { label: 'Validity', failed: 'The document has expired.' },
  'document.number': { label: 'Same document', look: 'Another person submitted this document.' },
  person: { label: 'Person', 'not-done': NOT_DONE },
  'person.age': { label: 'Age' },
  'person.name': {
    label: 'Same person',
    look: 'Another identity, or a rejected session, has this name and date of birth.',
  },
  'person.address': {
    label: 'IP address country',
    look: 'The session was submitted from a different country than the one entered.',
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
    return { label, text: `Younger than ${minimum} according to the entered date.` }
  }
  return { label, text: words[outcome] ?? '' }
}
