// Serves the decision log's tree, `/checkpoint` and `/tile/…`, to monitors without an API key.
import { serviceKey } from '../lib/service-key.ts'
import type { RequestIdSource } from './request-id.ts'

export interface LogFile {
  readonly content: string | Uint8Array<ArrayBuffer>
  readonly contentType: string
}

export type LogFiles = (path: string) => Promise<LogFile | null>

export const LOG_FILES = serviceKey<LogFiles>('published files of the log')

export const createLogFilePages =
  (files: LogFiles, requestIds: RequestIdSource) =>
  async ({ headers }: Request, path: string): Promise<Response | null> => {
    const file = await files(path)
    if (file === null) return null
    const { content, contentType } = file
    return new Response(content, {
      headers: {
        'content-type': contentType,
        // After the loss of a tree, a new tree would have the same paths.
        'cache-control': 'no-cache',
        'x-request-id': requestIds(headers.get('x-request-id')),
      },
    })
  }
