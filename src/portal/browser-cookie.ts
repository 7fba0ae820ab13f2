// Cookies that identify a browser, one per session, so that no session reveals another. Source: threats rows 4 and 23;
// RFC 6265bis.
import { randomBytes } from 'node:crypto'

/** 144 random bits: 24 base64url characters. */
const SECRET_BYTES = 18
const SECRET = /^[A-Za-z0-9_-]{24}$/
/** 30 days after the last use, as on the server (src/store/sessions/portal-links.ts). */
const MAX_AGE_SECONDS = 30 * 86_400

const hashSecret = (secret: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(secret, hash)
  return hash
}

/** @param secure true if the page uses https; the name then starts with `__Host-`, which browsers enforce */
export const createBrowserCookies = (secure: boolean) => {
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
    make: (): { readonly secret: string; readonly hash: Uint8Array } => {
      const secret = randomBytes(SECRET_BYTES).toString('base64url')
      return { secret, hash: hashSecret(secret) }
    },
    read: (headers: Headers, sessionId: string): Uint8Array | null => {
      const secret = secretIn(headers, sessionId)
      return secret === null ? null : hashSecret(secret)
    },
    write: (sessionId: string, secret: string): string => write(sessionId, secret),
    /** Returns the value of `Set-Cookie` that renews a request's cookie for 30 days; null if the request has none. */
    renew: (headers: Headers, sessionId: string): string | null => {
      const secret = secretIn(headers, sessionId)
      return secret === null ? null : write(sessionId, secret)
    },
    remove: (sessionId: string): string => write(sessionId, '', 0),
  }
}

export type BrowserCookies = ReturnType<typeof createBrowserCookies>
