// Prepares and uploads documents one after another, and retries when the connection returns.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { DocumentKind } from '../../../domain/requirements.ts'
import type { DocumentReceipt } from '../../../identity/evidence-types.ts'
import type { SessionView } from '../../contract.ts'
import { NetworkError, type SessionCalls } from '../api.ts'
import { keepPreview } from './document-rows.tsx'
import { type Upload, UploadStoppedError, uploadDocument } from './upload.ts'

export interface PendingUpload {
  readonly id: number
  readonly name: string
  readonly phase: 'preparing' | 'sending' | 'checking' | 'paused' | 'failed'
  /** Progress from 0 to 100. */
  readonly percent: number
  readonly error: unknown
}

interface UploadItem {
  readonly id: number
  readonly name: string
  readonly file: Blob
  upload: Upload | null
  /** Ids of the stored documents when this upload was first sent; null until then. */
  before: ReadonlySet<string> | null
  /** Whether the connection was lost; the upload continues when it returns. */
  paused: boolean
}

let lastId = 0

/** One queue for all kinds, because parallel uploads slow each other down. */
let line: Promise<void> = Promise.resolve()

const prepare = async (file: Blob): Promise<Blob> => {
  try {
    return await (await import('./prepare-image.ts')).prepareImage(file)
  } catch {
    // The code could not be loaded, so the file is sent unchanged.
    return file
  }
}

export const useUploads = (
  calls: SessionCalls,
  kind: DocumentKind,
  known: () => ReadonlySet<string>,
  onReceived: (view: SessionView, name: string) => void,
) => {
  const [pending, setPending] = useState<readonly PendingUpload[]>([])
  const items = useRef(new Map<number, UploadItem>())
  const claimed = useRef(new Set<string>())
  const latest = useRef({ known, onReceived })
  latest.current = { known, onReceived }

  const update = useCallback((id: number, change: Partial<PendingUpload>): void => {
    setPending((now) => now.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))
  }, [])

  const drop = useCallback((id: number): void => {
    items.current.delete(id)
    setPending((now) => now.filter((upload) => upload.id !== id))
  }, [])

  const send = useCallback(
    async (item: UploadItem): Promise<void> => {
      const { id } = item
      item.paused = false
      update(id, { phase: 'preparing', percent: 0, error: null })
      const file = await prepare(item.file)
      if (!items.current.has(id)) return
      update(id, { phase: 'sending' })
      const arrivedOf = ({ documents }: SessionView, { before }: UploadItem): DocumentReceipt | undefined =>
        documents.find(
          (found) => found.kind === kind && before?.has(found.id) === false && !claimed.current.has(found.id),
        )
      const receive = (view: SessionView): void => {
        const arrived = arrivedOf(view, item)
        if (arrived !== undefined) {
          claimed.current.add(arrived.id)
          keepPreview(arrived.id, file)
        }
        drop(id)
        latest.current.onReceived(view, item.name)
      }
      try {
        if (item.before !== null) {
          // Perhaps only the response was lost: check, so that no document is stored twice.
          const view = await calls.view()
          if (!items.current.has(id)) return
          if (arrivedOf(view, item)?.fileName === item.name) {
            receive(view)
            return
          }
        }
        item.before ??= latest.current.known()
        item.upload = uploadDocument(calls, kind, file, item.name, (part) =>
          update(id, { phase: part < 1 ? 'sending' : 'checking', percent: Math.round(part * 100) }),
        )
        receive(await item.upload.done)
      } catch (error) {
        item.upload = null
        if (error instanceof UploadStoppedError) return
        item.paused = error instanceof NetworkError
        update(id, { phase: item.paused ? 'paused' : 'failed', error })
      }
    },
    [calls, kind, update, drop],
  )

  const queue = useCallback(
    (item: UploadItem): void => {
      const sendInTurn = async (): Promise<void> => {
        // The upload may have been stopped while waiting.
        if (items.current.has(item.id) && item.upload === null) await send(item)
      }
      line = line.then(sendInTurn, sendInTurn)
    },
    [send],
  )

  useEffect(() => {
    const resume = (): void => {
      for (const item of items.current.values()) if (item.paused) queue(item)
    }
    window.addEventListener('online', resume)
    return () => window.removeEventListener('online', resume)
  }, [queue])

  useEffect(
    () => () => {
      for (const { upload } of items.current.values()) upload?.stop()
    },
    [],
  )

  const add = (file: Blob, name: string): void => {
    lastId += 1
    const item: UploadItem = { id: lastId, name, file, upload: null, before: null, paused: false }
    items.current.set(item.id, item)
    setPending((now) => [...now, { id: item.id, name, phase: 'preparing', percent: 0, error: null }])
    queue(item)
  }

  const again = (id: number): void => {
    const item = items.current.get(id)
    if (item !== undefined) queue(item)
  }

  const stop = (id: number): void => {
    items.current.get(id)?.upload?.stop()
    drop(id)
  }

  return { pending, add, again, stop }
}
