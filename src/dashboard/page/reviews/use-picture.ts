// Loads an image once for all components that show it, because every read is in the audit log.
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

interface SharedPicture {
  readonly url: Promise<string>
  readonly abort: AbortController
  users: number
}

const shared = new Map<string, SharedPicture>()

const release = (key: string, picture: SharedPicture): void => {
  picture.users -= 1
  if (picture.users > 0) return
  if (shared.get(key) === picture) shared.delete(key)
  picture.abort.abort()
  picture.url.then(URL.revokeObjectURL, () => undefined)
}

export const usePicture = (sessionId: string, documentId: string | null): Picture => {
  const { params } = useWorkplace()
  const [url, setUrl] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (documentId === null) return
    const key = `${sessionId}/${documentId}`
    const load = async (signal: AbortSignal): Promise<string> => {
      const path = { ...params, session: sessionId, document: documentId }
      const response = await call(
        'GET /organizations/{organization}/sessions/{session}/evidence/documents/{document}',
        { params: path, signal },
      )
      return URL.createObjectURL(await response.blob())
    }
    const begin = (): SharedPicture => {
      const abort = new AbortController()
      return { abort, url: load(abort.signal), users: 0 }
    }
    const picture = shared.get(key) ?? begin()
    shared.set(key, picture)
    picture.users += 1
    let gone = false
    picture.url.then(
      (loaded) => {
        if (gone) return
        setUrl(loaded)
        setError(null)
      },
      (failure: unknown) => {
        // The next attempt loads again.
        shared.delete(key)
        if (!gone) setError(failure)
      },
    )
    return () => {
      gone = true
      setUrl(null)
      release(key, picture)
    }
  }, [params.organization, sessionId, documentId, turn])
  return { url, error, retry: () => setTurn((now) => now + 1) }
}
