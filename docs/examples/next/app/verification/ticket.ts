// Limits a browser to its own session: the session's id is in a signed cookie that scripts cannot read and nobody can
// forge.
import { createHmac, timingSafeEqual } from 'node:crypto'

const COOKIE = 'verification'
const LIFETIME_SECONDS = 86_400

export const setting = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}

const sign = (sessionId: string): string =>
  createHmac('sha256', setting('TICKET_SECRET')).update(sessionId).digest('base64url')

/** Returns the `Set-Cookie` value that permits this browser to follow the session. */
export const ticketFor = (sessionId: string): string =>
  `${COOKIE}=${sessionId}.${sign(sessionId)}; Path=/verification; Max-Age=${LIFETIME_SECONDS}; HttpOnly; Secure; SameSite=Lax`

/** @returns null if the browser has no valid cookie */
export const sessionOf = (request: Request): string | null => {
  const cookies = (request.headers.get('cookie') ?? '').split(/; */)
  const ticket = cookies.find((cookie) => cookie.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1)
  const [sessionId = '', signature = ''] = ticket?.split('.') ?? []
  const [given, expected] = [Buffer.from(signature), Buffer.from(sign(sessionId))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? sessionId : null
}
