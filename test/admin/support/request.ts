// Requests to the admin API, as dashboard pages and programs send them, and parts of responses.

export const DASHBOARD = 'http://localhost:8082'

/** Client address of requests without ADDRESS_HEADER. */
export const ADDRESS = '127.0.0.1'
export const ADDRESS_HEADER = 'x-test-address'

export interface CallOptions {
  readonly cookie?: string
  /** Client address. Defaults to 127.0.0.1. */
  readonly address?: string
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Unencoded body, whose content type is in `headers`. */
  readonly raw?: string
}

export const toRequest = (method: string, path: string, options: CallOptions = {}): Request => {
  const { cookie, key, address, body, headers = {}, raw } = options
  return new Request(`${DASHBOARD}/admin/v1${path}`, {
    method,
    headers: {
      ...(method === 'GET' ? {} : { origin: DASHBOARD, 'sec-fetch-site': 'same-origin' }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(address === undefined ? {} : { [ADDRESS_HEADER]: address }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(raw !== undefined ? { body: raw } : body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** Body and content type of a text file. */
export const textFile = (raw: string): Pick<CallOptions, 'raw' | 'headers'> => ({
  raw,
  headers: { 'content-type': 'text/plain' },
})

const cookiesOf = (response: Response): readonly string[] =>
  response.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')

/** The session cookie, which comes first. */
export const cookieOf = (response: Response): string => cookiesOf(response)[0] ?? ''
export const deviceCookieOf = (response: Response): string =>
  cookiesOf(response).find((cookie) => cookie.startsWith('countersign-device=')) ?? ''
/** The Cookie header with all cookies of a response. */
export const cookieHeaderOf = (response: Response): string => cookiesOf(response).join('; ')

export const problemOf = async (response: Response) =>
  (await response.json()) as { readonly code: string; readonly detail: string; readonly field?: string }

/** The parsed body; an empty object if the response has no body. */
export const bodyOf = async <Body>(response: Response): Promise<Body> => {
  const text = await response.text()
  return (text === '' ? {} : JSON.parse(text)) as Body
}
