// Splits the text of a name into words for document checks and screening. Screening has therefore compared every
// spelling that a document check accepts. Lookalikes are from UTS #39, "Confusable Detection".

export interface NamePiece {
  readonly text: string
  /** True if the word mixes scripts, contains signs for letters, or is unreadable. `text` then has Latin lookalikes. */
  readonly isDisguised: boolean
  /** Latin lookalikes of all letters and digits; null if a letter has no lookalike, or all are Latin. */
  readonly lookalike: string | null
  /** Punctuation between this piece and the previous piece, as in `Jean-Luc`; empty if a space separates them. */
  readonly joint: string
}

/** Groups of a Latin letter and its lookalikes, alphabet by alphabet. */
const LOOKALIKES = `
  a аАαΑᎪꓮա b ЬьвВβΒᏏᏴꓐ c сСϲϹᏟꓚⲤⲥ d ԁᎠꓓԀ e еЕєЄεΕᎬꓰ f ғҒᎰꓝϝ g ԍԌᏀᏻꓖցɢ h һҺнНΗᎻꓧհ i іІιΙᎥꓲӏӀ
  j јЈϳᎫꓙ k кКκΚᏦꓗⲔⲕ l ᏞꓡӏԼ m мМΜᎷꓟⲘⲙ n пПηΝᏁꓠոⲚⲛ o оОοΟσᎾᏫꓳօՕⲞⲟө p рРρΡᏢꓑⲢⲣ q ԛԚզ
  r гГᎡᏒꓣ s ѕЅᏚᏕꓢՏ t тТτΤᎢꓔ u υцսՍꓴᏌ v ѵѴνᏙꓦ w ԝԜωᎳᏔꓪա x хХχΧꓫ y уУүҮγΥᎽꓬ z ΖᏃꓜ
`
const LATIN_OF = new Map<string, string>()
for (const [, latin = '', letters = ''] of LOOKALIKES.matchAll(/([a-z]) (\S+)/g)) {
  for (const letter of letters) if (!LATIN_OF.has(letter)) LATIN_OF.set(letter, latin)
}

/** First of 26 letters each: in filled circles, in filled squares, and regional indicators. NFKC keeps them. */
const BOXED_STARTS = [0x1f150, 0x1f170, 0x1f1e6]
const SIGNS: Readonly<Record<string, string>> = {
  '@': 'a',
  $: 's',
  '€': 'e',
  '£': 'l',
  '¢': 'c',
  '¥': 'y',
  '§': 's',
  '!': 'i',
  '¡': 'i',
  '|': 'l',
  '∀': 'a',
  '∅': 'o',
  ...Object.fromEntries(
    BOXED_STARTS.flatMap((start) =>
      [...'abcdefghijklmnopqrstuvwxyz'].map((letter, at) => [String.fromCodePoint(start + at), letter]),
    ),
  ),
}

/** Trademark and copyright signs, and the accent at which NFKC would split words. */
const DROPPED = /[®©™℠´]/g
const APOSTROPHES = /['’‘`ʹʻʼʾʿ]/g
/** Characters without a shape of their own: direction marks, joiners, lengthening strokes and the like. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u0640]/gu
/**
 * Accents, vowel points and similar marks. Screening would transliterate some as letters; other scripts need marks as
 * vowels.
 */
const SEPARATE_MARKS = new RegExp(
  `[\\p{M}&&[${'Inherited Common Latin Cyrillic Greek Coptic Hebrew Arabic Han Hangul'
    .split(' ')
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]]`,
  'gv',
)
/** Letters in the form of marks, which names do not contain. */
const MARKS_FOR_LETTERS = /[\u0363-\u036f\u1dd3-\u1df4\u2de0-\u2dff\ua674-\ua67b\ua69e\ua69f\u{1e08f}]/gu
/** Empty brackets and circles look like the letter O. */
const ROUND = /\(\s*\)|\[\s*\]|\{\s*\}|[○◌●◦◯⚪⚬⭕⭘]/gu
const PUNCTUATION_IN_WORD = /(?<=[\p{L}\p{M}\p{N}])[\p{P}--[@§!¡¿?*#%\\]]+(?=[\p{L}\p{N}])/gv
/** Punctuation that joins the words of names, and script-specific punctuation. */
const JOINING = /^[\p{Pd}.·‧・•\/\&[\P{Script=Common}]]+$/v
const WORDS = /[[\p{L}\p{N}\p{M}\p{So}\p{Sc}\p{Sm}@§!¡¿?*#%\\^]--[+]]+/gv
const SIGN = /[\p{So}\p{Sc}\p{Sm}@§!¡¿?*#%\\^]/gu
const BOXED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu
const OUTER_SIGNS = /^[\p{So}!¡¿?#]+|[\p{So}!¡¿?#]+$/gu
const IS_PLAIN = /^(?:[a-z]*|[0-9]*)$/i
const HAS_LETTER = /\p{L}/u
const HAS_SPACE = /\s/

/** Scripts that look like another script or are read differently. Han, Hiragana and Katakana count as one. */
const SCRIPTS = [
  ...[
    'Latin',
    'Cyrillic',
    'Greek',
    'Armenian',
    'Georgian',
    'Cherokee',
    'Coptic',
    'Lisu',
    'Hangul',
    'Arabic',
    'Hebrew',
  ].map((script) => `\\p{Script=${script}}`),
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}',
].map((letters) => ({
  some: new RegExp(`[${letters}]`, 'u'),
  all: new RegExp(`^[${letters}\\p{Script=Common}\\p{Script=Inherited}]*$`, 'u'),
}))
const [LATIN] = SCRIPTS
/** A word with two of these scripts, or with one of them and digits, is split. */
const OWN_READING = ['Han', 'Hangul', 'Arabic', 'Hebrew', 'Hiragana', 'Katakana'].map(
  (script) => `\\p{Script=${script}}`,
)
const RUNS = new RegExp(
  [...OWN_READING.map((script) => `[${script}\\p{M}ー]+`), `[^${OWN_READING.join('')}]+`].join('|'),
  'gu',
)
const EAST_ASIAN = /^[\p{Script=Han}\p{Script=Hangul}\P{L}]+$/u
const UNREADABLE = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u
/** Non-ASCII Latin letters of names. Others, such as clicks, tones and turned letters, look like different letters. */
const NAME_LETTERS = 'æœøđðþßłħıŋȷŧǥəǝɓɖɗƒɣƙɛɔƴɲʋɩʊƥƭɦɨʉẞ'
const ODD_LATIN = new RegExp(`[\\p{Script=Latin}--[a-zA-Z${NAME_LETTERS}${NAME_LETTERS.toUpperCase()}]]`, 'v')
/** Letters that belong to no script, except the long vowel mark of Japanese. */
const COMMON_LETTERS = /[[\p{L}&&\p{Script=Common}]--[ー]]/v
const TRANSLITERATED = new RegExp(
  `^[\\P{L}${`Common Inherited Latin Cyrillic Greek Armenian Georgian Hebrew Arabic Syriac Thaana Nko Ethiopic Tifinagh Devanagari
  Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Khmer Mongolian Javanese
  Balinese Han Hangul Hiragana Katakana Bopomofo`
    .split(/\s+/)
    .map((script) => `\\p{Script=${script}}`)
    .join('')}]*$`,
  'u',
)

/** Letters that the digits 0 to 9 resemble. */
const LETTERS_OF_DIGITS = 'oizeasgtbg'

/** Replaces letters by their Latin lookalikes. Ignores marks, and keeps letters without a lookalike. */
const asLatin = (text: string): string =>
  text.replaceAll(/\P{Script=Latin}/gu, (letter) => {
    if (letter >= '0' && letter <= '9') return LETTERS_OF_DIGITS[Number(letter)] ?? letter
    const [plain = letter] = letter.normalize('NFD')
    return LATIN_OF.get(plain) ?? LATIN_OF.get(plain.toUpperCase()) ?? letter
  })

const toPieces = (written: string): readonly Omit<NamePiece, 'joint'>[] => {
  if (IS_PLAIN.test(written)) return [{ text: written, isDisguised: false, lookalike: null }]
  const boxed = written.replaceAll(BOXED, (letter) => SIGNS[letter] ?? letter)
  const hasLetter = HAS_LETTER.test(boxed)
  const bare = hasLetter ? boxed.replaceAll(OUTER_SIGNS, '') : boxed
  const signs = bare.match(SIGN)?.length ?? 0
  const isDecorated = signs === 1 && !hasLetter
  const text = bare.replaceAll(SIGN, (sign) => (isDecorated ? '' : (SIGNS[sign] ?? '')))
  const isDisguised =
    boxed !== written ||
    (signs > 0 && !isDecorated) ||
    UNREADABLE.test(text) ||
    ODD_LATIN.test(text.normalize('NFD')) ||
    COMMON_LETTERS.test(text) ||
    !TRANSLITERATED.test(text) ||
    SCRIPTS.some(({ some, all }) => some.test(text) && !all.test(text))
  const latin = asLatin(text)
  const looksLatin = !isDisguised && HAS_LETTER.test(text) && latin !== text && LATIN?.all.test(latin) === true
  if (isDisguised && !EAST_ASIAN.test(text)) return [{ text: latin, isDisguised, lookalike: null }]
  const runs = text.match(RUNS) ?? []
  return runs.map((run) => ({ text: run, isDisguised, lookalike: looksLatin ? latin : null }))
}

/**
 * Returns the words in order, without apostrophes, invisible characters or separate marks. An unreadable word may be
 * empty.
 */
export const readNameText = (name: string): readonly NamePiece[] => {
  const text = name
    .replaceAll(DROPPED, '')
    .normalize('NFKC')
    .replaceAll(APOSTROPHES, '')
    .replaceAll(INVISIBLE, '')
    .replaceAll(MARKS_FOR_LETTERS, '*')
    .replaceAll(SEPARATE_MARKS, '')
    .replaceAll(ROUND, '∅')
    .replaceAll(PUNCTUATION_IN_WORD, (signs) => (JOINING.test(signs) ? signs : '*'))
  let end = 0
  return [...text.matchAll(WORDS)].flatMap(({ 0: word, index }) => {
    const between = end === 0 ? '' : text.slice(end, index)
    end = index + word.length
    const joint = HAS_SPACE.test(between) ? '' : between
    return toPieces(word).map((piece, at) => ({ ...piece, joint: at === 0 ? joint : '' }))
  })
}
