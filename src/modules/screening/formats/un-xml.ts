// The Security Council's consolidated list. Source: https://scsanctions.un.org/resources/xml/en/consolidated.xml,
// sc-sanctions.xsd.
import type { ListedEntry } from '../matching/entry.ts'
import { countryCodeOf } from './list-countries.ts'
import { parseListDates } from './list-dates.ts'
import { childText, elementsOf, joinName, readXmlEntries, type XmlElement } from './xml-elements.ts'

const NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME']

const countriesOf = (element: XmlElement, path: readonly (readonly [element: string, value: string])[]): string[] =>
  path.flatMap(([name, value]) =>
    elementsOf(element, name).flatMap((found) =>
      elementsOf(found, value).flatMap(({ text }) => countryCodeOf(text) ?? []),
    ),
  )

const datesOf = (element: XmlElement): readonly string[] =>
  elementsOf(element, 'INDIVIDUAL_DATE_OF_BIRTH').flatMap((date) => {
    const about = childText(date, 'TYPE_OF_DATE').toUpperCase() === 'APPROXIMATELY' ? 'circa ' : ''
    const from = childText(date, 'FROM_YEAR')
    const to = childText(date, 'TO_YEAR')
    if (from !== '' && to !== '') return parseListDates(`${from}-${to}`)
    const written = childText(date, 'DATE') || childText(date, 'YEAR')
    return written === '' ? [] : parseListDates(about + written)
  })

const entryOf = (element: XmlElement): ListedEntry => {
  const isPerson = element.name === 'INDIVIDUAL'
  const own = joinName(NAME_PARTS.map((part) => childText(element, part)))
  const aliases = elementsOf(element, isPerson ? 'INDIVIDUAL_ALIAS' : 'ENTITY_ALIAS').flatMap((alias) =>
    childText(alias, 'ALIAS_NAME').split(';'),
  )
  const names = [own, ...aliases, childText(element, 'NAME_ORIGINAL_SCRIPT')].map((name) => name.trim())
  return {
    id: childText(element, 'REFERENCE_NUMBER') || childText(element, 'DATAID'),
    kind: isPerson ? 'person' : 'organization',
    names: [...new Set(names.filter((name) => name !== ''))],
    birthDates: [...new Set(datesOf(element))],
    countries: [
      ...new Set(
        countriesOf(
          element,
          isPerson
            ? [
                ['NATIONALITY', 'VALUE'],
                ['INDIVIDUAL_PLACE_OF_BIRTH', 'COUNTRY'],
              ]
            : [['ENTITY_ADDRESS', 'COUNTRY']],
        ),
      ),
    ],
    wallets: [],
  }
}

export const readUnXml = (text: string): readonly ListedEntry[] =>
  readXmlEntries(
    text,
    { title: 'the Security Council’s consolidated list', root: 'CONSOLIDATED_LIST', entries: ['INDIVIDUAL', 'ENTITY'] },
    entryOf,
  )
