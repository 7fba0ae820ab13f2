import type { DocumentReceipt } from '../../../identity/evidence-types.ts'
import { mayHelpAgain } from '../api.ts'
import { formatBytes } from '../format.ts'
import { useMessages } from '../language.ts'
import { Icon } from '../ui/icons.tsx'
import { Button } from '../ui/parts.tsx'
import type { PendingUpload } from './use-uploads.ts'

interface ReceiptRowProps {
  readonly receipt: DocumentReceipt
  readonly onRemove: () => void
}

// Thumbnails, kept by this page because the server never returns a document to a browser.
const previews = new Map<string, string>()

export const previewOf = (documentId: string): string | null => previews.get(documentId) ?? null

export const keepPreview = (documentId: string, picture: Blob): void => {
  if (picture.type.startsWith('image/')) previews.set(documentId, URL.createObjectURL(picture))
}

export const dropPreview = (documentId: string): void => {
  const url = previews.get(documentId)
  if (url !== undefined) URL.revokeObjectURL(url)
  previews.delete(documentId)
}

export const ReceiptRow = ({ receipt, onRemove }: ReceiptRowProps) => {
  const { documents, locale } = useMessages()
  const preview = previewOf(receipt.id)
  return (
    <li class="receipt">
      {preview === null ? (
        <span class="tile tile-good">
          <Icon name={receipt.mediaType === 'application/pdf' ? 'document' : 'check'} size={20} />
        </span>
      ) : (
        <img class="thumb" src={preview} alt="" width={48} height={48} />
      )}
      <span class="receipt-text">
        <bdi class="file-name">{receipt.fileName}</bdi>
        <small class="muted">
          {documents.given}, {formatBytes(receipt.byteLength, locale)}
        </small>
      </span>
      <button type="button" class="icon-button" aria-label={documents.removeLabel(receipt.fileName)} onClick={onRemove}>
        <Icon name="trash" size={20} />
      </button>
    </li>
  )
}

interface PendingRowProps {
  readonly upload: PendingUpload
  readonly onAgain: () => void
  readonly onStop: () => void
  readonly problem: string
}

export const PendingRow = ({ upload, onAgain, onStop, problem }: PendingRowProps) => {
  const { documents, common } = useMessages()
  const { phase, percent, name } = upload
  const text = {
    preparing: documents.preparing,
    sending: documents.uploading(percent),
    checking: documents.checking,
    paused: documents.paused,
    failed: problem,
  }[phase]
  const waiting = phase === 'paused' || phase === 'failed'
  return (
    <li class={`receipt pending${phase === 'failed' ? ' receipt-failed' : ''}`}>
      <span class={`tile ${waiting ? 'tile-warn' : 'tile-plain'}`}>
        {waiting ? <Icon name={phase === 'paused' ? 'offline' : 'alert'} size={20} /> : <span class="spinner" />}
      </span>
      <span class="receipt-text">
        <bdi class="file-name">{name}</bdi>
        <small class={phase === 'failed' ? 'error' : 'muted'} role={waiting ? 'alert' : undefined}>
          {text}
        </small>
        {!waiting && <progress max={100} value={phase === 'preparing' ? 0 : percent} aria-label={name} />}
      </span>
      <span class="receipt-actions">
        {waiting && mayHelpAgain(upload.error) && (
          <Button kind="quiet" onClick={onAgain}>
            {common.tryAgain}
          </Button>
        )}
        <Button kind="quiet" onClick={onStop}>
          {waiting ? common.remove : documents.stopUpload}
        </Button>
      </span>
    </li>
  )
}
