// Loads an image document once, because every read is in the audit log; other sizes and panes reuse it. Kept in memory
// until the page is closed.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useWorkplace } from '../shell/session.ts'

export interface Picture {
  /** URL that is valid only in this page; null until the image is loaded. */
  readonly url: string | null
  readonly error: unknown
  readonly retry: () => void
}

export const isPicture = (mediaType: string): boolean => /^image\/(jpeg|png|webp)$/.test(mediaType)

export const usePicture = (sessionId: string, documentId: string): Picture => {
  const { params } = useWorkplace()
  const [url, setUrl] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    let made: string | null = null
    const load = async (): Promise<void> => {
      const response = await call(
        'GET /organizations/{organization}/sessions/{session}/evidence/documents/{document}',
        {
          params: { ...params, session: sessionId, document: documentId },
          signal: controller.signal,
        },
      )
      const blob = await response.blob()
      if (controller.signal.aborted) return
      made = URL.createObjectURL(blob)
      setUrl(made)
      setError(null)
    }
    load().catch((failure: unknown) => {
      if (!controller.signal.aborted) setError(failure)
    })
    return () => {
      controller.abort()
      if (made !== null) URL.revokeObjectURL(made)
    }
  }, [params.organization, sessionId, documentId, turn])
  return { url, error, retry: () => setTurn((now) => now + 1) }
}
