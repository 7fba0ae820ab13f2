// Copies a text to the clipboard and confirms it briefly.
import { useEffect, useState } from 'preact/hooks'

const SAID_MS = 2_000

/** `copied`: whether the text was just copied. */
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
      // Access was denied; the text can be selected manually.
      () => setCopied(false),
    )
  }
  return [copied, copy]
}
