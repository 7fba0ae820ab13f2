// Uses XMLHttpRequest, because fetch reports no upload progress.
import type { DocumentKind } from '../../../domain/requirements.ts'
import type { ProblemAnswer, SessionView } from '../../contract.ts'
import { NetworkError, RefusedError, type SessionCalls } from '../api.ts'

export class UploadStoppedError extends Error {
  override readonly name = 'UploadStoppedError'
}

const problemOf = (request: XMLHttpRequest): RefusedError => {
  let reason = ''
  try {
    reason = (JSON.parse(request.responseText) as Partial<ProblemAnswer>).reason ?? ''
  } catch {
    // The response is from a proxy or another server, so only the status is meaningful.
  }
  return new RefusedError(request.status, reason, request.getResponseHeader('x-request-id') ?? '')
}

export const uploadDocument = (
  calls: Pick<SessionCalls, 'path'>,
  kind: DocumentKind,
  file: Blob,
  fileName: string,
  /** @param part from 0 to 1; at 1, the server validates the document */
  onProgress: (part: number) => void,
) => {
  const request = new XMLHttpRequest()
  const done = new Promise<SessionView>((resolve, reject) => {
    request.open('POST', `${calls.path}/documents/${kind}`)
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type)
    request.setRequestHeader('x-file-name', encodeURIComponent(fileName))
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : Math.min(1, loaded / total))
    request.onload = () => {
      if (request.status < 200 || request.status > 299) {
        reject(problemOf(request))
        return
      }
      try {
        resolve(JSON.parse(request.responseText) as SessionView)
      } catch {
        reject(new NetworkError('cut off'))
      }
    }
    request.onerror = () => reject(new NetworkError('not reached'))
    request.onabort = () => reject(new UploadStoppedError('stopped'))
    request.send(file)
  })
  return { done, stop: () => request.abort() }
}

export type Upload = ReturnType<typeof uploadDocument>
