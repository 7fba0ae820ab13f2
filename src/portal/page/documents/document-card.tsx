import { useEffect, useRef, useState } from 'preact/hooks'
import type { DocumentKind } from '../../../domain/requirements.ts'
import type { DocumentReceipt } from '../../../identity/evidence-types.ts'
import type { SessionView } from '../../contract.ts'
import type { SessionCalls } from '../api.ts'
import { useMessages } from '../language.ts'
import { problemText } from '../problem-text.ts'
import { lazy } from '../ui/lazy.tsx'
import { Button, Notice } from '../ui/parts.tsx'
import { isPhone } from '../wallets/apps.ts'
import type { CameraProps } from './camera.tsx'
import { dropPreview, PendingRow, ReceiptRow } from './document-rows.tsx'
import { Illustration } from './illustration.tsx'
import { useUploads } from './use-uploads.ts'

const Camera = lazy<CameraProps>(async () => (await import('./camera.tsx')).Camera)

interface DocumentCardProps {
  readonly kind: DocumentKind
  readonly view: SessionView
  readonly calls: SessionCalls
  readonly apply: (view: SessionView) => void
  readonly announce: (text: string) => void
  readonly onPending: (kind: DocumentKind, count: number) => void
}

const MEGABYTE = 1024 * 1024

const hasCamera = (): boolean => isSecureContext && navigator.mediaDevices?.getUserMedia !== undefined

export const DocumentCard = ({ kind, view, calls, apply, announce, onPending }: DocumentCardProps) => {
  const messages = useMessages()
  const { documents: words, parts } = messages
  const rule = view.documentRules[kind]
  const megabytes = Math.floor(view.documentBytesMax / MEGABYTE)
  const formats = rule.mediaTypes.includes('application/pdf') ? words.imageOrPdf : words.image
  const receipts = view.documents.filter((document) => document.kind === kind)
  const needed = view.missing.includes(kind)
  const again = needed && view.corrections.includes(kind)
  const shown = again ? [] : receipts
  const input = useRef<HTMLInputElement>(null)
  const photoInput = useRef<HTMLInputElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [camera, setCamera] = useState(false)
  const [over, setOver] = useState(false)
  const phone = isPhone()

  const uploads = useUploads(
    calls,
    kind,
    () => new Set(receipts.map(({ id }) => id)),
    (after, name) => {
      apply(after)
      announce(words.received(name))
    },
  )
  const onTheWay = uploads.pending.filter(({ phase }) => phase !== 'failed').length
  useEffect(() => onPending(kind, onTheWay), [onPending, kind, onTheWay])
  const count = shown.length + onTheWay
  const full = count >= rule.maximum

  /** Keeps keyboard and screen reader users in place if the focused element was removed. */
  const keepPlace = (): void => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true })
  }
  useEffect(() => {
    if (onTheWay > 0 && full) keepPlace()
  }, [full, onTheWay])

  const take = (files: Iterable<File>): void => {
    setProblem(null)
    // A new file replaces a refused file.
    for (const { id, phase } of uploads.pending) if (phase === 'failed') uploads.stop(id)
    let room = rule.maximum - count
    for (const file of files) {
      const known = (rule.mediaTypes as readonly string[]).includes(file.type)
      if (!known) setProblem(words.wrongType(formats))
      else if (file.size === 0) setProblem(words.empty)
      // Images are downscaled before they are sent.
      else if (file.size > view.documentBytesMax && file.type === 'application/pdf') {
        setProblem(words.tooLarge(megabytes))
      } else if (room <= 0) setProblem(words.full(rule.maximum))
      else {
        room -= 1
        uploads.add(file, file.name)
      }
    }
  }

  const remove = async ({ id, fileName }: DocumentReceipt): Promise<void> => {
    setProblem(null)
    try {
      apply(await calls.removeDocument(id))
      dropPreview(id)
      announce(words.removed(fileName))
      requestAnimationFrame(keepPlace)
    } catch (error) {
      setProblem(problemText(error, messages))
    }
  }

  const fromInput = (event: { readonly currentTarget: HTMLInputElement }): void => {
    take(Array.from(event.currentTarget.files ?? []))
    // Allows choosing the same file again.
    event.currentTarget.value = ''
  }

  return (
    <section
      class={`card document-card${over ? ' drop-over' : ''}`}
      aria-labelledby={`document-${kind}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(Array.from(event.dataTransfer?.files ?? []))
      }}
    >
      <div class="document-head">
        <Illustration kind={kind} />
        <div>
          <div class="card-head">
            <h2 id={`document-${kind}`} ref={heading} tabIndex={-1}>
              {parts[kind]}
            </h2>
            <span class={`badge ${needed ? 'badge-warn' : 'badge-good'}`}>
              {again ? words.again : needed ? words.needed : words.given}
            </span>
          </div>
          <p class="guidance">{words.guidance[kind]}</p>
        </div>
      </div>
      {shown.length === 0 && (
        <ul class="tips">
          {words.tips[kind].map((tip) => (
            <li key={tip}>{tip}</li>
          ))}
        </ul>
      )}
      {shown.length + uploads.pending.length > 0 && (
        <ul class="receipts">
          {shown.map((receipt) => (
            <ReceiptRow key={receipt.id} receipt={receipt} onRemove={() => void remove(receipt)} />
          ))}
          {uploads.pending.map((upload) => (
            <PendingRow
              key={upload.id}
              upload={upload}
              problem={upload.error === null ? '' : problemText(upload.error, messages)}
              onAgain={() => uploads.again(upload.id)}
              onStop={() => uploads.stop(upload.id)}
            />
          ))}
        </ul>
      )}
      {problem !== null && (
        <Notice tone="bad" urgent>
          <p>{problem}</p>
        </Notice>
      )}
      <input
        ref={input}
        class="file-input"
        type="file"
        tabIndex={-1}
        aria-hidden="true"
        data-kind={kind}
        multiple={rule.maximum > 1}
        accept={rule.mediaTypes.join(',')}
        onChange={fromInput}
      />
      {/* Opens the phone's own camera. */}
      <input
        ref={photoInput}
        class="file-input"
        type="file"
        tabIndex={-1}
        aria-hidden="true"
        accept="image/jpeg"
        capture={kind === 'portrait' ? 'user' : 'environment'}
        onChange={fromInput}
      />
      {!full && (
        <div class="document-actions">
          {(phone || hasCamera()) && (
            <Button
              kind={count === 0 ? 'primary' : 'secondary'}
              icon="camera"
              onClick={() => (phone ? photoInput.current?.click() : setCamera(true))}
            >
              {count === 0 ? words.takePhoto : words.addPage}
            </Button>
          )}
          <Button icon="file" onClick={() => input.current?.click()}>
            {words.chooseFile}
          </Button>
          {!phone && <span class="hint drop-hint">{words.drop}</span>}
        </div>
      )}
      <p class="fine">{words.limits(formats, megabytes)}</p>
      {camera && (
        <Camera
          kind={kind}
          onClose={() => setCamera(false)}
          onFile={() => {
            setCamera(false)
            input.current?.click()
          }}
          onPhoto={(photo) => {
            setCamera(false)
            uploads.add(photo, `${parts[kind]}.jpg`)
          }}
        />
      )}
    </section>
  )
}
