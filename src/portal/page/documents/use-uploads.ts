// Uploads documents: prepares them, sends one after another, and tries again when the connection is back.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { DocumentKind, DocumentReceipt } from '../../../identity/evidence-types.ts'
import type { SessionView } from '../../contract.ts'
import { NetworkError, type SessionCalls } from '../api.ts'
import { keepPreview } from './previews.ts'
import { type Upload, UploadStoppedError, uploadDocument } from './upload.ts'

export type UploadPhase = 'preparing' | 'sending' | 'checking' | 'paused' | 'failed'

export interface PendingUpload {
  readonly id: number
  readonly name: string
  readonly phase: UploadPhase
  /** 0 to 100. */
  readonly percent: number
  readonly error: unknown
}

interface Job {
  readonly id: number
  readonly name: string
  readonly file: Blob
  upload: Upload | null
  /** Ids of the documents that the session had when this one was first sent; null: not sent yet. */
  before: ReadonlySet<string> | null
  /** The connection was lost: the upload continues when it is back. */
  paused: boolean
}

let lastId = 0

/** Sends one document at a time, over all kinds, because parallel uploads would slow each other down. */
let line: Promise<void> = Promise.resolve()

const prepare = async (file: Blob): Promise<Blob> => {
  try {
    return await (await import('./prepare-image.ts')).prepareImage(file)
  } catch {
    // The code that makes pictures smaller could not be loaded: send the file as it is.
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
  const jobs = useRef(new Map<number, Job>())
  /** Documents that are known to be those of a job. */
  const claimed = useRef(new Set<string>())
  const latest = useRef({ known, onReceived })
  latest.current = { known, onReceived }

  const update = useCallback((id: number, change: Partial<PendingUpload>): void => {
    setPending((now) => now.map((upload) => (upload.id === id ? { ...upload, ...change } : upload)))
  }, [])

  const drop = useCallback((id: number): void => {
    jobs.current.delete(id)
    setPending((now) => now.filter((upload) => upload.id !== id))
  }, [])

  const send = useCallback(
    async (job: Job): Promise<void> => {
      const { id } = job
      job.paused = false
      update(id, { phase: 'preparing', percent: 0, error: null })
      const file = await prepare(job.file)
      if (!jobs.current.has(id)) return
      update(id, { phase: 'sending' })
      const arrivedOf = ({ documents }: SessionView, { before }: Job): DocumentReceipt | undefined =>
        documents.find(
          (found) => found.kind === kind && before?.has(found.id) === false && !claimed.current.has(found.id),
        )
      const receive = (view: SessionView): void => {
        const arrived = arrivedOf(view, job)
        if (arrived !== undefined) {
          claimed.current.add(arrived.id)
          keepPreview(arrived.id, file)
        }
        drop(id)
        latest.current.onReceived(view, job.name)
      }
      try {
        if (job.before !== null) {
          // Perhaps only the answer was lost: check, so that no document is stored twice.
          const view = await calls.view()
          if (!jobs.current.has(id)) return
          if (arrivedOf(view, job)?.fileName === job.name) {
            receive(view)
            return
          }
        }
        job.before ??= latest.current.known()
        job.upload = uploadDocument(calls, kind, file, job.name, (part) =>
          update(id, { phase: part < 1 ? 'sending' : 'checking', percent: Math.round(part * 100) }),
        )
        receive(await job.upload.done)
      } catch (error) {
        job.upload = null
        if (error instanceof UploadStoppedError) return
        job.paused = error instanceof NetworkError
        update(id, { phase: job.paused ? 'paused' : 'failed', error })
      }
    },
    [calls, kind, update, drop],
  )

  const queue = useCallback(
    (job: Job): void => {
      const sendInTurn = async (): Promise<void> => {
        // Skip it if it was stopped while it waited.
        if (jobs.current.has(job.id) && job.upload === null) await send(job)
      }
      line = line.then(sendInTurn, sendInTurn)
    },
    [send],
  )

  useEffect(() => {
    const resume = (): void => {
      for (const job of jobs.current.values()) if (job.paused) queue(job)
    }
    window.addEventListener('online', resume)
    return () => window.removeEventListener('online', resume)
  }, [queue])

  useEffect(
    () => () => {
      for (const { upload } of jobs.current.values()) upload?.stop()
    },
    [],
  )

  const add = (file: Blob, name: string): void => {
    lastId += 1
    const job: Job = { id: lastId, name, file, upload: null, before: null, paused: false }
    jobs.current.set(job.id, job)
    setPending((now) => [...now, { id: job.id, name, phase: 'preparing', percent: 0, error: null }])
    queue(job)
  }

  const again = (id: number): void => {
    const job = jobs.current.get(id)
    if (job !== undefined) queue(job)
  }

  const stop = (id: number): void => {
    jobs.current.get(id)?.upload?.stop()
    drop(id)
  }

  return { pending, add, again, stop }
}
