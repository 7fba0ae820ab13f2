// The UK Sanctions List. Name6 is the family name or the complete name. Source:
// https://www.gov.uk/government/publications/the-uk-sanctions-list, "Format guide".
import type { EntryKind, ListedEntry } from '../matching/entry.ts'
import { countryCodeOf } from './list-countries.ts'
import { parseListDates } from './list-dates.ts'
import { childText, elementsOf, joinName, readXmlEntries, type XmlElement } from './xml-elements.ts'

const NAME_PARTS = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6']
const KINDS: Readonly<Record<string, EntryKind>> = { individual: 'person', entity: 'organization', ship: 'vessel' }

const nameOf = (element: XmlElement): string => joinName(NAME_PARTS.map((part) => childText(element, part)))

const textsOf = (element: XmlElement, name: string): readonly string[] =>
  elementsOf(element, name).map(({ text }) => text.trim())

const entryOf = (element: XmlElement): ListedEntry => {
  const kind = KINDS[childText(element, 'IndividualEntityShip').toLowerCase()] ?? 'other'
  const spelled = elementsOf(element, 'Name')
  const primary = spelled.filter(
    (name) => /primary/i.test(childText(name, 'NameType')) && !/variation/i.test(childText(name, 'NameType')),
  )
  const names = [...primary, ...spelled].map(nameOf)
  const places = kind === 'person' ? ['Nationality', 'CountryOfBirth'] : ['AddressCountry']
  return {
    id: childText(element, 'UniqueID'),
    kind,
    names: [...new Set([...names, ...textsOf(element, 'NameNonLatinScript')].filter((name) => name !== ''))],
    birthDates: [...new Set(textsOf(element, 'DOB').flatMap(parseListDates))],
    countries: [
      ...new Set(places.flatMap((place) => textsOf(element, place).flatMap((text) => countryCodeOf(text) ?? []))),
    ],
    wallets: [],
  }
}

export const readUkXml = (text: string): readonly ListedEntry[] =>
  readXmlEntries(text, { title: 'the UK Sanctions List', root: 'Designations', entries: ['Designation'] }, entryOf)
