// Calls of the identity API with one key, and the error body of both APIs.
import { expect } from 'bun:test'
import { createHash } from 'node:crypto'
import { issueKey } from '../service/calls.ts'
import { type RunningService, runCommand } from '../service/start-service.ts'
import { until } from '../support/until.ts'

export interface Creation {
  readonly sessionId: string
  readonly redirectUrl: string
  readonly qrCode: string
}

export interface StatusObject {
  readonly sessionId: string
  readonly status: string
  readonly userId?: string
  readonly completedAt?: string
  readonly verifiedWallets: readonly { readonly id: string; readonly address: string; readonly chain: string }[]
  readonly unverifiedWallets: readonly { readonly id: string; readonly address: string; readonly chain: string }[]
}

/** Returns an address whose key is unknown, derived from a hash of the name. */
export const walletOf = (name: string): string =>
  `0x${createHash('sha256').update(`wallet ${name}`).digest('hex').slice(0, 40)}`

export interface RegisterInput {
  readonly type?: 'individual' | 'business'
  readonly query?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export const createCaller = (service: RunningService, key: string) => {
  const base = service.quickstart['IDENTITY_URL'] ?? ''
  const authorization = { authorization: `Bearer ${key}` }

  const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${base}${path}`, {
      method,
      headers: { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })

  const register = ({ type = 'individual', query = '', body, headers }: RegisterInput = {}) =>
    send('POST', `/api/v1/register/${type}${query}`, body, headers)

  const status = (sessionId: string, type = 'individual') => send('GET', `/api/v1/status/${type}/${sessionId}`)
  const verify = (body: unknown) => send('POST', '/api/v1/verify', body)

  return {
    base,
    key,
    send,
    register,
    status,
    verify,
    /** Registers successfully. */
    registered: async (input: RegisterInput = {}): Promise<Creation & { readonly httpStatus: number }> => {
      const response = await register(input)
      expect([200, 201]).toContain(response.status)
      return { ...((await response.json()) as Creation), httpStatus: response.status }
    },
    statusOf: async (sessionId: string, type = 'individual'): Promise<StatusObject> => {
      const response = await status(sessionId, type)
      expect(response.status).toBe(200)
      return (await response.json()) as StatusObject
    },
    verified: async (body: unknown): Promise<Record<string, unknown>> => {
      const response = await verify(body)
      expect(response.status).toBe(200)
      return (await response.json()) as Record<string, unknown>
    },
  }
}

export type Caller = ReturnType<typeof createCaller>

/** Creates an organization with a live and a test key. */
export const createTenant = async (service: RunningService, slug: string) => {
  const created = await runCommand(service.dataDirectory, 'org', 'create', slug)
  expect(created).toMatchObject({ code: 0 })
  const options = `--org ${slug} --kind identity --no-rate-limit`
  const [live, test] = [await issueKey(service, options), await issueKey(service, `${options} --environment test`)]
  return { slug, live: createCaller(service, live.key), test: createCaller(service, test.key), liveKeyId: live.keyId }
}

export const decide = async (service: RunningService, ...rest: string[]): Promise<void> => {
  const words = rest.includes('--note') ? rest : [...rest, '--note', 'A test.']
  let decided = await runCommand(service.dataDirectory, 'session', 'decide', ...words)
  await until(async () => {
    if (!decided.stderr.includes('still running')) return true
    decided = await runCommand(service.dataDirectory, 'session', 'decide', ...words)
    return false
  })
  expect({ code: decided.code, stderr: decided.stderr }).toEqual({ code: 0, stderr: '' })
}

export interface Problem {
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly request_id: string
  readonly message: string
  readonly error: string
}

/** Checks the error body of both APIs, which never contains a signature. */
export const expectProblem = async (
  response: Response,
  status: number,
  code: string,
  detail?: string,
): Promise<Problem> => {
  const raw = await response.text()
  expect({ status: response.status, raw }).toEqual({ status, raw })
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const problem = JSON.parse(raw) as Problem
  const request_id = response.headers.get('x-request-id') ?? ''
  const texts = { type: expect.any(String), title: expect.any(String), message: problem.detail, error: problem.detail }
  // Copied, because toMatchObject writes the matchers into the received object.
  expect({ ...problem }).toMatchObject({ ...texts, status, code, request_id, detail: detail ?? expect.any(String) })
  expect(raw).not.toContain('signature')
  return problem
}
