// The names of a session compared with a list: the typed name and the name in the document. Every name that the
// document check accepts for a listed name is found or does not pass.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Zone } from '../../src/domain/document-zone.ts'
import type { Session } from '../../src/domain/session.ts'
import { compareNames, nameOfZone, type ZoneName } from '../../src/modules/documents/names.ts'
import { createNameChecks } from '../../src/modules/screening/checks/name-checks.ts'
import { subjectsOf } from '../../src/modules/screening/checks/screen-sessions.ts'
import { fail, screenerOf, screeningOfNames, ZONE } from './support.ts'

const LISTED = [
  'Nicolas MADURO MOROS',
  'Joseph KONY',
  'Usama bin Muhammad bin Awad BIN LADIN',
  'Kim Jong Un',
  'Sirhan SIRHAN',
  'Suharto',
  'Jürgen GROẞ MÜLLER',
  'Íñigo PEÑA ÑÁÑEZ',
  'Łukasz ŻÓŁĆ',
  'Abd al-Aziz AL-NURISTANI',
  'Sergey Viktorovich LAVROV',
  "Seán O'NEILL",
]
const screening = screeningOfNames(LISTED)

const checkOf = async (fullName: string, ...zones: readonly Zone[]) => {
  const { begin } = createNameChecks({
    listsInUse: async () => ({ versions: { own: 'v1' }, enabled: ['owner', 'own 1'] }),
    nameScreenerFor: async () => screenerOf(screening),
    settings: async () => ({ key: '', of: () => ({ threshold: null }) as never }),
    evidence: {
      screenedFieldsOf: async () => async () => ({ fullName }),
      screenedZonesOf: async () => async () => zones,
    },
    onError: fail,
  })
  const session = { id: 's', organizationId: 'org', checkType: 'kyc' } as unknown as Session
  const [checks] = (await (await begin('org'))?.compare([session])) ?? [[]]
  return checks?.[0]
}
const subjectsFound = async (fullName: string, ...zones: readonly Zone[]) =>
  (await checkOf(fullName, ...zones))?.hits?.map(({ entry, subject }) => `${LISTED[Number(entry)]} as ${subject}`)

describe('the name in a document', () => {
  const maduro: Zone = { ...ZONE, surname: 'MADURO MOROS', givenNames: 'NICOLAS' }

  test('is compared in addition to the typed name', async () => {
    expect(await subjectsFound('Anna Schmidt', maduro)).toEqual(['Nicolas MADURO MOROS as document'])
    expect(await subjectsFound('Nicolas Maduro Moros')).toEqual(['Nicolas MADURO MOROS as person'])
    expect(await subjectsFound('Anna Schmidt', ZONE)).toEqual([])
    expect((await checkOf('Anna Schmidt', ZONE))?.outcome).toBe('passed')
  })

  test('is a hit for the enabled period of the list', async () => {
    expect((await checkOf('Nicolas Maduro Moros'))?.hits).toMatchObject([{ list: 'own', listing: 'own 1' }])
  })

  test('is compared for every document', async () => {
    expect(await subjectsFound('Anna Schmidt', ZONE, maduro)).toEqual(['Nicolas MADURO MOROS as document 2'])
  })

  test('has the date that can lower its score, which isn’t part of the basis of a decision', async () => {
    const subjects = subjectsOf('kyc', { fullName: 'Anna Schmidt', birthDate: '1990-01-01' }, [ZONE])
    expect(subjects.map(({ subject }) => subject.isFromDocument)).toEqual([undefined, true])
    const check = await checkOf('Nicolas Maduro Moros', maduro)
    const bases = check?.hits?.flatMap(({ compared, comparedSubject }) => [compared, comparedSubject]) ?? []
    expect(bases).toHaveLength(4)
    expect([...bases, ...(check?.subjects ?? [])].join()).not.toContain('isFromDocument')
  })

  test('is not compared if the zone cuts off its end', async () => {
    const check = await checkOf('Anna Schmidt', { ...ZONE, namesCut: true })
    expect(check).toMatchObject({ outcome: 'not-done', detail: { problem: expect.stringMatching(/zone/) } })
  })

  test('is compared without the letters that the zone adds for diacritics', () => {
    expect(nameOfZone({ surname: 'PENXXA', givenNames: 'JUXXRGEN' })).toBe('JURGEN PENA')
  })
})

/** The zone of a listed name, whose last words are its surname. */
const zoneOf = (name: string, surnames: number): ZoneName => {
  const spelled: Readonly<Record<string, string>> = { Ü: 'UE', Ñ: 'NXX', Ł: 'L', ẞ: 'SS' }
  const words = [...name.toUpperCase().normalize('NFC').replaceAll("'", '').replaceAll('-', ' ')]
    .map((letter) => spelled[letter] ?? letter.normalize('NFD').replace(/\p{M}/gu, ''))
    .join('')
    .split(' ')
  const at = Math.max(0, words.length - surnames)
  const [given, surname] = [words.slice(0, at), words.slice(at)]
  return { surname: surname.join(' '), givenNames: given.join(' '), namesCut: false }
}

/** Combining and invisible characters. */
const MARKS = Array.from({ length: 0x2_0000 }, (_, code) =>
  code < 0xd800 || code > 0xdfff ? String.fromCodePoint(code) : '',
).filter((character) => /^[\p{M}\p{Default_Ignorable_Code_Point}]$/u.test(character))

const CYRILLIC: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', c: 'с', p: 'р', x: 'х', i: 'і' }
const BOXED_A = 0x1f150
const boxed = (word: string): string =>
  word.toUpperCase().replaceAll(/[A-Z]/g, (letter) => String.fromCodePoint(BOXED_A + letter.charCodeAt(0) - 65))
const ADDED = ['Perez', '金', '🅰', 'Qqx', '1970']
/** Other ways to write the same name. */
const WAYS: readonly ((words: readonly string[], at: number) => readonly string[])[] = [
  (words) => words,
  (words) => words.toReversed(),
  (words, at) => [...words.slice(at % words.length), ...words.slice(0, at % words.length)],
  (words) => [words.join('')],
  (words) => [...words.join('')],
  (words) => words.map((word) => [...word].join('.')),
  (words, at) => [...words, ...Array.from({ length: at }, () => words[at % words.length] ?? '')],
  (words, at) => words.filter((_, other) => other !== at % words.length),
  (words, at) => [words.join('').slice(0, at), words.join('').slice(at)],
  (words) => words.map((word) => word.normalize('NFD')),
  (words) => words.map((word) => word.replace(/[aeocpxi]/, (letter) => CYRILLIC[letter] ?? letter)),
  (words) => words.map((word) => word.replace('a', '@').replace('s', '$')),
  (words, at) => words.map((word) => `${word.slice(0, at)}\u200b${word.slice(at)}`),
  (words, at) => words.map((word) => `${word.slice(0, at)}${at}${word.slice(at)}`),
  (words) => words.map((word) => word.toUpperCase()),
  (words) => words.map((word) => word.replace(/ü|ñ/g, (letter) => (letter === 'ü' ? 'ue' : 'n'))),
  (words, at) => words.map((word, other) => (other === at % words.length ? boxed(word) : word)),
  (words, at) => [words.join(''), ADDED[at % ADDED.length] ?? ''],
  (words, at) => [words.join('') + (at % 2 === 0 ? 'Oyelaran' : '1970')],
  (words, at) => words.flatMap((word) => [word.slice(0, 2), word.slice(2, 2 + (at % 3)), word.slice(2 + (at % 3))]),
  (words, at) => [
    ...words.slice(0, -1),
    words.at(-1)?.slice(0, 2) ?? '',
    words.at(-1)?.slice(2) ?? '',
    ADDED[at % 2] ?? '',
  ],
  (words, at) => words.map((word) => `${word.slice(0, at)}*${word.slice(at + 1)}`),
  (words, at) => words.map((word) => word.replaceAll(/\p{L}/gu, `$&${MARKS[at * 50] ?? ''}`)),
]
type Way = (typeof WAYS)[number]

const rewrite = (name: string, ways: readonly (readonly [Way, number])[]): string =>
  ways.reduce<readonly string[]>((words, [way, at]) => way(words, at), name.split(/[ -]/)).join(' ')
/** Whether the name is found, or does not pass. */
const isCaught = async (name: string, typed: string, ...zones: readonly Zone[]): Promise<boolean> => {
  const check = await checkOf(typed, ...zones)
  return check?.outcome !== 'passed' || check.hits?.some(({ entry }) => LISTED[Number(entry)] === name) === true
}

test('every name that the document check accepts for a listed name is found or does not pass', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...LISTED),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.tuple(fc.constantFrom(...WAYS), fc.nat({ max: 16 })), { maxLength: 3 }),
      async (name, surnames, ways) => {
        const zone = zoneOf(name, surnames)
        const typed = rewrite(name, ways)
        if (compareNames(typed, zone) !== 'same') return
        accepted += 1
        expect([typed, await isCaught(name, typed, { ...ZONE, ...zone })]).toEqual([typed, true])
      },
    ),
    { numRuns: 1_000 },
  )
  expect(accepted).toBeGreaterThan(200)
})

test('the letters of a listed name, however they are split into words, are found without a document or do not pass', async () => {
  const names = LISTED.filter((name) => name.includes(' '))
  const way = fc.constantFrom(...WAYS.filter((_, at) => ![7, 13].includes(at)))
  const ways = fc.array(fc.tuple(way, fc.nat({ max: 9 })), { maxLength: 1 })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), ways, async (name, ways) => {
      const typed = rewrite(name, ways)
      expect([typed, await isCaught(name, typed)]).toEqual([typed, true])
    }),
    { numRuns: 500 },
  )
})

/** A listed name, and its spelling in a script that screening can read. */
const SPELLED = [
  ['Nicolas MADURO MOROS', 'Nicolas Maduro Moros'],
  ['Jürgen GROẞ MÜLLER', 'Jürgen Groß Müller'],
  ['Sergey Viktorovich LAVROV', 'Сергей Викторович Лавров'],
  ['Sergey Viktorovich LAVROV', 'Σεργκέι Λαβρόφ'],
  ['Sergey Viktorovich LAVROV', 'სერგეი ლავროვ'],
  ['Sergey Viktorovich LAVROV', 'Սերգեյ Լավրով'],
  ['Abd al-Aziz AL-NURISTANI', 'عبد العزيز النورستاني'],
] as const

test.each(SPELLED)('%s written as %s with any mark after each letter is found, or is not passed', (name, spelled) => {
  const screen = (typed: string) => screening.screen({ name: typed, kind: 'person' }, 75)
  const isFound = (typed: string): boolean => screen(typed).hits.some(({ entry }) => LISTED[Number(entry)] === name)
  expect(isFound(spelled)).toBe(true)
  expect(MARKS.length).toBeGreaterThan(2_000)
  const missed = MARKS.filter((mark) => {
    const typed = spelled.replaceAll(/\p{L}/gu, `$&${mark}`)
    return !isFound(typed) && screen(typed).problem === null
  })
  expect(missed.map((mark) => mark.codePointAt(0)?.toString(16))).toEqual([])
})
