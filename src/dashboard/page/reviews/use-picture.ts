// One document that is a picture, fetched once: every reading of it is in the audit log, so it is not fetched again for
// another size or another pane. Kept in memory for as long as the page is open.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import { useWorkplace } from '../shell/session.ts'

export interface Picture {
  /** Of this page alone; null until it is there. */
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
