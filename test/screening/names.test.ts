// Names compared with a list: hits, effects of dates and countries, and names with a problem.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { DEFAULT_THRESHOLD } from '../../src/domain/screening-hit.ts'
import type { ScreenedSubject } from '../../src/modules/screening/matching/entry.ts'
import { NAME_LENGTH_MAX, readName } from '../../src/modules/screening/matching/names/read-name.ts'
import { distanceFrom } from '../../src/modules/screening/matching/names/word-table.ts'
import { listed as entry, screeningOf, screeningOfNames } from './support.ts'

const LISTED = [
  entry('1', ['Usama bin Muhammad bin Awad BIN LADIN', 'Usama BIN LADEN'], {
    birthDates: ['1957-07-30'],
    countries: ['SA'],
  }),
  entry('2', ['Sergey Viktorovich LAVROV', 'Sergei LAVROV'], { birthDates: ['1950-03-21'], countries: ['RU'] }),
  entry('3', ['Abd al-Aziz AL-NURISTANI']),
  entry('4', ['Kim Jong Un'], { birthDates: ['~1982', '~1984'], countries: ['KP'] }),
  entry('5', ['Xi JINPING'], { countries: ['CN'] }),
  entry('6', ['OPEN JOINT STOCK COMPANY GAZPROM'], { kind: 'organization', countries: ['RU'] }),
  entry('7', ['HOMS REFINERY COMPANY'], { kind: 'organization', countries: ['SY'] }),
  entry('8', ['A.B.C. Trading Ltd'], { kind: 'organization' }),
  entry('9', ['Ferdinand MARTINEZ SUAREZ']),
  entry('10', ['Sirhan SIRHAN']),
  entry('11', ['Xose POPESCO']),
  entry('13', ['Saeed AKMANOV']),
  entry('14', ['Mullah KREKARI']),
  entry('15', ['El INGENIERO']),
  entry('16', ['CONSTRUCTOR UNION'], { kind: 'organization' }),
  entry('12', ['Mary SOMERVILLE'], { birthDates: ['1970-01-01'], countries: ['GB'] }),
]
const screening = screeningOf(LISTED)
const problemOf = (name: string) => screening.screen({ name }, DEFAULT_THRESHOLD).problem
const hitsOf = (subject: ScreenedSubject) => screening.screen(subject, DEFAULT_THRESHOLD).hits

describe('names that are found', () => {
  test.each([
    ['Osama bin Laden', '1', 'spelling'],
    ['Sheikh Usama Bin Ladin', '1', 'title'],
    ['أسامة بن لادن', '1', 'Arabic'],
    ['Sergej Lavrov', '2', 'spelling'],
    ['Сергей Лавров', '2', 'Cyrillic'],
    ['Σεργκέι Λαβρόφ', '2', 'Greek'],
    ['Abdulaziz Nuristani', '3', 'written together'],
    ['عبد العزيز النورستاني', '3', 'Arabic'],
    ['عبدالعزيز النورستاني', '3', 'Arabic, together'],
    ['Kim Jong-uun', '4', 'a key twice'],
    ['习近平', '5', 'Han'],
    ['OAO Gazprom', '6', 'legal form'],
    ['Газпром', '6', 'Cyrillic'],
    ['Constructor Union Ltd', '16', 'a word that objects inherit'],
    ['The Homs Refinery Corp.', '7', 'legal form'],
    ['ABC Trading Limited', '8', 'points'],
    ['Fer\u200bdinand\u202e Martínez Suárez', '9', 'marks'],
    ['Ferd1nand Mart1nez Suarez', '9', 'digits for letters'],
    ['6a2prom', '6', '6 and 2 in place of letters'],
    ['FerdinandMartinezSuarez', '9', 'all written together'],
    ['Suarez-FerdinandMartinez', '9', 'written as one word, in another order'],
    ['Fer dinand Mart inez Sua rez', '9', 'written apart'],
    ['FerdinandMartinezSuarez Perez', '9', 'written as one word, with an added word'],
    ['Perez FerdinandMartinez Suarez', '9', 'two words written as one, with an added word'],
    ['FerdinandMartinezSuarezOyelaran', '9', 'joined with another word'],
    ['Fer di nand Mar ti nez Su su arez', '9', 'split, with one part repeated'],
    ['Fer dinandMart inezSua rez Oyelaran', '9', 'joined and split, with an added word'],
    ['FerdinandMartinezSuarez 金', '9', 'written as one word, next to another script'],
    ['Фердинанд MartinezSuarez', '9', 'two words written as one, next to another script'],
    ['ХоѕеРОРЕЅСО', '11', 'Cyrillic letters that look Latin, written as one word'],
    ['SergeiViktorovichLavrov1950', '2', 'joined with a number'],
    ['HomsRefinery Comp any', '7', 'a company name with joined and split words'],
    ['Ho ms Refi nery Company', '7', 'a company name with split words'],
    [`${'Ferdinand '.repeat(16)}Martinez Suarez`, '9', 'a repeated word'],
    ['Ferdinand Martinez Suarez Juan Luis Carlos Pedro', '9', 'words added'],
    ['Said Akmanov Perez Garcia', '13', 'a name that sounds like a title, with added words'],
    ['Mullah Krekari Perez Garcia', '14', 'a title and one name, with added words'],
    ['Mulla Krekari Perez Garcia', '14', 'another spelling of the title'],
    ['El Ingeniero Perez Garcia', '15', 'a particle and one name, with added words'],
    ['Sirhan SIRHAN', '10', 'a listed word twice'],
    ['Sirhan Sirhan Sirhan', '10', 'a repeated listed word'],
    ['Хоѕе РОРЕЅСО', '11', 'Cyrillic letters that look Latin'],
  ])('%s is %s (%s)', (name, id) => expect(hitsOf({ name }).map((hit) => hit.entry)).toContain(id))

  test.each(
    LISTED.filter(({ id }) => ['1', '2', '9', '11', '12', '13'].includes(id)).map(({ id, names }) => [names[0]!, id]),
  )('two words written as one, and one as two, with any one letter wrong, are found: %s', (name, id) => {
    const words = name.toLowerCase().split(' ')
    const find = (at: number, count: number, cut: number): void => {
      const letters = [...words.slice(at, at + count).join('')]
      for (let wrong = 1; wrong < letters.length; wrong++) {
        const written = letters.with(wrong, letters[wrong] === 'q' ? 'z' : 'q').join('')
        const parts = cut === 0 ? [written] : [written.slice(0, cut), written.slice(cut)]
        const name = [...words.slice(0, at), ...parts, ...words.slice(at + count)].join(' ')
        expect([name, hitsOf({ name }).some(({ entry }) => entry === id)]).toEqual([name, true])
      }
    }
    for (const [at, word] of words.entries()) {
      if (word.length >= 7) find(at, 1, 4)
      if (word.length >= 4 && (words[at + 1]?.length ?? 0) >= 4) find(at, 2, 0)
    }
  })

  test.each([
    'Sergey Ivanov',
    'John Smith',
    'Maria Martinez',
    'Kim Novak',
    'Homs Bakery',
    'Gas Promotion GmbH',
    'Usama Khan',
    'Sergeilavina Rovston',
  ])('%s is nobody', (name) => expect(hitsOf({ name })).toEqual([]))
})

describe('a name of the most common words in a list', () => {
  const COMMON = 'abbas bilal camil dawud fahad ghazi hamid iqbal jabir karim latif majid'.split(' ')
  // Each pair of words is a name, so that more names share words with the query than are compared.
  const many = COMMON.flatMap((first, at) =>
    COMMON.flatMap((second, other) =>
      at === other ? [] : [...'pqrst'].map((end) => `${first} ${second} ${second}o${end}k`),
    ),
  )
  const crowded = screeningOf([entry('own', ['Abbas Primerov']), ...many.map((name, at) => entry(`${at}`, [name]))])
  const screen = (name: string) => crowded.screen({ name, kind: 'person' }, DEFAULT_THRESHOLD)

  test('is found', () => expect(screen(`Primerov ${COMMON.join(' ')}`).hits.map((hit) => hit.entry)).toContain('own'))

  test('has a problem if its readings take too much work', () => {
    const pairs = COMMON.flatMap((first) => COMMON.map((second) => `${first} ${second}`))
    const costly = screeningOfNames(Array.from({ length: 10 }, () => pairs).flat())
    const problemOf = (name: string) => costly.screen({ name, kind: 'person' }, 100).problem
    expect(problemOf(COMMON.join(' '))).toBeNull()
    expect(problemOf(`${COMMON.join(' ')} ابتثجحخدذرزسشصضط طظغفقكلمنهويابتث`)).toBe('too-many-ways')
  })

  test('has a problem if more entries are found than can be shown', () => {
    const screenAlike = (count: number) =>
      screeningOfNames(Array<string>(count).fill('Abbas Primerov')).screen(
        { name: 'Abbas Primerov' },
        DEFAULT_THRESHOLD,
      )
    expect(screenAlike(50).problem).toBeNull()
    const { hits, problem } = screenAlike(51)
    expect([hits.length, problem]).toEqual([50, 'too-many-hits'])
  })
})

describe('dates, countries and types', () => {
  const scoreOf = (subject: ScreenedSubject): number => screening.screen(subject, 1).hits[0]?.score ?? 0

  test('a listed date of birth raises the score, a different date in a document lowers it, and each part is shown', () => {
    const name = 'Sergej Lavrow'
    const bare = scoreOf({ name })
    expect(scoreOf({ name, birthDate: '1950-03-21' })).toBeGreaterThan(bare)
    expect(scoreOf({ name, birthDate: '1950' })).toBeGreaterThan(bare)
    expect(scoreOf({ name, birthDate: '1991-01-01', isFromDocument: true })).toBeLessThan(bare)
    const [hit] = hitsOf({ name, birthDate: '1950-03-21', country: 'ru' })
    expect(hit?.why.map(({ part, points }) => [part, points > 0])).toEqual([
      ['name', true],
      ['birth_date', true],
      ['country', true],
    ])
    expect(hit?.score).toBe(Math.min(99, hit?.why.reduce((sum, { points }) => sum + points, 0) ?? 0))
  })

  test.each(['Sergei Lavrow', 'Sergey T Viktorovich Lavrov', 'Usama bin Laden Perez'])(
    'a different typed date or country does not lower the score: %s',
    (name) => {
      const [bare] = hitsOf({ name })
      const [hit] = hitsOf({ name, birthDate: '1991-01-01', country: 'FR' })
      expect([hit?.entry, hit?.score]).toEqual([bare?.entry, bare?.score])
      expect(hit?.why.slice(1)).toMatchObject([
        { part: 'birth_date', points: 0 },
        { part: 'country', points: 0 },
      ])
    },
  )

  test('an exact name stays a hit with any date, because dates in lists can be wrong', () => {
    const other = { birthDate: '1991-01-01', country: 'FR', isFromDocument: true }
    expect(hitsOf({ name: 'Sergei Lavrov', ...other })).toHaveLength(1)
  })

  test('a range of two approximate years is compared', () => {
    const [hit] = hitsOf({ name: 'Kim Jong Un', birthDate: '1983-01-08' })
    expect(hit?.why[1]).toMatchObject({ part: 'birth_date', points: 2 })
  })

  test.each(['Sergei Lavrov', 'Sergei Lavrov LLC', 'SergeiLavrov Ltd', 'S e r g e i L a v r o v'])(
    'a company name is also compared with people: %s',
    (name) => {
      expect(hitsOf({ name, kind: 'organization' }).map((hit) => hit.entry)).toEqual(['2'])
    },
  )

  test('a person’s name is not compared with companies', () => {
    expect(hitsOf({ name: 'Gazprom', kind: 'person' })).toEqual([])
    expect(hitsOf({ name: 'Gazprom OAO', birthDate: '1950-01-01' })).toEqual([])
  })

  test('a hit does not contain the query', () => {
    const told = JSON.stringify(hitsOf({ name: 'Segrej Lavrov', birthDate: '1951-12-30', country: 'FR' }))
    expect(told).not.toMatch(/[Ss]egrej|1951|FR/)
  })
})

describe('names that cannot be compared completely have a problem, even if an entry is found', () => {
  test.each([
    ['Nicolas M@duro', 'disguised'],
    ['Nісоlаs Mаdurо', 'disguised'],
    ['Ꮇaduro Ncolás', 'disguised'],
    ['F€rdinand M🅰rtinez Suarez', 'disguised'],
    ['Ferdinand 🅜🅐🅡🅣🅘🅝🅔🅩 Suarez', 'disguised'],
    ['Ferdinand Martinez ★☆★☆', 'disguised'],
    ['Ferdinand M*rtin^z Suarez', 'disguised'],
    ['Ⅎǝɹdᴉuɐud Suarez', 'disguised'],
    ['Ferdʘnand Mǀrtinez', 'disguised'],
    ['Ferdıꞌnand Suʔrez', 'disguised'],
    ['Ferdiːnand Suːrez', 'disguised'],
    ['Ferdin\u0363nd Su\u0363rez', 'disguised'],
    ['Ferdi\u1ce9nand Suarez', 'disguised'],
    ['Nic◯las Madur◯', 'disguised'],
    ['Ferdin(nd Suarez', 'disguised'],
    ['Ferdinand( ) Suarez', 'disguised'],
    ['Ferd|"nand Su"rez', 'disguised'],
    ['Ferd,nand.,Su:rez', 'disguised'],
    ['ᖴEᖇᗪIᑎᗩᑎᗪ', 'disguised'],
    ['ᖴᗴᖇᗪᓰᑎᗩᑎᗪ', 'disguised'],
    ['Ferdinand \u{2ebf0}\u{2ebf1}', 'unreadable'],
    ['F e r d i n a n d  M a r t i n e z  S u a r e z', 'too-many-words'],
    ['I v a n  Ivanov', 'single-letters'],
    [[...'bcdfghjklmnprstvzqx'].map((letter) => `${letter}al${letter}un`).join(' '), 'too-many-words'],
    [`${[...'bdfghklmnprstvz'].map((letter) => `${letter}al${letter}un`).join(' ')} SergeiLavrov`, 'too-many-words'],
    ['A'.repeat(33), 'long-word'],
    ['Ferd1nand', 'disguised'],
    ['Suare2', 'disguised'],
    ['F❶ñez', 'disguised'],
    ['キム・ジョンウン', 'unreadable'],
    ['きむ・じょんうん', 'unreadable'],
    ['金じょんうん', 'unreadable'],
  ] as const)('%s is %s', (name, problem) => expect(problemOf(name)).toBe(problem))

  test.each([
    'Fеrdinаnd Mаrtinеz Suаrеz',
    'Ferdinand M@rtinez $uarez',
    'Ferdinand 🅜🅐🅡🅣🅘🅝🅔🅩 🆂🆄🅰🆁🅴🆉',
    'Ferdinand 🇲🇦🇷🇹🇮🇳🇪🇿 Suarez',
    'F e r d i n a n d M a r t i n e z S u a r e z',
    'Ferd|nand Mart|nez Su()rez',
  ])('%s is found as well', (name) => expect(hitsOf({ name }).map((hit) => hit.entry)).toContain('9'))

  test.each([
    ['حماس', 'unreadable'],
    ['חמאס', 'unreadable'],
    ['조선광업', 'unreadable'],
    ['真主党', 'unreadable'],
    ['ハマース', 'unreadable'],
    ['Homs ريفاينري', 'unreadable'],
    ['Bank Me11at', 'disguised'],
    ['Газпром', null],
    ['3M Web3 Trading', null],
  ] as const)('of a company: %s is %p', (name, problem) => {
    expect(screening.screen({ name, kind: 'organization' }, DEFAULT_THRESHOLD).problem).toBe(problem)
    if (problem === 'unreadable') expect(problemOf(name)).toBe(problem)
  })

  test('the beginning of a name', () => {
    expect(screening.screen({ name: 'Maria Gonzales', isCut: true }, DEFAULT_THRESHOLD).problem).toBe('cut')
  })

  test.each([
    'J. R. Tolkien',
    '山田はなこ',
    'A.B.C. Trading',
    '张〇',
    'Juan Carlos 1',
    'Anna 🌸 Schmidt',
    '♥Anna♥ Schmidt!',
    'فاطمة علي',
    '佐々木 健太郎',
    'Petrov, Ivan (Vanya) "Ivo"',
    "Łukasz Ærø-Nuñez D'Straße/Đặng",
    'Adaŋ Ɓello Fəridə Ɔtu',
    'Мар’яна Обідь',
    'עדנה ארבל',
  ])('%s has none', (name) => {
    const kind = name.endsWith('Trading') ? 'organization' : 'person'
    expect(screening.screen({ name, kind }, DEFAULT_THRESHOLD).problem).toBeNull()
  })
})

describe('a similarity of 100', () => {
  const exact = { name: 'Mary Somerville', birthDate: '1970-01-01', country: 'GB' }
  test('means an equal name', () => {
    expect(hitsOf(exact)[0]).toMatchObject({ score: 100, why: [{ points: 100 }, {}, {}] })
  })
  test.each(['Mary Somervile', 'Mari Somerville', 'Dr Mary Somerville', 'Mary Somerville Ann'])(
    'excludes a different name: %s',
    (name) => {
      const [hit] = hitsOf({ ...exact, name })
      expect(hit?.entry).toBe('12')
      expect(Math.max(hit?.score ?? 100, hit?.why[0]?.points ?? 100)).toBeLessThan(100)
    },
  )
})

describe('texts without a name', () => {
  test.each([
    ['😀😀😀', 'no-letters'],
    ['\u200f\u202e\u200f', 'no-letters'],
    ['X', 'no-letters'],
    ['', 'no-letters'],
    ['a'.repeat(10_000), 'too-long'],
    [`Ivan ${'x '.repeat(5_000)}`, 'too-long'],
  ] as const)('%j', (name, problem) => {
    expect(screening.screen({ name }, DEFAULT_THRESHOLD)).toEqual({ hits: [], problem })
  })

  test('a single Han character is a name', () => expect(readName('王', 'person').problem).toBeNull())

  test('has a problem from the first word, letter or character over a limit', () => {
    const syllables = [...'bcdfghjklmnprstvz'].map((letter, at) => `${letter}a${'ktnrl'[at % 5]}o`)
    const problemOf = (name: string) => readName(name, 'person').problem
    expect([16, 17].map((count) => problemOf(syllables.slice(0, count).join(' ')))).toEqual([null, 'too-many-words'])
    const letters = syllables.join('')
    expect([32, 33].map((length) => problemOf(letters.slice(0, length)))).toEqual([null, 'long-word'])
    const text = (length: number): string => `Ivan Petrov${' '.repeat(length - 11)}`
    expect([400, 401].map((length) => problemOf(`${text(length - 1)}x`))).toEqual([null, 'too-long'])
  })

  test.each([
    [4, 'on the list', false],
    [5, 'on the list', true],
    [32, 'on the list', true],
    [32, 'in the name', true],
    [33, 'in the name', false],
  ])('%d letters in two words %s are found when they are written together: %p', (length, place, isFound) => {
    const letters = 'bokarimuzetalonuvidegupaselimotibazu'.slice(0, length)
    const apart = `${letters.slice(0, 2)} ${letters.slice(2)}`
    const [listed, name] = place === 'on the list' ? [apart, letters] : [letters, apart]
    const names = screeningOfNames([listed])
    expect(names.screen({ name }, DEFAULT_THRESHOLD).hits.length > 0).toBe(isFound)
  })

  test('any text gets a result, and no name has more than a few words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: NAME_LENGTH_MAX + 10 }), (name) => {
        const { hits } = screening.screen({ name }, DEFAULT_THRESHOLD)
        expect(hits.every(({ score }) => score >= DEFAULT_THRESHOLD && score <= 100)).toBe(true)
        expect(readName(name, 'person').words.length).toBeLessThanOrEqual(16)
      }),
      { numRuns: 150 },
    )
  })
})

describe('edit distance', () => {
  const slowly = (left: string, right: string): number => {
    const rows = Array.from({ length: left.length + 1 }, (_, i) =>
      Array.from({ length: right.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
    )
    for (let i = 1; i <= left.length; i++) {
      for (let j = 1; j <= right.length; j++) {
        const same = left[i - 1] === right[j - 1] ? 0 : 1
        const least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same)
        const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
        rows[i]![j] = swapped ? Math.min(least, rows[i - 2]![j - 2]! + 1) : least
      }
    }
    return rows[left.length]![right.length]!
  }

  test('equals the distance of the table algorithm for up to 32 letters', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 32 })
    fc.assert(
      fc.property(word, word, (left, right) => {
        const bytes = new TextEncoder().encode(right)
        expect(distanceFrom(new TextEncoder().encode(left))(bytes, 0, bytes.length, 32)).toBe(slowly(left, right))
      }),
      { numRuns: 500 },
    )
  })
})
