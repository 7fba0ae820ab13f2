// The secret by which a browser is known: one cookie a session, so that several can be under way in one browser and none
// tells of another. Out of reach of scripts, never sent along by other sites. Source: threats rows 4 and 23; RFC 6265bis.
import { randomBytes } from 'node:crypto'

/** 144 random bits: 24 base64url characters. */
const SECRET_BYTES = 18
const SECRET = /^[A-Za-z0-9_-]{24}$/
/** 400 days: the longest that browsers keep one. A session may be sent back long after it was handed in. */
const MAX_AGE_SECONDS = 34_560_000

export interface BrowserCookies {
  /** A new secret. */
  make(): { readonly secret: string; readonly hash: Uint8Array }
  /** The hash of the secret that a request brings for a session; null for none. */
  read(headers: Headers, sessionId: string): Uint8Array | null
  /** Value of `Set-Cookie`. */
  write(sessionId: string, secret: string): string
}

export const hashSecret = (secret: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(secret, hash)
  return hash
}

/** @param secure the page is served over https: the name then carries the `__Host-` prefix, which browsers enforce. */
export const createBrowserCookies = (secure: boolean): BrowserCookies => {
  const nameOf = (sessionId: string): string => `${secure ? '__Host-' : ''}portal-${sessionId}`
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return {
    make: () => {
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      return { secret, hash: hashSecret(secret) }
    },
    read: (headers, sessionId) => {
      const prefix = `${nameOf(sessionId)}=`
      for (const part of (headers.get('cookie') ?? '').split(';')) {
        const pair = part.trim()
        if (!pair.startsWith(prefix)) continue
        const secret = pair.slice(prefix.length)
        return SECRET.test(secret) ? hashSecret(secret) : null
      }
      return null
    },
    write: (sessionId, secret) => `${nameOf(sessionId)}=${secret}; ${attributes}; Max-Age=${MAX_AGE_SECONDS}`,
  }
}
