// Used by the page and by the server, whose HTML already refers to the language file.
import { LANGUAGES, type Language } from './contract.ts'

const known = (text: string | null): Language | null =>
  LANGUAGES.find((language) => language === text?.slice(0, 2).toLowerCase()) ?? null

/** Returns the earlier choice, else the first supported language of the browser, else English. */
export const preferredLanguage = (chosen: string | null, offered: readonly string[]): Language => {
  for (const language of [chosen, ...offered]) {
    const found = known(language)
    if (found !== null) return found
  }
  return 'en'
}

/** Ignores weights, because browsers list languages in order of preference (RFC 9110 §12.5.4). */
export const requestedLanguage = (headers: Headers): Language =>
  preferredLanguage(
    null,
    (headers.get('accept-language') ?? '').split(',').map((part) => part.trim()),
  )
