// Which language a visitor reads: the page asks its browser, and its server asks the request, to name the file with the
// words before the page's script has to ask for it.
import { LANGUAGES, type Language } from './contract.ts'

const known = (text: string | null): Language | null =>
  LANGUAGES.find((language) => language === text?.slice(0, 2).toLowerCase()) ?? null

/** The one chosen before, else the first of the browser's that there is, else English. */
export const preferredLanguage = (chosen: string | null, offered: readonly string[]): Language => {
  for (const language of [chosen, ...offered]) {
    const found = known(language)
    if (found !== null) return found
  }
  return 'en'
}

/** Browsers list what they like most first, whatever weights they add. Source: RFC 9110 §12.5.4. */
export const requestedLanguage = (headers: Headers): Language =>
  preferredLanguage(
    null,
    (headers.get('accept-language') ?? '').split(',').map((part) => part.trim()),
  )
