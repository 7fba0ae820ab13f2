// Variants of listed names: typing errors, abbreviations, and other alphabets.
import anyAscii from 'any-ascii'
import type { ListedEntry } from '../../../src/modules/screening/matching/entry.ts'

/** Mulberry32, a seeded random generator. */
export const createRandom = (seed: number): (() => number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export interface Variant {
  readonly name: string
  /** Whether it applies only to the primary name, not to aliases. */
  readonly ofPrimary: boolean
  readonly ofCompanies: boolean
  suits(entry: ListedEntry): boolean
  /** Returns null if the name has no such variant. */
  write(name: string, random: () => number, entry: ListedEntry): string | null
}

const ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm']
const neighborOf = (letter: string, random: () => number): string => {
  const row = ROWS.find((keys) => keys.includes(letter)) ?? ''
  const at = row.indexOf(letter)
  const near = [row[at - 1], row[at + 1]].filter((key) => key !== undefined)
  return near[Math.floor(random() * near.length)] ?? 'e'
}

/** Omits a key, doubles it, replaces it with a neighbor on the keyboard, or swaps it with the next. */
const mistype = (text: string, random: () => number): string => {
  const places = [...text].flatMap((letter, at) => (/[a-z]/i.test(letter) ? [at] : []))
  const at = places[Math.floor(random() * places.length)]
  if (at === undefined) return text
  const [before, letter, after] = [text.slice(0, at), text[at] ?? '', text.slice(at + 1)]
  switch (Math.floor(random() * 4)) {
    case 0:
      return before + after
    case 1:
      return before + letter + letter + after
    case 2:
      return before + neighborOf(letter.toLowerCase(), random) + after
    default:
      return after === ''
        ? before + neighborOf(letter.toLowerCase(), random)
        : before + after[0] + letter + after.slice(1)
  }
}

/** Pairs of Latin letters and their transliteration. */
const lettersOf = (pairs: string, unwritten: readonly string[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...pairs.matchAll(/(\S+) (\S+)/g).map(([, latin, written]) => [latin, written]),
    ...unwritten.map((letter) => [letter, '']),
  ])
const CYRILLIC = lettersOf(
  `
  shch щ  sh ш  ch ч  kh х  zh ж  ts ц  ya я  yu ю  iy ий  yy ый
  a а  b б  c к  d д  e е  f ф  g г  h х  i и  j дж  k к  l л  m м
  n н  o о  p п  q к  r р  s с  t т  u у  v в  w в  x кс  y ы  z з
`,
)
const GREEK = lettersOf(
  `
  th θ  ph φ  ch χ  kh χ  ps ψ  ou ου  sh σ
  a α  b μπ  c κ  d ντ  e ε  f φ  g γκ  h χ  i ι  j τζ  k κ  l λ  m μ
  n ν  o ο  p π  q κ  r ρ  s σ  t τ  u ου  v β  w ου  x ξ  y ι  z ζ
`,
)
const ARABIC = lettersOf(
  `
  sh ش  ch ش  kh خ  th ث  dh ذ  gh غ  ay ي  ey ي  ee ي  oo و  ou و  aw و
  b ب  c ك  d د  f ف  g ج  h ه  i ي  j ج  k ك  l ل  m م  n ن
  o و  p ب  q ق  r ر  s س  t ت  u و  v ف  w و  y ي  z ز
`,
  ['a', 'e'],
)

const inLetters = (word: string, letters: Readonly<Record<string, string>>): string => {
  let written = ''
  for (let at = 0; at < word.length; ) {
    const found = [4, 2, 1].map((length) => word.slice(at, at + length)).find((piece) => Object.hasOwn(letters, piece))
    written += found === undefined ? (word[at] ?? '') : letters[found]
    at += found?.length ?? 1
  }
  return written
}

const transliterated = (name: string, letters: Readonly<Record<string, string>>): string =>
  anyAscii(name)
    .toLowerCase()
    .replaceAll(/['`]/g, '')
    .split(/\s+/)
    .map((word) => inLetters(word, letters))
    .join(' ')

const inArabicWord = (word: string): string => {
  const beginning = /^[aeiou]/.test(word) ? 'ا' : ''
  return beginning + inLetters(word.replaceAll(/(.)\1/g, '$1'), ARABIC).replace(/ه$/, 'ة')
}

const inArabic = (name: string): string =>
  anyAscii(name)
    .toLowerCase()
    .replaceAll(/['`]/g, '')
    .split(/[\s-]+/)
    .map((word) => {
      if (word === 'al' || word === 'el') return 'ال'
      const servant = /^abd(?:[aeiou]l)?(?=[a-z]{4}|$)/.exec(word)?.[0]
      if (servant !== undefined) return `عبد ${inArabicWord(word.slice(servant.length))}`.trim()
      return inArabicWord(word)
    })
    .join(' ')
    .replaceAll('ال ', 'ال')

/** Syllable → a character with this reading. */
const SIGNS = new Map<string, string>()
for (let code = 0x4e00; code <= 0x9fa5; code++) {
  const sign = String.fromCodePoint(code)
  const syllable = anyAscii(sign).toLowerCase()
  if (!SIGNS.has(syllable)) SIGNS.set(syllable, sign)
}

const syllablesOf = (word: string): readonly string[] | null => {
  if (word === '') return []
  for (let length = Math.min(6, word.length); length > 0; length--) {
    const sign = SIGNS.get(word.slice(0, length))
    const rest = sign === undefined ? null : syllablesOf(word.slice(length))
    if (sign !== undefined && rest !== null) return [sign, ...rest]
  }
  return null
}

/** The family name is first and without spaces; lists publish it last. */
const inHan = (name: string): string | null => {
  const words = anyAscii(name)
    .toLowerCase()
    .split(/[\s-]+/)
  const [family = '', ...given] = [words.at(-1) ?? '', ...words.slice(0, -1)]
  const signs = [syllablesOf(family), syllablesOf(given.join(''))]
  const [first, second] = signs
  if (first?.length !== 1 || second == null || second.length < 1 || second.length > 2) return null
  return [...first, ...second].join('')
}

const ARAB_COUNTRIES = new Set('AE BH DZ EG IQ JO KW LB LY MA OM PS QA SA SD SY TN YE'.split(' '))
const SLAVIC_COUNTRIES = new Set(['RU', 'BY', 'UA', 'BG', 'RS', 'KZ'])
const anyOf = (countries: ReadonlySet<string>) => (entry: ListedEntry) =>
  entry.countries.some((code) => countries.has(code))
const anyEntry = (): boolean => true

const lettersIn = (name: string): number => name.replaceAll(/[^a-z]/gi, '').length
/** Shorter names with a typing error are different names. */
const ONE_KEY_MIN = 6
const TWO_KEYS_MIN = 10

export const VARIANTS: readonly Variant[] = [
  {
    name: 'alias as listed',
    ofPrimary: false,
    ofCompanies: true,
    suits: anyEntry,
    write: (name) => (lettersIn(name) < 2 ? null : name.toUpperCase()),
  },
  {
    name: 'swapped words',
    ofPrimary: false,
    ofCompanies: false,
    suits: anyEntry,
    write: (name) => {
      const [first = '', ...others] = name.split(' ')
      return others.length === 0 ? null : `${others.join(' ')}, ${first}`
    },
  },
  {
    name: 'one key wrong',
    ofPrimary: false,
    ofCompanies: true,
    suits: anyEntry,
    write: (name, random) => (lettersIn(name) < ONE_KEY_MIN ? null : mistype(name, random)),
  },
  {
    name: 'two keys wrong',
    ofPrimary: false,
    ofCompanies: true,
    suits: anyEntry,
    write: (name, random) => (lettersIn(name) < TWO_KEYS_MIN ? null : mistype(mistype(name, random), random)),
  },
  {
    name: 'given name as initial',
    ofPrimary: true,
    ofCompanies: false,
    suits: anyEntry,
    write: (name) => {
      const [first = '', ...others] = name.split(' ')
      const initial = /[a-z]/i.exec(first)?.[0]
      return others.length === 0 || initial === undefined || first.includes('-')
        ? null
        : `${initial}. ${others.join(' ')}`
    },
  },
  {
    name: 'in Cyrillic',
    ofPrimary: true,
    ofCompanies: false,
    suits: anyOf(SLAVIC_COUNTRIES),
    write: (name) => transliterated(name, CYRILLIC),
  },
  {
    name: 'in Greek',
    ofPrimary: true,
    ofCompanies: false,
    suits: anyOf(SLAVIC_COUNTRIES),
    write: (name) => transliterated(name, GREEK),
  },
  {
    name: 'in Arabic',
    ofPrimary: true,
    ofCompanies: false,
    suits: anyOf(ARAB_COUNTRIES),
    write: (name) => inArabic(name),
  },
  { name: 'in Han', ofPrimary: true, ofCompanies: false, suits: anyOf(new Set(['CN'])), write: (name) => inHan(name) },
]
