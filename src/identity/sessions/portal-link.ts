// Links to a session's verification page. Only a hash of the token is stored, so that neither the session's id nor the
// database opens the page (threats row 2).
import { randomBytes } from 'node:crypto'
import { createQrEncoder } from '../../lib/qr-matrix.ts'
import { createQrPainter } from '../../lib/qr-png.ts'

/** Size of a token: 144 random bits, which are 24 base64url characters without padding. */
const TOKEN_BYTES = 18
export const TOKEN_LENGTH = 24

export interface PortalLink {
  readonly url: string
  readonly token: string
  readonly tokenHash: Uint8Array
}

export const linkPrefix = (portalUrl: string): string => `${portalUrl}/v/`

export const hashToken = (token: string): Uint8Array => {
  const hash = new Uint8Array(32)
  Bun.SHA256.hash(token, hash)
  return hash
}

export const createPortalLink = (portalUrl: string): PortalLink => {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  return { url: linkPrefix(portalUrl) + token, token, tokenHash: hashToken(token) }
}

/** Returns the token's hash; null if the token is malformed. */
export const parseToken = (text: string): Uint8Array | null =>
  /^[A-Za-z0-9_-]{24}$/.test(text) ? hashToken(text) : null

/** Returns an image source. @param size side length in pixels */
export type QrCodeOf = (link: Pick<PortalLink, 'token'>, size: number) => string

export const createQrCodes = (portalUrl: string): QrCodeOf => {
  const encoder = createQrEncoder(linkPrefix(portalUrl), TOKEN_LENGTH)
  const paint = createQrPainter(encoder.side)
  return ({ token }, size) => `data:image/png;base64,${paint(encoder.encode(token), size).toString('base64')}`
}
