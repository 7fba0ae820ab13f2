// Runs operations on another machine's deployment through its admin API.
import { readFileSync } from 'node:fs'
import type { CommandClient, CommandInput } from '../admin/command-client.ts'
import { createAdminClient, type Opened } from '../command-line/admin-client.ts'
import { CommandFailedError, LocalCommandError, printable, UsageError } from '../command-line/output.ts'
import { ADMIN_KEY as KEY } from '../config/given-values.ts'
import { FieldInvalidError } from '../domain/errors.ts'
import { isObject } from '../lib/is-object.ts'
import { isLoopbackHost } from '../lib/loopback.ts'
import { unreadableText } from '../lib/named-error.ts'
import { PolicyInvalidError, type PolicyIssue } from '../policy/issues.ts'

const TIMEOUT_MS = 60_000

type Environment = Readonly<Record<string, string | undefined>>

const readKey = (environment: Environment): string => {
  const { [KEY]: key, [`${KEY}_FILE`]: path } = environment
  if ((key === undefined) === (path === undefined)) throw new UsageError(`--url requires ${KEY} or ${KEY}_FILE`)
  if (path === undefined) return key ?? ''
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`the file of ${KEY}_FILE ${unreadableText(error)}: ${path}`)
  }
}

/** Refuses to send the key unencrypted. @throws UsageError */
const readBase = (text: string): string => {
  const url = URL.parse(text)
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname.replace(/^\[|\]$/g, '')))
  if (url === null || !isSafe || url.username !== '' || url.password !== '') {
    throw new UsageError('--url must be https, or http to this machine, without credentials')
  }
  return `${url.origin}${url.pathname.replace(/(?:\/admin\/v1)?\/*$/, '')}/admin/v1`
}

const addressOf = (base: string, path: string, { params = {}, query = {} }: CommandInput): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? `${base}${filled}` : `${base}${filled}?${new URLSearchParams(given)}`
}

/** Reads the mistakes in a policy document from an admin API problem. */
const readIssues = (issues: unknown): readonly PolicyIssue[] =>
  (Array.isArray(issues) ? issues : []).filter(isObject).map(({ line, column, message, pointer }) => ({
    line: Number(line),
    column: Number(column),
    message: printable(String(message)),
    pointer: printable(String(pointer)),
  }))

/** @throws UsageError, FieldInvalidError, CommandFailedError, PolicyInvalidError */
const requireSuccess = async (response: Response): Promise<void> => {
  if (response.ok) return
  const problem: unknown = await response.json().catch(() => null)
  const { code, detail, field, rule, issues } = (isObject(problem) ? problem : {}) as {
    readonly code?: string
    readonly detail?: unknown
    readonly field?: unknown
    readonly rule?: unknown
    readonly issues?: unknown
  }
  const mistakes = readIssues(issues)
  if (mistakes.length > 0) throw new PolicyInvalidError('', mistakes)
  if (typeof field === 'string' && typeof rule === 'string') {
    throw new FieldInvalidError(printable(field), printable(rule))
  }
  const text = typeof detail === 'string' ? printable(detail) : `the server returned ${response.status}`
  if (response.status === 400) throw new UsageError(text)
  throw new CommandFailedError(text, code)
}

/** Needs no store. @throws UsageError for an invalid URL or a missing key */
export const openRemote = (text: string, environment: Environment): Opened => {
  const base = readBase(text)
  const key = readKey(environment)
  const call = async (operation: string, input: CommandInput = {}): Promise<unknown> => {
    const [method = '', path = ''] = operation.split(' ')
    const { body, file } = input
    const response = await fetch(addressOf(base, path, input), {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        authorization: `Bearer ${key}`,
        ...(file !== undefined && { 'content-type': file.mediaType }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(file !== undefined && { body: file.bytes }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      const { code, name } = error as { readonly code?: unknown; readonly name?: unknown }
      throw new CommandFailedError(`${base} can't be reached (${String(typeof code === 'string' ? code : name)})`)
    })
    await requireSuccess(response)
    if (response.status === 204) return undefined
    return response.headers.get('content-type')?.startsWith('application/json') ? response.json() : response
  }
  const client: CommandClient = {
    call,
    // Each operation is its own transaction.
    together: (work) => work(client),
    as: () => client,
  }
  return {
    get store(): never {
      throw new LocalCommandError()
    },
    admin: createAdminClient(async () => client),
    close: async () => undefined,
  }
}
