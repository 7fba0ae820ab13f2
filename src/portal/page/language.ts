// Selects the page's language and loads only its texts.
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Language } from '../contract.ts'
import { preferredLanguage } from '../preferred-language.ts'
import type { Messages } from './messages/english.ts'

const STORAGE_KEY = 'portal-language'

export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', de: 'Deutsch' }

export interface Speech {
  readonly language: Language
  readonly messages: Messages
  readonly change: (language: Language) => void
}

/** If storage is blocked, the choice lasts until the page is closed. */
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
    // The choice isn't stored, so the browser's language is used next time.
  }
}

export const startLanguage = (): Language => preferredLanguage(stored(), navigator.languages)

const LOADERS: Readonly<Record<Language, () => Promise<Messages>>> = {
  en: async () => (await import('./messages/english.ts')).english,
  de: async () => (await import('./messages/german.ts')).german,
}

/** Falls back to English if the language can't be loaded. */
export const loadMessages = (language: Language): Promise<Messages> => LOADERS[language]().catch(() => LOADERS.en())

export const SpeechContext = createContext<Speech | null>(null)

export const useSpeech = (): Speech => {
  const speech = useContext(SpeechContext)
  if (speech === null) throw new Error('messages are available only inside the page')
  return speech
}
export const useMessages = (): Messages => useSpeech().messages
