// A browser reduced to what the server sees of one: cookies kept, and the headers that browsers send by themselves.
import type { SessionView } from '../../../src/portal/contract.ts'

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number
  readonly body: Body
  readonly headers: Headers
}

export const createVisitor = (origin: string) => {
  const cookies = new Map<string, string>()

  const keep = (response: Response): void => {
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/; Max-Age=0(?:;|$)/.test(line)) cookies.delete(pair.slice(0, at))
      else cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }
  const cookieHeader = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

  /** Follows a link as a person does, or `as` someone else. */
  const visit = async (url: string, as: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', cookie: cookieHeader(), ...as },
    })
    keep(response)
    return response
  }

  const call = async <Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> => {
    const response = await fetch(`${origin}/api/${path}`, {
      method,
      headers: {
        cookie: cookieHeader(),
        ...(method === 'GET' ? {} : { origin, 'sec-fetch-site': 'same-origin' }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: body instanceof Uint8Array ? Uint8Array.from(body) : JSON.stringify(body) }),
    })
    keep(response)
    const text = await response.text()
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Body, headers: response.headers }
  }

  return {
    cookies,
    visit,
    call,
    view: async (sessionId: string): Promise<SessionView> =>
      (await call<SessionView>('GET', `sessions/${sessionId}`)).body,
    agree: (sessionId: string, shares = true): Promise<Answer> =>
      call('POST', `sessions/${sessionId}/agreement`, { version: '2', language: 'en', shares }),
  }
}

export type Visitor = ReturnType<typeof createVisitor>

export const tokenOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1)
