// Serves `/checkpoint` and `/tile/…`: the decision log's tree for monitors, which need no API key.
import { serviceKey } from '../lib/service-key.ts'
import type { RequestIdSource } from './request-id.ts'

export interface LogFile {
  readonly content: string | Uint8Array<ArrayBuffer>
  readonly contentType: string
}

/** Null when there is no such file. */
export type LogFiles = (path: string) => Promise<LogFile | null>

export const LOG_FILES = serviceKey<LogFiles>('published files of the log')

/** @returns answers paths that no route has; null if there is no such file */
export const createLogFilePages =
  (files: LogFiles, requestIds: RequestIdSource) =>
  async ({ headers }: Request, path: string): Promise<Response | null> => {
    const file = await files(path)
    if (file === null) return null
    const { content, contentType } = file
    return new Response(content, {
      headers: {
        'content-type': contentType,
        // A new tree, made after the old one was lost, would have the same paths.
        'cache-control': 'no-cache',
        'x-request-id': requestIds(headers.get('x-request-id')),
      },
    })
  }
