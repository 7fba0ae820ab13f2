// Requests to the APIs of a cluster, at a node or the balancer.
import { expect } from 'bun:test'
import { createHash } from 'node:crypto'

export type Values = Readonly<Record<string, string>>

export interface Attested {
  readonly is_compliant: boolean
  readonly attestation: { readonly uuid: string; readonly signature: string; readonly attester: string }
}

export const JSON_TYPE = { 'content-type': 'application/json' }

/** An address derived from the hash of the name. */
export const walletOf = (name: string): string =>
  `0x${createHash('sha256').update(`cluster wallet ${name}`).digest('hex').slice(0, 40)}`

/** Attests the demo wallet. The header `connection: close` makes it use a separate connection. */
export const attest = (base: string, values: Values, headers: Values = {}, signal?: AbortSignal): Promise<Response> =>
  fetch(`${base}/v2/attestation`, {
    method: 'POST',
    headers: { ...JSON_TYPE, 'x-api-key': values['ATTESTATION_API_KEY'] ?? '', ...headers },
    body: JSON.stringify({
      from: '0x1111111111111111111111111111111111111111',
      chain: 'base',
      verification_hash: values['VERIFICATION_HASH'],
    }),
    ...(signal === undefined ? {} : { signal }),
  })

export const attested = async (base: string, values: Values, headers: Values = {}): Promise<Attested> => {
  const response = await attest(base, values, headers)
  const text = await response.text()
  expect({ status: response.status, text }).toEqual({ status: 200, text })
  return JSON.parse(text) as Attested
}

/** Sends a request to the admin API of a node. @throws Error if it fails */
export const administer = async (
  dashboard: string,
  values: Values,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> => {
  const response = await fetch(`${dashboard}/admin/v1${path}`, {
    method,
    headers: { ...JSON_TYPE, authorization: `Bearer ${values['ADMIN_API_KEY']}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

export interface NewSession {
  readonly sessionId: string
  readonly redirectUrl: string
}

export const register = async (base: string, values: Values, wallet: string): Promise<NewSession> => {
  const response = await fetch(`${base}/api/v1/register/individual`, {
    method: 'POST',
    headers: { ...JSON_TYPE, authorization: `Bearer ${values['IDENTITY_API_KEY']}` },
    body: JSON.stringify({ walletAddress: wallet }),
  })
  if (response.status !== 201) throw new Error(`register: ${response.status} ${await response.text()}`)
  return (await response.json()) as NewSession
}

export interface Followed {
  /** Waits for an event with this status. @returns its time by performance.now() */
  status(wanted: string): Promise<number>
  leave(): void
}

/** Opens the event stream of a session. */
export const follow = async (base: string, values: Values, sessionId: string): Promise<Followed> => {
  const controller = new AbortController()
  const response = await fetch(`${base}/api/v1/status/realtime/individual/${sessionId}`, {
    headers: { authorization: `Bearer ${values['IDENTITY_API_KEY']}` },
    signal: controller.signal,
  })
  if (response.status !== 200 || response.body === null) throw new Error(`stream: ${response.status}`)
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  return {
    status: async (wanted) => {
      while (!text.includes(`"status":"${wanted}"`)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the stream ended after ${text}`)
        text += decoder.decode(value, { stream: true })
      }
      return performance.now()
    },
    leave: () => controller.abort(),
  }
}
