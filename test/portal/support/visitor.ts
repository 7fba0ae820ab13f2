// A minimal browser: it keeps cookies, and sends the headers of a browser.
import { AGREEMENT_VERSION, type SessionView } from '../../../src/portal/contract.ts'
import type { PortalHost, Registered, RegisterOptions } from './portal-host.ts'
import { evmAccount } from './wallets.ts'

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

  /** Follows a link as a navigation. @param headers replace those of a navigation */
  const visit = async (url: string, headers: Record<string, string> = {}): Promise<Response> => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', cookie: cookieHeader(), ...headers },
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

  /** Requests the message of a wallet, signs it with `sign`, and submits the signature. */
  const connect = async (
    sessionId: string,
    address: string,
    sign: (message: string) => Promise<string>,
    chainId = 1,
  ): Promise<Answer> => {
    const path = `sessions/${sessionId}/wallets`
    const { body } = await call('POST', `${path}/challenge`, { address, chainId })
    const { nonce, message } = body
    return call('POST', path, { nonce, signature: await sign(String(message)) })
  }

  return {
    cookies,
    cookieHeader,
    visit,
    call,
    connect,
    connectEvm: (sessionId: string, name: string, chainId?: number): Promise<Answer> => {
      const account = evmAccount(name)
      return connect(sessionId, account.address, (message) => account.signMessage({ message }), chainId)
    },
    view: async (sessionId: string): Promise<SessionView> =>
      (await call<SessionView>('GET', `sessions/${sessionId}`)).body,
    agree: (sessionId: string, shares = true, more: { readonly usesDetails?: boolean } = {}): Promise<Answer> =>
      call('POST', `sessions/${sessionId}/agreement`, { version: AGREEMENT_VERSION, language: 'en', shares, ...more }),
  }
}

export type Visitor = ReturnType<typeof createVisitor>

export const tokenOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1)

/** Opens the link of a new session. */
export const enter = async (
  host: PortalHost,
  settings: RegisterOptions = {},
): Promise<Registered & { readonly person: Visitor }> => {
  const registered = await host.register(settings)
  const person = createVisitor(host.url)
  await person.visit(registered.link)
  return { person, ...registered }
}
