// Puts a text into the clipboard and says for a moment that it is there.
import { useEffect, useState } from 'preact/hooks'

const SAID_MS = 2_000

/** Whether the text was copied a moment ago, and what copies it. */
export const useCopy = (text: string): readonly [copied: boolean, copy: () => void] => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SAID_MS)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      // Not allowed: the text stands beside the button and can be marked by hand.
      () => setCopied(false),
    )
  }
  return [copied, copy]
}
