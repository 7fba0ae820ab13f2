// Queries a screener about a wallet. An answer without exactly the configured shape counts as missing.
import { readFile } from 'node:fs/promises'
import { parseAnyAddress } from '../domain/address-key.ts'
import type { AttestationRequest } from '../domain/attestation.ts'
import type { Chain } from '../domain/chain.ts'
import { DetailedError } from '../lib/named-error.ts'
import type { Clock } from '../lib/time.ts'
import type { ScreenerFacts } from '../policy/types/facts.ts'
import { AnswerStatusError, FetchFailedError, fetchBody, type GuardedRequest } from './guarded-fetch.ts'
import { createRemote, type RemoteCaller } from './remote.ts'
import type { ScreenerSettings, SecretReference } from './screener-settings.ts'

/** Wallet of a request or session. For a session, possibly only the chain's name is known. */
export type ScreenedWallet = Pick<AttestationRequest, 'from'> & { readonly chain: Chain | Pick<Chain, 'name'> }

export interface ScreenerDependencies {
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly fetch?: (request: GuardedRequest) => Promise<Buffer>
}

export class ScreenerAnswerError extends DetailedError {}

/** The answer is invalid regardless of the wallet. */
class AnswerNotJsonError extends ScreenerAnswerError {}

const ANSWER_BYTES_MAX = 65_536
const UNDER_WAY_MAX = 128
const WAITING_MAX = 256
const KEPT_MAX = 20_000
const SECRET_MAX = 4_096
const CATEGORIES_MAX = 64
const CATEGORY_LENGTH_MAX = 64

/** 4xx statuses that affect every query: credentials, time and rate. */
const COMMON_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429])

/** Returns true if the screener is available but rejected this wallet or chain (RFC 9110 §15.5). */
const isWalletsFault = (error: unknown): boolean =>
  error instanceof AnswerStatusError
    ? error.status >= 400 && error.status < 500 && !COMMON_STATUSES.has(error.status)
    : error instanceof ScreenerAnswerError && !(error instanceof AnswerNotJsonError)

const readSecret = async (
  reference: SecretReference,
  environment: ScreenerDependencies['environment'],
): Promise<string> => {
  const text = 'env' in reference ? environment[reference.env] : (await readFile(reference.file, 'utf8')).trim()
  // Headers can't contain other characters. The error doesn't contain the secret.
  if (text === undefined || text.length > SECRET_MAX || !/^[\x21-\x7e]+$/.test(text)) {
    throw new FetchFailedError('the screener’s secret is missing or invalid')
  }
  return text
}

type Placeholders = Readonly<Record<string, string>>

const fill = (text: string, values: Placeholders, encode: (value: string) => string = (value) => value): string =>
  text.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => encode(values[name] ?? ''))

const fillBody = (value: unknown, values: Placeholders): unknown => {
  if (typeof value === 'string') return fill(value, values)
  if (Array.isArray(value)) return value.map((item) => fillBody(item, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillBody(item, values)]))
}

const valueAt = (document: unknown, pointer: string): unknown => {
  let value = document
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

const required = (value: unknown, optional: boolean, what: string): unknown => {
  if (value !== undefined && value !== null) return value
  if (!optional) throw new ScreenerAnswerError(`the response has no ${what}`)
  return null
}

const readFlagged = (document: unknown, mapping: ScreenerSettings['answer']['flagged']): boolean | null => {
  if (mapping === null) return null
  const value = required(valueAt(document, mapping.at), mapping.optional, 'flag')
  if (value === null) return null
  if (mapping.equals !== null) {
    if (typeof value === 'object') throw new ScreenerAnswerError('the flag is a list or an object')
    return mapping.equals.some((expected) => expected === value)
  }
  if (typeof value !== 'boolean') throw new ScreenerAnswerError('the flag is neither true nor false')
  return value
}

const readScore = (document: unknown, mapping: ScreenerSettings['answer']['score']): number | null => {
  if (mapping === null) return null
  const value = required(valueAt(document, mapping.at), mapping.optional, 'score')
  if (value === null) return null
  const scaled = typeof value === 'number' ? value * mapping.times : Number.NaN
  // Without a scale, rounding would merge different scores, for example all scores from 0 to 1.
  const score = mapping.times === 1 ? scaled : Math.round(scaled)
  if (!Number.isSafeInteger(score)) {
    throw new ScreenerAnswerError('the score is not a whole number: to scale fractions, set times in answer.score')
  }
  // Turns -0 into 0.
  return score + 0
}

const readCategories = (
  document: unknown,
  mapping: ScreenerSettings['answer']['categories'],
): readonly string[] | null => {
  if (mapping === null) return null
  const value = required(valueAt(document, mapping.at), mapping.optional, 'categories')
  if (value === null) return null
  const valid =
    Array.isArray(value) &&
    value.length <= CATEGORIES_MAX &&
    value.every((item) => typeof item === 'string' && item.length <= CATEGORY_LENGTH_MAX)
  if (!valid) {
    throw new ScreenerAnswerError(
      `the categories must be at most ${CATEGORIES_MAX} strings of at most ${CATEGORY_LENGTH_MAX} characters`,
    )
  }
  return value as string[]
}

export const readScreenerAnswer = (text: string, { answer }: ScreenerSettings, address: string): ScreenerFacts => {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    throw new AnswerNotJsonError('the response is not JSON')
  }
  if (answer.address !== null) {
    const repeated = valueAt(document, answer.address)
    if (typeof repeated !== 'string' || parseAnyAddress(repeated) !== address) {
      throw new ScreenerAnswerError('the response is for another address')
    }
  }
  return {
    flagged: readFlagged(document, answer.flagged),
    score: readScore(document, answer.score),
    categories: readCategories(document, answer.categories),
  }
}

const usesChain = ({ url, headers, body }: ScreenerSettings): boolean =>
  /\$\{chain(_id)?\}/.test(`${url} ${JSON.stringify(headers)} ${JSON.stringify(body)}`)

export const createScreener = (settings: ScreenerSettings, dependencies: ScreenerDependencies) => {
  const { clock, onError, environment, fetch = fetchBody } = dependencies
  const remote = createRemote<ScreenerFacts>({
    clock,
    keepMs: settings.cacheMs,
    keptMax: KEPT_MAX,
    underWayMax: UNDER_WAY_MAX,
    waitingMax: WAITING_MAX,
    onError,
    isQuestionsFault: isWalletsFault,
  })
  const perChain = usesChain(settings)

  const ask = async ({ from, chain }: ScreenedWallet): Promise<ScreenerFacts> => {
    const secret = settings.secret === null ? '' : await readSecret(settings.secret, environment)
    const values = { address: from, chain: chain.name, chain_id: 'chainId' in chain ? String(chain.chainId) : '0' }
    const headers = Object.entries(settings.headers).map(([name, text]) => [name, fill(text, { ...values, secret })])
    const body = settings.body === null ? null : JSON.stringify(fillBody(settings.body, values))
    const answer = await fetch({
      url: fill(settings.url, values, encodeURIComponent),
      reach: settings.reach,
      method: settings.method,
      headers: {
        accept: 'application/json',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...Object.fromEntries(headers),
      },
      ...(body === null ? {} : { body }),
      timeoutMs: settings.timeoutMs,
      maxBytes: ANSWER_BYTES_MAX,
    })
    return readScreenerAnswer(answer.toString('utf8'), settings, from)
  }

  return {
    /**
     * Returns null if there is no answer. Synchronous if cached. Never rejects. @param caller omitted for checks of
     * sessions
     */
    screen: (wallet: ScreenedWallet, caller?: RemoteCaller): ScreenerFacts | null | Promise<ScreenerFacts | null> =>
      remote.ask(perChain ? `${wallet.from} ${wallet.chain.name}` : wallet.from, () => ask(wallet), caller),
    counts: remote.counts,
  }
}

export type Screener = ReturnType<typeof createScreener>
