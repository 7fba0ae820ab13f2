// Requests of the admin API as a dashboard page or a program sends them.

export const DASHBOARD = 'http://localhost:8082'

/** From where requests come, unless this header states another address. */
export const ADDRESS = '127.0.0.1'
export const ADDRESS_HEADER = 'x-test-address'

export interface CallOptions {
  readonly cookie?: string
  /** Where it comes from; 127.0.0.1 unless stated. */
  readonly address?: string
  readonly key?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as it is, with its own content type. */
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

/** What a browser keeps of a sign-in. */
export const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** Of an answer that may have no body. */
export const bodyOf = async <Body>(response: Response): Promise<Body> => {
  const text = await response.text()
  return (text === '' ? {} : JSON.parse(text)) as Body
}
