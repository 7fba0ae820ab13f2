// Chooses a visitor's language. The page reads it from the browser; the server reads it from the request, so that the
// HTML can already name the file with the language's words.
import { LANGUAGES, type Language } from './contract.ts'

const known = (text: string | null): Language | null =>
  LANGUAGES.find((language) => language === text?.slice(0, 2).toLowerCase()) ?? null

/** The language chosen before, otherwise the first of the browser's languages that exists here, otherwise English. */
export const preferredLanguage = (chosen: string | null, offered: readonly string[]): Language => {
  for (const language of [chosen, ...offered]) {
    const found = known(language)
    if (found !== null) return found
  }
  return 'en'
}

/** Ignores weights, because browsers list their languages in the order of preference. Source: RFC 9110 §12.5.4. */
export const requestedLanguage = (headers: Headers): Language =>
  preferredLanguage(
    null,
    (headers.get('accept-language') ?? '').split(',').map((part) => part.trim()),
  )
