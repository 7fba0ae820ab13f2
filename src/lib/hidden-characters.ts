// Invisible characters, and characters that reorder text: they can make a text look like another text. Sources: Unicode
// TR36, TR39; for joiners, TR31 §2.3.

/** Letters that connect to the next or to the previous letter (Joining_Type in ArabicShaping.txt). */
const CONNECTS_TO_NEXT = String.raw`[[\p{Script=Arabic}&&\p{L}]--[\u0621-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06e5\u06e6\u06ee\u06ef\u0759-\u075b\u076b\u076c\u0771\u0773\u0774\u0778\u0779\u0870-\u0885\u0887\u088e\u08aa-\u08ae\u08b1\u08b2\u08b9\u08c9\ufb50-\ufefc]]`
const CONNECTS_TO_PREVIOUS = String.raw`[[\p{Script=Arabic}&&\p{L}]--[\u0621\u0674\u06e5\u06e6\u0883-\u0885\u0887\u08ad\u08c9\ufb50-\ufefc]]`
/** Virama of each script: the mark that removes a vowel. */
const VIRAMAS = {
  Devanagari: '\u094d',
  Bengali: '\u09cd',
  Gurmukhi: '\u0a4d',
  Gujarati: '\u0acd',
  Oriya: '\u0b4d',
  Tamil: '\u0bcd',
  Telugu: '\u0c4d',
  Kannada: '\u0ccd',
  Malayalam: '\u0d4d',
  Sinhala: '\u0dca',
}
/** Joiners (U+200C and U+200D) that visibly change their neighbors, as in Persian and the scripts of India. */
const VISIBLE_JOINERS = [
  String.raw`(?<=${CONNECTS_TO_NEXT}\p{M}{0,3})\u200c(?=${CONNECTS_TO_PREVIOUS})`,
  ...Object.entries(VIRAMAS).map(
    ([script, virama]) =>
      String.raw`(?<=[\p{Script=${script}}&&\p{L}]\p{M}{0,3}${virama})[\u200c\u200d](?=[\p{Script=${script}}&&\p{L}])`,
  ),
  // Ya-phalaa of Bengali, ra before another letter in Kannada, and final consonants of Malayalam.
  String.raw`(?<=\u09b0)\u200d(?=\u09cd\u09af)`,
  String.raw`(?<=\u0cb0)\u200d(?=\u0ccd[\p{Script=Kannada}&&\p{L}])`,
  String.raw`(?<=[\u0d15\u0d23\u0d28\u0d30\u0d32\u0d33]\u0d4d)\u200d(?!\p{M})`,
].join('|')

/**
 * Controls, format characters, line and paragraph separators, surrogates, ignorable characters, and the blank Braille
 * pattern. Excludes emoji selectors after pictograms, which have a visible effect.
 */
const CHARACTERS = String.raw`(?!(?<=\p{Extended_Pictographic})\ufe0f|${VISIBLE_JOINERS})[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]`
const HIDDEN = new RegExp(CHARACTERS, 'gv')
const HIDDEN_IN_LINES = new RegExp(String.raw`(?![\n\r\t])${CHARACTERS}`, 'gv')

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) as number).toString(16)}}`

export const hasHidden = (text: string): boolean => text.search(HIDDEN) !== -1

export const replaceHidden = (text: string, replacement: string): string => text.replaceAll(HIDDEN, replacement)

/** Returns the UTF-16 offset of the first hidden character in a multi-line text, or -1. */
export const indexOfHidden = (text: string): number => text.search(HIDDEN_IN_LINES)

export const revealHidden = (text: string): string => text.replaceAll(HIDDEN_IN_LINES, escaped)
