// Judges answers: faults that no answer may have, for any request.
import type { AttackedRoute } from './routes.ts'
import type { Outcome, WireAnswer, WireRequest } from './wire.ts'

/** Words of a stack, a database, or a path on the machine. */
const INNER_WORDS =
  /\bat (?:async )?[\w.<>]+ \(|\/(?:src|workers|node_modules)\/[\w./-]+\.[jt]s|\.ts:\d+|SQLITE_|SQLiteError|PostgresError|\b(?:Type|Reference|Syntax|Range)Error\b|bun:sqlite|ENOENT|EACCES|process\.env/

const PROBLEM_MEMBERS = ['type', 'title', 'status', 'detail', 'code', 'request_id', 'message', 'error']

/** Bun's own answers to bytes that are not a request: no body, and a closed connection. */
const isOfParser = ({ status, body }: WireAnswer): boolean =>
  body === '' && (status === 400 || status === 413 || status === 431 || status === 505)

const problemFault = ({ status, headers, body }: WireAnswer): string | null => {
  if (headers.get('content-type')?.split(';', 1)[0] !== 'application/problem+json') {
    return `a ${status} of type ${headers.get('content-type') ?? 'none'}`
  }
  let problem: Record<string, unknown>
  try {
    problem = JSON.parse(body) as Record<string, unknown>
  } catch {
    return `a ${status} whose body is not JSON`
  }
  const missing = PROBLEM_MEMBERS.filter((name) => !Object.hasOwn(problem, name))
  if (missing.length > 0) return `a ${status} without ${missing.join(', ')}`
  if (problem['status'] !== status) return `a ${status} whose body has status ${problem['status']}`
  return problem['request_id'] === headers.get('x-request-id')
    ? null
    : `a ${status} with another request id than its header`
}

export interface JudgeOptions {
  readonly secrets: ReadonlySet<string>
  readonly foreign: readonly string[]
}

export interface Verdict {
  /** Null if there is no fault. */
  readonly fault: string | null
  /** True if Bun's parser answered before any route. */
  readonly ofParser: boolean
}

export const judge = (
  outcome: Outcome,
  route: AttackedRoute,
  { method, cutAfterBytes }: WireRequest,
  { secrets, foreign }: JudgeOptions,
): Verdict => {
  const verdict = (fault: string | null, ofParser = false): Verdict => ({ fault, ofParser })
  if (outcome === 'silent') return verdict('no answer')
  // The body was shorter than declared, so nobody receives an answer.
  if (outcome === 'closed') return verdict(null, true)
  const { status, headers, body } = outcome
  for (const secret of secrets) if (body.includes(secret)) return verdict('a secret in the answer')
  for (const canary of foreign) {
    if (body.includes(canary)) return verdict('another organization’s data in the answer')
  }
  const type = headers.get('content-type') ?? ''
  const faultOfProblem = (): string | null => (method === 'HEAD' ? null : problemFault(outcome))
  const isPage = /^(?:text\/(?:html|css|javascript)|application\/javascript|image|font)/.test(type)
  const isDocument = route.name.startsWith('page ') || /document|openapi/i.test(route.name)
  if (!isPage && !isDocument && INNER_WORDS.test(body)) return verdict('internals of the program in the answer')
  if (status === 503) return verdict(headers.has('retry-after') ? faultOfProblem() : 'a 503 without Retry-After')
  if (status >= 500) return verdict(isOfParser(outcome) ? null : `a ${status}`, isOfParser(outcome))
  if (status < 400 || method === 'HEAD') return verdict(null)
  if (isOfParser(outcome)) return verdict(null, true)
  // Pages describe errors in text.
  if (status === 404 && isPage && route.listener !== 'api') return verdict(null)
  return verdict(cutAfterBytes === null || type !== '' ? faultOfProblem() : null)
}
