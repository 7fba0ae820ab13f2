// Creates the `qrCode` of a session: a PNG with the session's own link, as a data URI.

import { createQrEncoder } from '../../lib/qr-matrix.ts'
import { createQrPainter } from '../../lib/qr-png.ts'
import { linkPrefix, type PortalLink, TOKEN_LENGTH } from './portal-link.ts'

/** The picture of a link, `size` pixels wide and high, as an image source. */
export type QrCodeOf = (link: Pick<PortalLink, 'token'>, size: number) => string

/** Prepares the QR codes of one portal's links. @throws Error when its address is too long for a QR code */
export const createQrCodes = (portalUrl: string): QrCodeOf => {
  const encoder = createQrEncoder(linkPrefix(portalUrl), TOKEN_LENGTH)
  const paint = createQrPainter(encoder.side)
  return ({ token }, size) => `data:image/png;base64,${paint(encoder.encode(token), size).toString('base64')}`
}
