// Characters that people can't see, or that change the order of the text around them. A text with one of them can look like
// another text. Source: Unicode TR36 (security considerations) and TR39 (security mechanisms).

/**
 * Controls, format characters (bidirectional ones included), line and paragraph separators, halves of characters, characters
 * that fonts leave out, and the blank Braille pattern. A pictogram may have its emoji selector, which can be seen.
 */
const CHARACTERS = String.raw`(?!(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]`
const HIDDEN = new RegExp(CHARACTERS, 'gu')
const HIDDEN_IN_LINES = new RegExp(String.raw`(?![\n\r\t])${CHARACTERS}`, 'gu')

const escaped = (character: string): string => `\\u{${(character.codePointAt(0) as number).toString(16)}}`

export const hasHidden = (text: string): boolean => text.search(HIDDEN) !== -1

export const replaceHidden = (text: string, replacement: string): string => text.replaceAll(HIDDEN, replacement)

/** The UTF-16 offset of the first hidden character of a text of several lines; -1 if there is none. */
export const indexOfHidden = (text: string): number => text.search(HIDDEN_IN_LINES)

/** Escapes hidden characters as `\u{202e}`, except for line ends and tabs. */
export const revealHidden = (text: string): string => text.replaceAll(HIDDEN_IN_LINES, escaped)
