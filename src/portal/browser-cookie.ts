// The cookie that identifies a browser. Each session has a cookie of its own, so that one browser can hold several
// sessions and none reveals another. Scripts can't read it, and requests from other sites do not carry it. Source:
// threats rows 4 and 23; RFC 6265bis.
import { randomBytes } from 'node:crypto'

/** 144 random bits: 24 base64url characters. */
const SECRET_BYTES = 18
const SECRET = /^[A-Za-z0-9_-]{24}$/
/** 30 days after the last use, as the server keeps its side (src/store/sessions/portal-links.ts). */
const MAX_AGE_SECONDS = 30 * 86_400

export interface BrowserCookies {
  /** A new secret. */
  make(): { readonly secret: string; readonly hash: Uint8Array }
  /** The hash of the secret in a request's cookie for a session; null when there is none. */
  read(headers: Headers, sessionId: string): Uint8Array | null
  /** Value of `Set-Cookie`. */
  write(sessionId: string, secret: string): string
  /** Value of `Set-Cookie` that renews the cookie of a request for another 30 days; null when the request has none. */
  renew(headers: Headers, sessionId: string): string | null
  /** Value of `Set-Cookie` that deletes the cookie. */
  remove(sessionId: string): string
}

const hashSecret = (secret: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(secret, hash)
  return hash
}

/** @param secure the page is served over https: the name then carries the `__Host-` prefix, which browsers enforce. */
export const createBrowserCookies = (secure: boolean): BrowserCookies => {
  const nameOf = (sessionId: string): string => `${secure ? '__Host-' : ''}portal-${sessionId}`
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const secretIn = (headers: Headers, sessionId: string): string | null => {
    const prefix = `${nameOf(sessionId)}=`
    for (const part of (headers.get('cookie') ?? '').split(';')) {
      const pair = part.trim()
      if (!pair.startsWith(prefix)) continue
      const secret = pair.slice(prefix.length)
      return SECRET.test(secret) ? secret : null
    }
    return null
  }
  const write = (sessionId: string, secret: string, maxAgeSeconds = MAX_AGE_SECONDS): string =>
    `${nameOf(sessionId)}=${secret}; ${attributes}; Max-Age=${maxAgeSeconds}`
  return {
    make: () => {
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      return { secret, hash: hashSecret(secret) }
    },
    read: (headers, sessionId) => {
      const secret = secretIn(headers, sessionId)
      return secret === null ? null : hashSecret(secret)
    },
    write: (sessionId, secret) => write(sessionId, secret),
    renew: (headers, sessionId) => {
      const secret = secretIn(headers, sessionId)
      return secret === null ? null : write(sessionId, secret)
    },
    remove: (sessionId) => write(sessionId, '', 0),
  }
}
