// Which language the page speaks: the one chosen here before, else the first of the browser's that there is. English is
// always there; others are loaded when they are needed.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { LANGUAGES, type Language } from '../contract.ts'
import { english, type Messages } from './messages/english.ts'

const STORAGE_KEY = 'portal-language'

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

export interface Speech {
  readonly language: Language
  readonly messages: Messages
  readonly change: (language: Language) => void
}

const known = (text: string | null | undefined): Language | null =>
  LANGUAGES.find((language) => language === text?.slice(0, 2).toLowerCase()) ?? null

/** Storage may be forbidden; then the choice lasts as long as the page. */
const stored = (): string | null => {
  try {
    return localStorage.getItem(STORAGE_KEY)
  } catch {
    return null
  }
}

export const rememberLanguage = (language: Language): void => {
  try {
    localStorage.setItem(STORAGE_KEY, language)
  } catch {
    // Not kept: the browser's own language is used next time.
  }
}

export const preferredLanguage = (chosen: string | null, offered: readonly string[]): Language => {
  const kept = known(chosen)
  if (kept !== null) return kept
  for (const language of offered) {
    const found = known(language)
    if (found !== null) return found
  }
  return 'en'
}

export const startLanguage = (): Language => preferredLanguage(stored(), navigator.languages)

/** English when the other can't be loaded: words in the wrong language are better than none. */
export const loadMessages = async (language: Language): Promise<Messages> => {
  if (language === 'en') return english
  try {
    return (await import('./messages/german.ts')).german
  } catch {
    return english
  }
}

export const SpeechContext = createContext<Speech>({ language: 'en', messages: english, change: () => undefined })

export const useSpeech = (): Speech => useContext(SpeechContext)
export const useMessages = (): Messages => useContext(SpeechContext).messages
