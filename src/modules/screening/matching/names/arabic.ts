// Words in Arabic script, including Persian, Pashto and Urdu: no short vowels, several Latin spellings per letter, and
// two-word names that Latin may join (`نصر الله`, Nasrallah).
import { createAbjad } from './abjad.ts'
import type { Skeleton } from './consonants.ts'

export interface ArabicWord {
  readonly text: string
  /** Empty for a word with a known Latin spelling. */
  readonly skeletons: readonly Skeleton[]
}

const FORMS: Readonly<Record<string, string>> = {
  أ: 'ا',
  إ: 'ا',
  آ: 'ا',
  ٱ: 'ا',
  ى: 'ي',
  ی: 'ي',
  ے: 'ي',
  ې: 'ي',
  ۍ: 'ي',
  ئ: 'ي',
  ؤ: 'و',
  ۆ: 'و',
  ۇ: 'و',
  ۈ: 'و',
  ۋ: 'و',
  ێ: 'ي',
  ڕ: 'ر',
  ڵ: 'ل',
  ۃ: 'ة',
  ۓ: 'ي',
  ک: 'ك',
  ڪ: 'ك',
  ګ: 'گ',
  ہ: 'ه',
  ۂ: 'ه',
  ھ: 'ه',
  ە: 'ه',
  ۀ: 'ه',
  ء: 'ع',
}

/** A, W and Y are long vowels; E is an optional letter. */
const ABJAD = createAbjad(
  `ا A;ع E;و W v;ي Y;ب b p;پ p b;ت t;ة A t;ە A -;ث t s;ج j g;چ C s;ح h;خ h k;د d;ذ d z;ر r;ز z;ژ z j;س s;ش s C;ص s;ض d z;ط t;ظ z d t;
  غ g;ف f v;ق k g;ك k;گ g k;ل l;م m;ن n;ه h;ۀ h -;ټ t;ٹ t;ځ z j;څ s C;ډ d;ڈ d;ړ r;ڑ r;ږ z g;ښ s h;ڼ n;ں n;ڤ v;ڨ g;ڭ g`,
  'AWYE',
)

/** Latin spellings as in words.ts. */
const KNOWN: ReadonlyMap<string, string> = new Map(
  `
  عبد abdul; بن bin; ابن ibn; بنت bint; ولد ould; ال al; ابو abu; ابي abi; ام umm; الله allah; علي ali; طه taha; عيسي isa
  ملا mullah; مولوي mawlawi; قاري qari; حاجي haji; الحاج haji; حاج haji; شيخ sheikh; سيد sayed; سيدي sidi; دكتور dr; خان khan
  محمد muhammad; احمد ahmad; يوسف yusuf; ابراهيم ibrahim; حسين husayn; حسن hasan; اسامه usama; عمر umar; عثمان uthman
  يحيي yahya; سليمان sulayman; اسماعيل ismail; مصطفي mustafa; جمال jamal; خالد khalid
`
    .trim()
    .split(/\s*[;\n]\s*/)
    .map((row) => row.split(' '))
    .map(([arabic = '', latin = '']) => [arabic, latin]),
)

const SERVANT = 'عبد'
const FATHER = 'ابو'
const GOD = 'الله'
const FAITH = 'الدين'
/** Misspellings of "God" after "servant". */
const GOD_MISSPELT = /^او?ل[هة]$/
/** "And" or the article as a prefix. */
const ARTICLE = /^و?ال(?=..)/u
/** Second words that Latin joins to the first. */
const JOINED_SECOND: ReadonlySet<string> = new Set([
  GOD,
  FAITH,
  'الرحمن',
  'الرحمان',
  'الحق',
  'الاسلام',
  'خيل',
  'زاده',
  'جان',
])
/** First words that may be joined to the second. */
const PREFIXES: readonly string[] = [SERVANT, FATHER, 'محمد', 'علي', 'امير', 'غلام']
const PREFIXED_MIN = 6

const normalized = (piece: string): string => [...piece].map((letter) => FORMS[letter] ?? letter).join('')

export const isArabicLetterRead = (letter: string): boolean => ABJAD.isRead(FORMS[letter] ?? letter)

interface Part {
  readonly text: string
  /** How Latin may join this part to the next. */
  readonly joins: 'prefix' | 'suffix' | null
}

const splitPiece = (piece: string): readonly string[] => {
  for (const prefix of PREFIXES) {
    if (piece.startsWith(prefix) && piece.length >= PREFIXED_MIN) return [prefix, piece.slice(prefix.length)]
  }
  for (const suffix of JOINED_SECOND) {
    if (piece.endsWith(suffix) && piece.length > suffix.length + 1) return [piece.slice(0, -suffix.length), suffix]
  }
  return [piece]
}

const partsOf = (pieces: readonly string[]): readonly Part[] => {
  const texts = pieces
    .map(normalized)
    .flatMap(splitPiece)
    .map((text, at, all) => (all[at - 1] === SERVANT && GOD_MISSPELT.test(text) ? GOD : text))
  return texts.map((text, at) => {
    const next = texts[at + 1]
    if (next === undefined) return { text, joins: null }
    if (JOINED_SECOND.has(next) && (text !== SERVANT || next === GOD)) return { text, joins: 'suffix' }
    return { text, joins: text !== SERVANT && PREFIXES.includes(text) ? 'prefix' : null }
  })
}

/** A vowel or silent, as is the Persian h before `ای`. After some consonants, Latin writes a digraph. */
const FINAL_H = /ه$/
const MAYBE_SILENT = /ح$|ه(?=اي$)|(?<=[تدذزسشصضطظقكگ])[هح]/g

const heard = (letters: string): string => letters.replace(FINAL_H, 'ە').replaceAll(MAYBE_SILENT, 'ۀ')
const skeletonsOf = (letters: string): readonly Skeleton[] => ABJAD.skeletonsOf(heard(letters))
export const hasMoreArabicReadings = (piece: string): boolean => ABJAD.hasMoreReadings(heard(normalized(piece)))

/** @param labelOf returns the Latin text to display */
const wordOf = (letters: string, labelOf: (text: string) => string): ArabicWord => {
  const known = KNOWN.get(letters)
  if (known !== undefined) return { text: known, skeletons: [] }
  const bare = letters.replace(ARTICLE, '')
  const article = bare === letters ? [] : skeletonsOf(`ل${bare}`)
  return {
    text: KNOWN.get(bare) ?? labelOf(bare),
    skeletons: KNOWN.has(bare) ? [] : [...skeletonsOf(bare), ...article],
  }
}

const joinedWord = (first: string, second: string, labelOf: (text: string) => string): ArabicWord => {
  const start = first.replace(ARTICLE, '')
  const end = second === GOD ? second : second.replace(ARTICLE, '')
  return { text: labelOf(start + end), skeletons: [...skeletonsOf(start + end), ...skeletonsOf(start + second)] }
}

const readParts = (
  parts: readonly Part[],
  labelOf: (text: string) => string,
  readWord: (text: string) => ArabicWord,
): readonly (readonly ArabicWord[])[] => {
  const readWith = (joined: readonly Part['joins'][]): readonly ArabicWord[] => {
    const words: ArabicWord[] = []
    for (let at = 0; at < parts.length; at++) {
      const { text, joins } = parts[at]!
      if (joins !== null && joined.includes(joins)) words.push(joinedWord(text, parts[++at]!.text, labelOf))
      else words.push(readWord(text))
    }
    return words
  }
  const hasSuffix = parts.some(({ joins }) => joins === 'suffix')
  const hasPrefix = parts.some(({ joins }) => joins === 'prefix')
  return [
    readWith(['suffix']),
    ...(hasSuffix ? [readWith([])] : []),
    ...(hasPrefix ? [readWith(['prefix', 'suffix'])] : []),
    ...(hasPrefix && hasSuffix ? [readWith(['prefix'])] : []),
  ]
}

type ArabicReader = (pieces: readonly string[]) => readonly (readonly ArabicWord[])[]

/** Caches words, because the ways to split a name share them. */
export const createArabicReader = (labelOf: (text: string) => string): ArabicReader => {
  const words = new Map<string, ArabicWord>()
  return (pieces) =>
    readParts(partsOf(pieces), labelOf, (text) => {
      const word = words.get(text) ?? wordOf(text, labelOf)
      words.set(text, word)
      return word
    })
}
