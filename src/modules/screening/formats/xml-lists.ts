// The XML lists of the European Union, the United Kingdom and the Security Council.
import type { EntryKind, ListedEntry } from '../matching/entry.ts'
import { childText, elementsOf, joinName, textsAt, type XmlElement, type XmlList } from './xml-elements.ts'

const dateOf = (isAbout: boolean, from: string, to: string, written: string): string =>
  from !== '' && to !== '' ? `${from}-${to}` : isAbout ? `circa ${written}` : written

/** Schema 1.1, with all data in attributes. Source: https://webgate.ec.europa.eu/fsd/fsf, "XML (Based on XSD) - v1.1". */
export const EU_XML: XmlList = {
  title: 'the European Union’s financial sanctions list',
  root: 'export',
  entries: ['sanctionEntity'],
  entryOf: (element): ListedEntry => {
    const [subject] = elementsOf(element, 'subjectType')
    const isPerson = subject?.attribute('classificationCode') === 'P' || subject?.attribute('code') === 'person'
    const births = elementsOf(element, 'birthdate')
    const places = [
      ...elementsOf(element, 'citizenship'),
      ...births,
      ...(isPerson ? [] : elementsOf(element, 'address')),
    ]
    return {
      id: element.attribute('euReferenceNumber') || element.attribute('logicalId'),
      kind: isPerson ? 'person' : 'organization',
      names: elementsOf(element, 'nameAlias').map(
        ({ attribute }) =>
          attribute('wholeName').trim() ||
          joinName([attribute('firstName'), attribute('middleName'), attribute('lastName')]),
      ),
      birthDates: births.map(({ attribute }) =>
        dateOf(
          attribute('circa') === 'true',
          attribute('yearRangeFrom'),
          attribute('yearRangeTo'),
          attribute('birthdate') || attribute('year'),
        ),
      ),
      countries: places.map(({ attribute }) => attribute('countryIso2Code')),
      wallets: [],
    }
  },
}

/** Name6 is the family name or the complete name. */
const UK_NAME_PARTS = ['Name1', 'Name2', 'Name3', 'Name4', 'Name5', 'Name6']
const UK_KINDS: Readonly<Record<string, EntryKind>> = { individual: 'person', entity: 'organization', ship: 'vessel' }

const isPrimary = (name: XmlElement): boolean =>
  /primary/i.test(childText(name, 'NameType')) && !/variation/i.test(childText(name, 'NameType'))

/** Source: https://www.gov.uk/government/publications/the-uk-sanctions-list, "Format guide". */
export const UK_XML: XmlList = {
  title: 'the UK Sanctions List',
  root: 'Designations',
  entries: ['Designation'],
  entryOf: (element): ListedEntry => {
    const kind = UK_KINDS[childText(element, 'IndividualEntityShip').toLowerCase()] ?? 'other'
    const spelled = elementsOf(element, 'Name')
    const names = [...spelled.filter(isPrimary), ...spelled].map((name) =>
      joinName(UK_NAME_PARTS.map((part) => childText(name, part))),
    )
    const places = kind === 'person' ? ['Nationality', 'CountryOfBirth'] : ['AddressCountry']
    return {
      id: childText(element, 'UniqueID'),
      kind,
      names: [...names, ...textsAt(element, 'NameNonLatinScript')],
      birthDates: textsAt(element, 'DOB'),
      countries: places.flatMap((place) => textsAt(element, place)),
      wallets: [],
    }
  },
}

const UN_NAME_PARTS = ['FIRST_NAME', 'SECOND_NAME', 'THIRD_NAME', 'FOURTH_NAME']

/** Source: https://scsanctions.un.org/resources/xml/en/consolidated.xml, sc-sanctions.xsd. */
export const UN_XML: XmlList = {
  title: 'the Security Council’s consolidated list',
  root: 'CONSOLIDATED_LIST',
  entries: ['INDIVIDUAL', 'ENTITY'],
  entryOf: (element): ListedEntry => {
    const isPerson = element.name === 'INDIVIDUAL'
    const aliases = textsAt(element, isPerson ? 'INDIVIDUAL_ALIAS' : 'ENTITY_ALIAS', 'ALIAS_NAME')
    return {
      id: childText(element, 'REFERENCE_NUMBER') || childText(element, 'DATAID'),
      kind: isPerson ? 'person' : 'organization',
      names: [
        joinName(UN_NAME_PARTS.map((part) => childText(element, part))),
        ...aliases.flatMap((alias) => alias.split(';')),
        childText(element, 'NAME_ORIGINAL_SCRIPT'),
      ],
      birthDates: elementsOf(element, 'INDIVIDUAL_DATE_OF_BIRTH').map((date) =>
        dateOf(
          childText(date, 'TYPE_OF_DATE').toUpperCase() === 'APPROXIMATELY',
          childText(date, 'FROM_YEAR'),
          childText(date, 'TO_YEAR'),
          childText(date, 'DATE') || childText(date, 'YEAR'),
        ),
      ),
      countries: isPerson
        ? [...textsAt(element, 'NATIONALITY', 'VALUE'), ...textsAt(element, 'INDIVIDUAL_PLACE_OF_BIRTH', 'COUNTRY')]
        : textsAt(element, 'ENTITY_ADDRESS', 'COUNTRY'),
      wallets: [],
    }
  },
}
