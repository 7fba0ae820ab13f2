// Check digits. Source: ICAO 9303-3 §4.9: weights 7, 3, 1; digits count as their value, A to Z as 10 to 35, fillers as
// 0.

const WEIGHTS = [7, 3, 1] as const

const weightOf = (character: string): number => {
  const digit = '0123456789'.indexOf(character)
  if (digit !== -1) return digit
  return character >= 'A' && character <= 'Z' ? character.charCodeAt(0) - 55 : 0
}

export const checkDigitOf = (text: string): string => {
  let sum = 0
  for (let at = 0; at < text.length; at++) sum += weightOf(text[at] ?? '') * (WEIGHTS[at % 3] ?? 0)
  return String(sum % 10)
}
