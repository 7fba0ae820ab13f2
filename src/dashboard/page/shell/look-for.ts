// Passes a search text from the command palette to the reviews, outside the URL because it may be a person's name.
import { useEffect } from 'preact/hooks'
import { navigate } from '../router.ts'

const HANDED_OVER = 'dashboard-look-for'
let handedOver = ''

export const lookForPeople = (path: string, text: string): void => {
  handedOver = text
  navigate(path)
  window.dispatchEvent(new Event(HANDED_OVER))
}

/** Calls back once per text, when the page opens and while it is open. */
export const useLookedFor = (take: (text: string) => void): void => {
  useEffect(() => {
    const takeOver = (): void => {
      if (handedOver === '') return
      take(handedOver)
      handedOver = ''
    }
    takeOver()
    window.addEventListener(HANDED_OVER, takeOver)
    return () => window.removeEventListener(HANDED_OVER, takeOver)
  }, [])
}
