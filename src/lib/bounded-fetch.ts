// Sends requests with limits on time and response size: the peer can neither delay this process nor exhaust its memory.
import { NamedError } from './named-error.ts'

/** `message` is one line for the operator, without content of the response. */
export class BoundedFetchFailedError extends NamedError {}

export interface BoundedRequest {
  readonly post?: string | Uint8Array<ArrayBuffer>
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxBytes: number
}

/** @param url check it first: `fetch` opens files too @throws BoundedFetchFailedError */
export const fetchBounded = async (
  url: string,
  { post, contentType, headers = {}, timeoutMs, maxBytes }: BoundedRequest,
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: Buffer }> => {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
      ...(post === undefined ? {} : { method: 'POST', body: post }),
      headers: { ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) },
    })
    for await (const part of response.body ?? []) {
      length += part.length
      // Leaving the loop cancels the response.
      if (length > maxBytes) throw new BoundedFetchFailedError(`the response of ${url} is too large`)
      parts.push(part)
    }
    return { status: response.status, headers: response.headers, body: Buffer.concat(parts) }
  } catch (error) {
    if (error instanceof BoundedFetchFailedError) throw error
    const { code, name } = error as { code?: unknown; name?: unknown }
    throw new BoundedFetchFailedError(`${url} cannot be reached (${String(typeof code === 'string' ? code : name)})`)
  }
}
