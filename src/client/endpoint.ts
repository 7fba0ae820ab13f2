import { ArgumentInvalidError } from './errors.ts'

export interface Endpoint {
  /** Base URL without a trailing slash. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

const baseUrl = (argument: string, text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!plain || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ArgumentInvalidError(argument, 'must be an http or https URL without a user, query or fragment')
  }
  return url.href.replace(/\/+$/, '')
}

/** Rejects spaces and line breaks from pasting. */
const usableKey = (argument: string, text: string): string => {
  if (!/^[\x21-\x7e]{1,512}$/.test(text)) throw new ArgumentInvalidError(argument, 'must be visible ASCII characters')
  return text
}

/** Returns null if neither URL nor key is set. @throws ArgumentInvalidError if only one is set, or one is invalid */
export const createEndpoint = (
  name: 'attestation' | 'identity',
  url: string | undefined,
  apiKey: string | undefined,
): Endpoint | null => {
  if (url === undefined && apiKey === undefined) return null
  if (url === undefined) throw new ArgumentInvalidError(`${name}Url`, `is required with ${name}ApiKey`)
  if (apiKey === undefined) throw new ArgumentInvalidError(`${name}ApiKey`, `is required with ${name}Url`)
  const key = usableKey(`${name}ApiKey`, apiKey)
  return {
    url: baseUrl(`${name}Url`, url),
    headers: name === 'attestation' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` },
  }
}
