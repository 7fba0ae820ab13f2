// The published formats, the format of operators' lists, and files that are rejected.
import { describe, expect, test } from 'bun:test'
import { csvRows, ScreeningListInvalidError } from '../../src/modules/screening/formats/csv-rows.ts'
import { packEntries, unpackEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { countryCodeOf } from '../../src/modules/screening/formats/list-countries.ts'
import { parseListDates } from '../../src/modules/screening/formats/list-dates.ts'
import type { ScreeningFormat } from '../../src/modules/screening/formats/publishers.ts'
import { type ListExpectations, readScreeningList } from '../../src/modules/screening/formats/read-screening-list.ts'
import { fileOf, listed, utf8 } from './support.ts'

const ANY: ListExpectations = { entriesMin: 1, now: null }
const OFAC = ['sdn.csv', 'alt.csv', 'add.csv'].map(fileOf)

const remarksOf = (remarks: string): Uint8Array =>
  utf8(`1,"PRIMEROV, Ivan","individual","X",-0-,-0-,-0-,-0-,-0-,-0-,-0-,"${remarks}"\r\n`)
const rest = (id: string, remarks: string): Uint8Array => utf8(`${id},"${remarks}"\r\n\u001a`)
const CUT = 'x'.repeat(1_000)
const WALLETS =
  "Digital Currency Address - ETH 0xaaa; alt. Digital Currency Address - ETH 0xcccccc; Digital Currency Address - DDD 0xeee; a.k.a. 'SECOND NAME'."

describe('published formats', () => {
  test("OFAC's CSV: names in spoken order, aliases, dates, countries and wallets", () => {
    const entries = readScreeningList('ofac-csv', OFAC, ANY)
    expect(entries.length).toBeGreaterThan(100)
    const airline = { kind: 'organization', countries: ['CU'] } as const
    expect(entries.find(({ id }) => id === '36')).toEqual(
      listed('36', ['AEROCARIBBEAN AIRLINES', 'AERO-CARIBBEAN'], airline),
    )
    const persons = entries.filter(({ kind }) => kind === 'person')
    expect(persons.every(({ names }) => !names[0]?.includes(','))).toBe(true)
    expect(persons.filter(({ birthDates }) => birthDates.length > 0).length).toBeGreaterThan(persons.length / 2)
    expect(entries.flatMap(({ wallets }) => wallets).some((address) => address.startsWith('0x'))).toBe(true)
  })

  test.each([
    ['within a word', WALLETS.indexOf('ccc')],
    ['before a space', WALLETS.indexOf(' DDD')],
    ['after a space', WALLETS.indexOf('DDD')],
  ])("OFAC's remarks are completed from the comments if they are cut %s", (_where, at) => {
    const whole = `${'x'.repeat(998 - at)}; ${WALLETS}`
    const files = [remarksOf(whole.slice(0, 1_000)), utf8(''), utf8(''), rest('1', whole.slice(1_000))]
    const [entry] = readScreeningList('ofac-csv', files, ANY)
    expect(entry).toMatchObject({ wallets: ['0xaaa', '0xcccccc', '0xeee'], names: ['Ivan PRIMEROV', 'SECOND NAME'] })
  })

  test("OFAC's remarks of exactly the maximum length are complete if the comments contain no continuation", () => {
    const files = [remarksOf(`${CUT.slice(0, -1)}.`), utf8(''), utf8(''), utf8('\u001a')]
    expect(readScreeningList('ofac-csv', files, ANY)).toHaveLength(1)
  })

  test("the Security Council's XML", () => {
    const entries = readScreeningList('un-xml', [fileOf('un_consolidated.xml')], ANY)
    expect(entries.map(({ id, kind, birthDates, countries }) => [id, kind, birthDates, countries])).toEqual([
      ['CDi.001', 'person', ['1971'], ['CD']],
      ['CDi.028', 'person', ['~1960', '1966-09-09'], ['CD']],
      ['IRi.003', 'person', [], ['IR']],
      ['QDi.029', 'person', ['1968-12-30'], ['JO', 'US']],
      ['TAi.109', 'person', ['~1966', '~1967'], ['AF']],
      ['IRe.015', 'organization', [], []],
      ['QDe.014', 'organization', [], ['DZ', 'ML', 'MR', 'MA', 'NE', 'TN']],
    ])
    expect(entries[0]?.names).toEqual(['ERIC BADEGE'])
    expect(entries[4]?.names).toEqual([
      'AHMAD JAN AKHUNDZADA SHUKOOR AKHUNDZADA',
      'Ahmad Jan Akhunzada',
      'Ahmad Jan Akhund Zada',
      'احمد جان آخوند زاده شكور آخوند زاده',
    ])
  })

  test("aliases in one element of the Security Council's XML are separate names", () => {
    const xml = `<CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL><REFERENCE_NUMBER>X1</REFERENCE_NUMBER>
      <FIRST_NAME>Ivan</FIRST_NAME><SECOND_NAME>Primerov</SECOND_NAME><INDIVIDUAL_ALIAS>
      <ALIAS_NAME>Vanya One; Vanya Two ;</ALIAS_NAME></INDIVIDUAL_ALIAS></INDIVIDUAL></INDIVIDUALS></CONSOLIDATED_LIST>`
    const [entry] = readScreeningList('un-xml', [utf8(xml)], ANY)
    expect(entry?.names).toEqual(['Ivan Primerov', 'Vanya One', 'Vanya Two'])
  })

  test("the European Union's XML", () => {
    expect(readScreeningList('eu-xml', [fileOf('eu.xml')], ANY)).toEqual([
      listed('EU.27.28', ['Saddam Hussein Al-Tikriti', 'Abu Ali'], { birthDates: ['1937-04-28'], countries: ['IQ'] }),
      listed('EU.1.2', ['Иван Примеров', 'Ivan Primerov'], {
        birthDates: ['~1966', '~1968', '~1970'],
        countries: ['RU'],
      }),
      listed('EU.3.4', ['Example Shipping & Trading LLC'], { kind: 'organization', countries: ['IR'] }),
    ])
  })

  test('the UK Sanctions List', () => {
    const [company, person, ship] = readScreeningList('uk-xml', [fileOf('uk.xml')], ANY)
    expect(company).toMatchObject({ id: 'AFG0001', kind: 'organization', countries: ['PK'] })
    expect(person).toEqual(
      listed('RUS9001', ['Ivan Petrovich PRIMEROV', 'Vanya PRIMEROV', 'Иван Петрович Примеров'], {
        birthDates: ['1966-04-28', '1967'],
        countries: ['RU'],
      }),
    )
    expect(ship?.kind).toBe('vessel')
  })

  describe('an operator’s own list', () => {
    const entity = {
      id: 'p1',
      schema: 'Person',
      caption: 'Ivan Primerov',
      properties: { name: ['Ivan Primerov'], alias: ['Vanya'], birthDate: ['1966'], nationality: ['ru'] },
    }
    const own = { id: 'p1', kind: 'person', name: 'Ivan Primerov', aliases: ['Vanya'] }
    const sanction = { id: 's1', schema: 'Sanction', properties: { entity: ['p1'] } }
    test.each([
      ['CSV', 'csv', 'id,kind,name,aliases,birth_dates,countries\np1,person,Ivan Primerov,Vanya,1966,Russia\n'],
      ['JSON', 'json', JSON.stringify([{ ...own, birth_dates: ['1966'], countries: ['ru'] }])],
      ['FollowTheMoney', 'json', [entity, sanction].map((item) => JSON.stringify(item)).join('\n')],
    ] as const)('is read as %s', (_, format, text) => {
      expect(readScreeningList(format, [utf8(text)], ANY)).toEqual([
        listed('p1', ['Ivan Primerov', 'Vanya'], { birthDates: ['1966'], countries: ['RU'] }),
      ])
    })
    test('is read without its empty rows', () => {
      expect([...csvRows('one\n\n""\ntwo\n,\n')]).toEqual([['one'], ['two'], ['', '']])
    })
  })

  test('can contain wallets in FollowTheMoney: linked to holders, nested in them, or alone', () => {
    const person = (id: string, properties: object = {}) => {
      return { id, schema: 'Person', caption: `Ivan ${id}rimerov`, properties }
    }
    const wallet = (id: string, properties: object) => ({ id, schema: 'CryptoWallet', properties })
    const entities = [
      wallet('w1', { publicKey: ['0x01'], holder: ['p'] }),
      person('p', { publicKey: ['0x00'] }),
      wallet('w2', { publicKey: ['0x02', '0x00'], holder: ['p', 'q', 'gone'] }),
      person('q', { cryptoWallets: [wallet('w5', { publicKey: ['0x05'] })] }),
      wallet('w3', { publicKey: ['0x03'], holder: ['gone'] }),
      wallet('w4', { holder: ['p'] }),
    ]
    const read = (items: readonly object[]) => {
      const entries = readScreeningList('json', [utf8(JSON.stringify(items))], ANY)
      return entries.map(({ id, names, wallets }) => [id, names.length, wallets])
    }
    expect(read(entities)).toEqual([
      ['p', 1, ['0x00', '0x01', '0x02']],
      ['q', 1, ['0x05', '0x02', '0x00']],
      ['w3', 0, ['0x03']],
    ])
    // A list that contains only wallets.
    expect(read(entities.filter(({ id }) => id === 'w3'))).toEqual([['w3', 0, ['0x03']]])
  })

  test.each([
    ['10 Dec 1948', ['1948-12-10']],
    ['circa 1966', ['~1966']],
    ['1968 to 1970', ['~1968', '~1970']],
    ['Sep 1961', ['1961-09']],
    ['dd/mm/1967', ['1967']],
    ['31/02/1967', ['1967-02-31']],
    ['99 Foo 1961', []],
  ])('a date of birth: %s', (text, dates) => expect(parseListDates(text)).toEqual(dates))

  test.each([
    ['Korea, North', 'KP'],
    ['Congo, Democratic Republic of the', 'CD'],
    ['Côte d’Ivoire', 'CI'],
    ['ru', 'RU'],
    ['Atlantis', null],
  ])('a country: %s', (text, code) => expect(countryCodeOf(text)).toBe(code))

  test('packed entries are unpacked without changes, and equal entries have equal hashes', () => {
    const entries = readScreeningList('ofac-csv', OFAC, ANY)
    const packed = packEntries(entries)
    expect([...unpackEntries(packed.bytes)]).toEqual([...entries])
    expect(packEntries(entries).sha256).toBe(packed.sha256)
    expect(packEntries(entries.slice(1)).sha256).not.toBe(packed.sha256)
  })
})

describe('refuses', () => {
  const cut = (bytes: Uint8Array, share: number): Uint8Array => bytes.slice(0, Math.floor(bytes.length * share))
  const entries = readScreeningList('ofac-csv', OFAC, ANY)
  const NOW = { entries: entries.length, names: entries.reduce((sum, { names }) => sum + names.length, 0) }
  const BESIDE: ListExpectations = { entriesMin: 1, now: NOW }
  const [sdn, alt, add] = OFAC as [Uint8Array, Uint8Array, Uint8Array]
  const rows = new TextDecoder().decode(sdn).split('\r\n')
  const wholeRows = (count: number): Uint8Array => utf8(rows.slice(0, count).join('\r\n'))
  const namesOf = (length: number, nameOf: (at: number) => string): Uint8Array =>
    utf8(Array.from({ length }, (_, at) => `${at},"${nameOf(at)}",-0-,"X"${',-0-'.repeat(8)}`).join('\n'))
  const oneLetter = namesOf(300, () => 'aaaaaa')
  const many = namesOf(NOW.entries * 10, (at) => `NAME ${at} OF A COMPANY`)
  const moreNames: ListExpectations = { entriesMin: 1, now: { ...NOW, names: NOW.names * 2 } }
  const period = `${CUT.slice(0, -1)}.`

  test.each<[string, ScreeningFormat, readonly Uint8Array[], ListExpectations, RegExp]>([
    ['nothing', 'ofac-csv', [utf8('')], ANY, /the list is empty/],
    ['a web page', 'ofac-csv', [utf8('<!DOCTYPE html><html><body>Moved</body></html>')], ANY, /web page/],
    ['cut within a row', 'ofac-csv', [cut(sdn, 0.501), alt, add], BESIDE, /row|entries|quote/],
    ['cut between rows', 'ofac-csv', [wholeRows(NOW.entries * 0.7), alt, add], BESIDE, /the current list has \d+/],
    ['aliases cut', 'ofac-csv', [sdn, utf8(''), add], moreNames, /names/],
    ['fewer than any whole list', 'ofac-csv', [sdn], { entriesMin: 5_000, now: null }, /at least 5000/],
    ['ten times larger', 'ofac-csv', [many], BESIDE, /the current list has \d+/],
    ['one letter', 'ofac-csv', [oneLetter], ANY, /do not look like names/],
    ['XML for CSV', 'ofac-csv', [fileOf('eu.xml')], ANY, /columns/],
    ['CSV for XML', 'un-xml', [sdn], ANY, /unexpected end of the document/],
    ["another publisher's XML", 'un-xml', [fileOf('eu.xml')], ANY, /not the Security Council/],
    ['XML cut short', 'un-xml', [cut(fileOf('un_consolidated.xml'), 0.5)], ANY, /unexpected end of the document/],
    ['a document type', 'eu-xml', [utf8('<!DOCTYPE x [<!ENTITY a "b">]><export/>')], ANY, /document type/],
    ['bytes of no text', 'json', [new Uint8Array([0xff, 0xfe, 0x00, 0x01])], ANY, /must be JSON lines/],
    ['CSV without a header', 'csv', [utf8('1,Ivan\n')], ANY, /must be a header/],
    ['the same number twice', 'csv', [utf8('id,name\n1,Ivan Primerov\n1,Anna Primerova\n')], ANY, /same id/],
    ['five files', 'ofac-csv', [sdn, alt, add, utf8(''), add], ANY, /does not support 5 files/],
    ['remarks cut, no comments', 'ofac-csv', [remarksOf(CUT), alt, add], ANY, /entry 1 are truncated at 1000/],
    ['remarks cut, of another entry', 'ofac-csv', [remarksOf(CUT), alt, add, rest('2', 'x')], ANY, /entry 1 are trunc/],
    ['remarks cut behind a period', 'ofac-csv', [remarksOf(period), alt, add], ANY, /entry 1 are truncated/],
  ])('%s', (_what, format, files, expected, why) => {
    const refusal = expect.objectContaining({ detail: expect.stringMatching(why) })
    const read = () => readScreeningList(format, files, expected)
    expect(read).toThrow(ScreeningListInvalidError)
    expect(read).toThrow(refusal)
  })
})
