// Fills the form from an image of a passport or identity card, which stays on the device.
import { useRef, useState } from 'preact/hooks'
import { useMessages } from '../language.ts'
import { Button } from '../ui/parts.tsx'
import type { Draft } from './draft.ts'

export const DocumentFill = ({ onRead }: { readonly onRead: (part: Partial<Draft>) => void }) => {
  const { details } = useMessages()
  const input = useRef<HTMLInputElement>(null)
  // Updates the form as it is after the image is read, not as it was when the image was chosen.
  const latest = useRef(onRead)
  latest.current = onRead
  const [state, setState] = useState<'idle' | 'reading' | 'read' | 'unread'>('idle')

  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return
    setState('reading')
    try {
      const { readDocument } = await import('./read-document.ts')
      const part = await readDocument(file)
      if (part !== null) latest.current(part)
      setState(part === null ? 'unread' : 'read')
    } catch {
      // The file isn't an image, or the reader could not be loaded; the person can still type.
      setState('unread')
    }
  }

  return (
    <div class="field document-fill">
      <input
        ref={input}
        class="file-input"
        type="file"
        accept="image/jpeg,image/png,image/webp"
        tabIndex={-1}
        aria-hidden="true"
        onChange={(event) => {
          const [file] = Array.from(event.currentTarget.files ?? [])
          event.currentTarget.value = ''
          void read(file)
        }}
      />
      <Button icon="camera" busy={state === 'reading'} onClick={() => input.current?.click()}>
        {details.fill}
      </Button>
      <p class="hint" role="status">
        {
          {
            idle: details.fillHint,
            reading: details.fillReading,
            read: details.fillRead,
            unread: details.fillUnread,
          }[state]
        }
      </p>
    </div>
  )
}
