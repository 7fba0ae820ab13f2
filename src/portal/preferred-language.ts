// Selects a visitor's language. The page uses the browser's settings; the server uses the request, so that the HTML can
// already reference the language file.
import { LANGUAGES, type Language } from './contract.ts'

const known = (text: string | null): Language | null =>
  LANGUAGES.find((language) => language === text?.slice(0, 2).toLowerCase()) ?? null

/** Returns the language chosen earlier, otherwise the first supported language of the browser, otherwise English. */
export const preferredLanguage = (chosen: string | null, offered: readonly string[]): Language => {
  for (const language of [chosen, ...offered]) {
    const found = known(language)
    if (found !== null) return found
  }
  return 'en'
}

/** Ignores weights, because browsers list languages in the order of preference. Source: RFC 9110 §12.5.4. */
export const requestedLanguage = (headers: Headers): Language =>
  preferredLanguage(
    null,
    (headers.get('accept-language') ?? '').split(',').map((part) => part.trim()),
  )
