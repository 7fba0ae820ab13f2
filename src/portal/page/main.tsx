// Loads the language first, so that no visible text changes.
import { render } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { loadFonts } from '../../pages/load-fonts.ts'
import type { Language } from '../contract.ts'
import { App } from './app.tsx'
import { loadMessages, rememberLanguage, type Speech, SpeechContext, startLanguage } from './language.ts'
import type { Messages } from './messages/english.ts'

const Root = ({ start, words }: { readonly start: Language; readonly words: Messages }) => {
  const [language, setLanguage] = useState(start)
  const [messages, setMessages] = useState(words)
  useEffect(() => {
    document.documentElement.lang = language
  }, [language])
  const speech = useMemo(
    (): Speech => ({
      language,
      messages,
      change: (next) => {
        rememberLanguage(next)
        void loadMessages(next).then((loaded) => {
          setLanguage(next)
          setMessages(loaded)
        })
      },
    }),
    [language, messages],
  )
  return (
    <SpeechContext.Provider value={speech}>
      <App />
    </SpeechContext.Provider>
  )
}

loadFonts()
const language = startLanguage()
const words = await loadMessages(language)
const place = document.getElementById('app')
if (place !== null) {
  place.replaceChildren()
  render(<Root start={language} words={words} />, place)
}
