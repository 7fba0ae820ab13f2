// The European Union's consolidated financial sanctions list, schema 1.1, with all data in attributes. Source:
// https://webgate.ec.europa.eu/fsd/fsf, "XML (Based on XSD) - v1.1".
import type { ListedEntry } from '../matching/entry.ts'
import { countryCodeOf } from './list-countries.ts'
import { parseListDates } from './list-dates.ts'
import { elementsOf, joinName, readXmlEntries, type XmlElement } from './xml-elements.ts'

const UNKNOWN_COUNTRY = '00'

const nameOf = ({ attribute }: XmlElement): string =>
  attribute('wholeName').trim() || joinName([attribute('firstName'), attribute('middleName'), attribute('lastName')])

const dateOf = ({ attribute }: XmlElement): readonly string[] => {
  const about = attribute('circa') === 'true' ? 'circa ' : ''
  const [from, to] = [attribute('yearRangeFrom'), attribute('yearRangeTo')]
  if (from !== '' && to !== '') return parseListDates(`${from}-${to}`)
  const written = attribute('birthdate') || attribute('year')
  return written === '' ? [] : parseListDates(about + written)
}

const entryOf = (element: XmlElement): ListedEntry => {
  const [subject] = elementsOf(element, 'subjectType')
  const isPerson = subject?.attribute('classificationCode') === 'P' || subject?.attribute('code') === 'person'
  const places = [
    ...elementsOf(element, 'citizenship'),
    ...elementsOf(element, 'birthdate'),
    ...(isPerson ? [] : elementsOf(element, 'address')),
  ]
  const countries = places
    .map(({ attribute }) => attribute('countryIso2Code'))
    .filter((code) => code !== UNKNOWN_COUNTRY)
  return {
    id: element.attribute('euReferenceNumber') || element.attribute('logicalId'),
    kind: isPerson ? 'person' : 'organization',
    names: [
      ...new Set(
        elementsOf(element, 'nameAlias')
          .map(nameOf)
          .filter((name) => name !== ''),
      ),
    ],
    birthDates: [...new Set(elementsOf(element, 'birthdate').flatMap(dateOf))],
    countries: [...new Set(countries.flatMap((code) => countryCodeOf(code) ?? []))],
    wallets: [],
  }
}

export const readEuXml = (text: string): readonly ListedEntry[] =>
  readXmlEntries(
    text,
    { title: 'the European Union’s financial sanctions list', root: 'export', entries: ['sanctionEntity'] },
    entryOf,
  )
