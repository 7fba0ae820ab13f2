// One of the service's two interfaces: where it is, and the header that carries its key. Checked when the client is made,
// so that a wrong setting shows at the start and a key never travels to a place that was not meant.
import { ArgumentInvalidError } from './errors.ts'

export interface Endpoint {
  /** Without a trailing slash. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

const baseUrl = (argument: string, text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!plain || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new ArgumentInvalidError(argument, 'must be an http or https URL without user, query and fragment')
  }
  return url.href.replace(/\/+$/, '')
}

/** Fits into a header: what is pasted with a line break or a blank does not. */
const usableKey = (argument: string, text: string): string => {
  if (!/^[\x21-\x7e]{1,512}$/.test(text)) throw new ArgumentInvalidError(argument, 'must be visible ASCII characters')
  return text
}

/**
 * Null when neither is set: then the interface can't be used.
 * @throws ArgumentInvalidError when one of the two is missing or unusable
 */
export const createEndpoint = (
  name: 'attestation' | 'identity',
  url: string | undefined,
  apiKey: string | undefined,
): Endpoint | null => {
  if (url === undefined && apiKey === undefined) return null
  if (url === undefined) throw new ArgumentInvalidError(`${name}Url`, `must be given with ${name}ApiKey`)
  if (apiKey === undefined) throw new ArgumentInvalidError(`${name}ApiKey`, `must be given with ${name}Url`)
  const key = usableKey(`${name}ApiKey`, apiKey)
  return {
    url: baseUrl(`${name}Url`, url),
    headers: name === 'attestation' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` },
  }
}
