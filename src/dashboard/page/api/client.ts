// Typed client for the admin API. If the session has ended, a call notifies the shell, which requests sign-in.
import type { CallParts } from '../../../admin/client-types.ts'
import { APPROVAL_REQUIRED, ApiError, NetworkError, WaitsForApproval } from './errors.ts'
import type { Operations } from './types.ts'

const PREFIX = '/admin/v1'
const TIMEOUT_MS = 40_000

export type OperationKey = keyof Operations
export type AnswerOf<Key extends OperationKey> = Operations[Key]['answer']
export type BodyOf<Key extends OperationKey> = Operations[Key]['body']
export type QueryOf<Key extends OperationKey> = Operations[Key]['query']

export type CallOptions<Key extends OperationKey> = CallParts<Operations[Key]> & {
  readonly signal?: AbortSignal
  /** Timeout for uploads, longer than the default. */
  readonly timeoutMs?: number
}

export type CallRest<Key extends OperationKey> =
  Record<never, never> extends CallOptions<Key> ? [options?: CallOptions<Key>] : [options: CallOptions<Key>]

interface Loose {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

const addressOf = (key: string, { params = {}, query = {} }: Loose): string => {
  const path = key
    .slice(key.indexOf(' ') + 1)
    .replaceAll(/\{([^}]+)\}/g, (_match, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value))
  return `${PREFIX}${path}${search.size === 0 ? '' : `?${search}`}`
}

export const addressFor = <Key extends OperationKey>(key: Key, ...[options]: CallRest<Key>): string =>
  addressOf(key, (options ?? {}) as Loose)

const failureOf = async (response: Response): Promise<ApiError> => {
  const requestId = response.headers.get('x-request-id') ?? ''
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null
  try {
    const { code, detail, field, rule } = (await response.json()) as Readonly<Record<string, unknown>>
    return new ApiError(response.status, String(code ?? ''), String(detail ?? ''), requestId, {
      retryAfterSeconds,
      field: typeof field === 'string' ? { name: field, rule: String(rule ?? '') } : null,
    })
  } catch {
    // The response is from a proxy or another server, so only the status is meaningful.
    return new ApiError(response.status, '', `the server returned ${response.status}`, requestId, { retryAfterSeconds })
  }
}

/** Notified when a call finds that the session has ended. */
const listeners = new Set<() => void>()
export const onSignedOut = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Prompts for the password or passkey; resolves to false if the user cancels. */
type AskConfirmation = () => Promise<boolean>
/** Prompts for a comment for the approver; resolves to null if the user cancels. */
type AskComment = () => Promise<string | null>

/** Prompts for input that the server requires before it accepts a call, which is then repeated. */
interface Asked {
  confirmation: AskConfirmation | null
  comment: AskComment | null
}

const asked: Asked = { confirmation: null, comment: null }
const onNeeded =
  <Kind extends keyof Asked>(kind: Kind) =>
  (ask: NonNullable<Asked[Kind]>): (() => void) => {
    asked[kind] = ask
    return () => {
      asked[kind] = null as Asked[Kind]
    }
  }
export const onConfirmationNeeded = onNeeded('confirmation')
export const onCommentNeeded = onNeeded('comment')

/** Called with the path of the approvals page after a change is stored for approval. */
const waitListeners = new Set<(approvals: string) => void>()
export const onChangeWaits = (listener: (approvals: string) => void): (() => void) => {
  waitListeners.add(listener)
  return () => waitListeners.delete(listener)
}

const isEntry = (key: string): boolean => /^POST \/(sign-in|welcome)/.test(key)

/** A wrong password or code in a confirmation is also a 401, but doesn't end the session. */
const WRONG_CREDENTIAL = 'CREDENTIAL_WRONG'
const CONFIRMATION_REQUIRED = 'CONFIRMATION_REQUIRED'

const send = async (key: string, options: Loose, mayWait: boolean): Promise<Response> => {
  const { body, signal, timeoutMs = TIMEOUT_MS } = options
  const method = key.slice(0, key.indexOf(' '))
  const timeout = AbortSignal.timeout(timeoutMs)
  const raw = body instanceof Blob
  const headers = {
    'content-type': raw ? body.type : 'application/json',
    ...(mayWait ? {} : { 'x-approval': 'refuse' }),
  }
  let response: Response
  try {
    response = await fetch(addressOf(key, options), {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(method === 'GET' ? {} : { headers, body: raw ? body : JSON.stringify(body ?? {}) }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new NetworkError('could not reach the server')
  }
  if (response.ok) return response
  const failure = await failureOf(response)
  if (failure.status === 401 && failure.code !== WRONG_CREDENTIAL && !isEntry(key)) {
    for (const listener of listeners) listener()
  }
  throw failure
}

/** Prompts for each input once, and for authentication again after a comment, which may take long to write. */
const request = async (key: string, options: Loose): Promise<Response> => {
  let { confirmation, comment } = asked
  let sent = options
  for (;;) {
    try {
      return await send(key, sent, comment === null)
    } catch (error) {
      const code = error instanceof ApiError ? error.code : ''
      if (code === CONFIRMATION_REQUIRED && confirmation !== null) {
        if (!(await confirmation())) throw error
        confirmation = null
      } else if (code === APPROVAL_REQUIRED && comment !== null) {
        const text = await comment()
        if (text === null) throw error
        sent = { ...sent, query: { ...sent.query, comment: text } }
        comment = null
        confirmation = asked.confirmation
      } else {
        throw error
      }
    }
  }
}

/** @throws ApiError, NetworkError, WaitsForApproval */
export const call = async <Key extends OperationKey>(key: Key, ...[options]: CallRest<Key>): Promise<AnswerOf<Key>> => {
  const response = await request(key, (options ?? {}) as Loose)
  if (response.status === 204) return undefined as AnswerOf<Key>
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return response as AnswerOf<Key>
  let answer: unknown
  try {
    answer = await response.json()
  } catch {
    throw new NetworkError('the response was cut off')
  }
  // Other 202 responses are tasks.
  if (response.status === 202 && typeof answer === 'object' && answer !== null && 'requested_by' in answer) {
    const { organization } = (options as Loose | undefined)?.params ?? {}
    for (const listener of waitListeners) {
      listener(organization === undefined ? '/approvals' : `/o/${encodeURIComponent(organization)}/approvals`)
    }
    throw new WaitsForApproval('a second person must approve this change')
  }
  return answer as AnswerOf<Key>
}
