// The one way from the pages to the admin API. Calls are typed by method and path, as the API's routes are declared. A call
// that finds nobody signed in tells the shell, which asks for it and lets the page stay.
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
  /** Longer than usual: uploads. */
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

/** The address of an operation, for links, downloads and event streams. */
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
    // Not ours: a proxy's page, say. The status has to do.
    return new ApiError(response.status, '', `the answer was ${response.status}`, requestId, { retryAfterSeconds })
  }
}

/** Told when a call finds that nobody is signed in any more. */
const listeners = new Set<() => void>()
export const onSignedOut = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Asks the person for password or passkey; resolves false when they would rather not. */
type AskConfirmation = () => Promise<boolean>
/** Asks the person what to tell whoever approves; resolves null when it is not to be asked for. */
type AskComment = () => Promise<string | null>

/** Asked by calls that the server lets through only after an answer of the person; they are then made again. */
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
/** A fresh proof of who it is. */
export const onConfirmationNeeded = onNeeded('confirmation')
/** A second person has to approve it. */
export const onCommentNeeded = onNeeded('comment')

/** Told where the approvals are that a change now waits under: a path of the dashboard. */
const waitListeners = new Set<(approvals: string) => void>()
export const onChangeWaits = (listener: (approvals: string) => void): (() => void) => {
  waitListeners.add(listener)
  return () => waitListeners.delete(listener)
}

/** Where being signed out is an answer and not the end of a session. */
const isEntry = (key: string): boolean => /^POST \/(sign-in|welcome)/.test(key)

/** A password or code that was asked for once more, and was wrong, is a 401 as well: whoever it is stays signed in. */
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
    // Nobody waits for it any more.
    if (signal?.aborted === true) throw error
    throw new NetworkError('not reached')
  }
  if (response.ok) return response
  const failure = await failureOf(response)
  if (failure.status === 401 && failure.code !== WRONG_CREDENTIAL && !isEntry(key)) {
    for (const listener of listeners) listener()
  }
  throw failure
}

/** Each is asked once, and the proof once more after a comment, which may take a while: a second refusal is an answer. */
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

/**
 * @throws ApiError when the server refuses, NetworkError when it is not reached, WaitsForApproval when nothing has changed
 * yet
 */
export const call = async <Key extends OperationKey>(key: Key, ...[options]: CallRest<Key>): Promise<AnswerOf<Key>> => {
  const response = await request(key, (options ?? {}) as Loose)
  if (response.status === 204) return undefined as AnswerOf<Key>
  if (!(response.headers.get('content-type') ?? '').startsWith('application/json')) return response as AnswerOf<Key>
  let answer: unknown
  try {
    answer = await response.json()
  } catch {
    throw new NetworkError('cut off')
  }
  // Other answers with this status are tasks.
  if (response.status === 202 && typeof answer === 'object' && answer !== null && 'requested_by' in answer) {
    const { organization } = (options as Loose | undefined)?.params ?? {}
    for (const listener of waitListeners) {
      listener(organization === undefined ? '/approvals' : `/o/${encodeURIComponent(organization)}/approvals`)
    }
    throw new WaitsForApproval('a second person has to approve it')
  }
  return answer as AnswerOf<Key>
}
