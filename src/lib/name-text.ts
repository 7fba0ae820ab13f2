// Reads the text of a name into its words: the one reader of document checks and of screening, so that a spelling that the
// document check accepts is one that screening has compared. The lookalikes are those of UTS #39, "Confusable Detection".

export interface NamePiece {
  /** Letters, digits and marks (NFKC). */
  readonly text: string
  /** The word mixes scripts, or signs stand for its letters: `text` has the Latin letters that they look like. */
  readonly isDisguised: boolean
  /** The Latin letters that every letter of a word in another script looks like; null if one looks like none. */
  readonly lookalike: string | null
}

/** Each group: a Latin letter, then the letters that look like it, alphabet by alphabet. */
const LOOKALIKES = `
  a аАαΑᎪꓮա b ЬьвВβΒᏏᏴꓐ c сСϲϹᏟꓚⲤⲥ d ԁᎠꓓԀ e еЕєЄεΕᎬꓰ f ғҒᎰꓝϝ g ԍԌᏀᏻꓖցɢ h һҺнНΗᎻꓧհ i іІιΙᎥꓲӏӀ
  j јЈϳᎫꓙ k кКκΚᏦꓗⲔⲕ l ᏞꓡӏԼ m мМΜᎷꓟⲘⲙ n пПηΝᏁꓠոⲚⲛ o оОοΟσᎾᏫꓳօՕⲞⲟө p рРρΡᏢꓑⲢⲣ q ԛԚզ
  r гГᎡᏒꓣ s ѕЅᏚᏕꓢՏ t тТτΤᎢꓔ u υцսՍꓴᏌ v ѵѴνᏙꓦ w ԝԜωᎳᏔꓪա x хХχΧꓫ y уУүҮγΥᎽꓬ z ΖᏃꓜ
`
const LATIN_OF = new Map<string, string>()
for (const [, latin = '', letters = ''] of LOOKALIKES.matchAll(/([a-z]) (\S+)/g)) {
  for (const letter of letters) if (!LATIN_OF.has(letter)) LATIN_OF.set(letter, latin)
}

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
}

/** Marks of ownership, and the accent that NFKC would part words with. */
const DROPPED = /[®©™℠´]/g
const APOSTROPHES = /['’‘`ʹʻʼʾʿ]/g
/** Marks that say in which direction to write, and what joins or splits without being seen. */
const INVISIBLE = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u064b-\u065f\u0670\u0591-\u05c7\u0640]/gu
const WORDS = /[\p{L}\p{N}\p{M}\p{So}\p{Sc}@§!¡|]+/gu
const SIGN = /[\p{So}\p{Sc}@§!¡|]/gu
const OUTER_SIGNS = /^[\p{So}!¡|]+|[\p{So}!¡|]+$/gu
const IS_ASCII = /^[a-z0-9]*$/i
const HAS_LETTER = /\p{L}/u

/** Alphabets whose letters look like those of another. */
const ALPHABETS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu'].map((script) => ({
  some: new RegExp(`\\p{Script=${script}}`, 'u'),
  all: new RegExp(`^[\\p{Script=${script}}\\p{Script=Common}\\p{Script=Inherited}]*$`, 'u'),
}))

/** A letter with a mark looks like the letter; one that looks like no Latin letter stays. */
const asLatin = (text: string): string =>
  text.replaceAll(/\P{Script=Latin}/gu, (letter) => {
    const [plain = letter] = letter.normalize('NFD')
    return LATIN_OF.get(plain) ?? LATIN_OF.get(plain.toUpperCase()) ?? letter
  })

const toPiece = (written: string): NamePiece => {
  if (IS_ASCII.test(written)) return { text: written, isDisguised: false, lookalike: null }
  const bare = HAS_LETTER.test(written) ? written.replaceAll(OUTER_SIGNS, '') : written.replaceAll(SIGN, '')
  const text = bare.replaceAll(SIGN, (sign) => SIGNS[sign] ?? '')
  const isDisguised = text !== bare || ALPHABETS.some(({ some, all }) => some.test(text) && !all.test(text))
  const latin = asLatin(text)
  if (isDisguised) return { text: latin, isDisguised, lookalike: null }
  const looksLatin = latin !== text && ALPHABETS[0]?.all.test(latin) === true
  return { text, isDisguised, lookalike: looksLatin ? latin : null }
}

/** @returns the name's words in order, without apostrophes and what can't be seen */
export const readNameText = (name: string): readonly NamePiece[] => {
  const text = name.replaceAll(DROPPED, '').normalize('NFKC').replaceAll(APOSTROPHES, '').replaceAll(INVISIBLE, '')
  return (text.match(WORDS) ?? []).map(toPiece).filter((piece) => piece.text !== '')
}
