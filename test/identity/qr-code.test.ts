// Links of sessions and their QR codes, compared with the qrcode package and read back by jsQR.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import decodeQr from 'jsqr'
import { PNG } from 'pngjs'
import { create } from 'qrcode/lib/core/qrcode.js'
import {
  createPortalLink,
  createQrCodes,
  hashToken,
  linkPrefix,
  parseToken,
  TOKEN_LENGTH,
} from '../../src/identity/sessions/portal-link.ts'
import { createQrEncoder, isDark } from '../../src/lib/qr-matrix.ts'
import { scaleFor } from '../../src/lib/qr-png.ts'

const PORTAL = 'https://verify.example.com'
const qrCodeOf = createQrCodes(PORTAL)

const pictureOf = (dataUri: string): PNG => {
  const [, base64 = ''] = /^data:image\/png;base64,([A-Za-z0-9+/]+=*)$/.exec(dataUri) ?? []
  return PNG.sync.read(Buffer.from(base64, 'base64'))
}
const readLink = (dataUri: string): string | undefined => {
  const { data, width, height } = pictureOf(dataUri)
  return decodeQr(new Uint8ClampedArray(data), width, height)?.data
}

test('a link has a token of 144 random bits, which is looked up by its hash', () => {
  const links = Array.from({ length: 1_000 }, () => createPortalLink(PORTAL))
  expect(new Set(links.map(({ token }) => token)).size).toBe(1_000)
  for (const { url, token, tokenHash } of links) {
    expect(url).toBe(`${PORTAL}/v/${token}`)
    expect(token).toMatch(/^[A-Za-z0-9_-]{24}$/)
    expect([hashToken(token), parseToken(token)]).toEqual([tokenHash, tokenHash])
  }
  for (const text of ['', 'a'.repeat(23), 'a'.repeat(25), `${'a'.repeat(23)}=`, `${'a'.repeat(23)}\n`]) {
    expect(parseToken(text)).toBeNull()
  }
})

describe('the matrix', () => {
  const portals = ['http://a.b', PORTAL, `https://verify.example.com/${'path/'.repeat(30)}`]
  test.each(portals)('equals that of the qrcode package for %s', (portal) => {
    const encoder = createQrEncoder(linkPrefix(portal), TOKEN_LENGTH)
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_-]{24}$/), (text) => {
        const made = encoder.encode(text)
        // The format bits beside the finder pattern contain the mask, XORed with 101.
        const maskPattern = [2, 3, 4].reduce((bits, column) => bits * 2 + (isDark(made, 8, column) ? 1 : 0), 0) ^ 0b101
        const content = [{ data: new TextEncoder().encode(linkPrefix(portal) + text), mode: 'byte' as const }]
        const expected = create(content, { errorCorrectionLevel: 'M', maskPattern }).modules
        expect(made.side).toBe(expected.size)
        for (let row = 0; row < made.side; row++) {
          for (let column = 0; column < made.side; column++) {
            if (isDark(made, row, column) !== (expected.data[row * made.side + column] === 1)) return false
          }
        }
        return true
      }),
      { numRuns: 25 },
    )
  })

  test('refuses texts of another length', () => {
    const encoder = createQrEncoder('https://a.b/', 24)
    for (const text of ['a'.repeat(23), 'a'.repeat(25), 'é'.repeat(24)]) {
      expect(() => encoder.encode(text)).toThrow(RangeError)
    }
  })
})

describe('the image', () => {
  test.each([80, 81, 99, 150, 300, 301, 640, 1_000, 2_000])('of %d pixels is read back as the link', (size) => {
    const link = createPortalLink(PORTAL)
    const dataUri = qrCodeOf(link, size)
    const { width, height } = pictureOf(dataUri)
    expect({ width, height }).toEqual({ width: size, height: size })
    expect(readLink(dataUri)).toBe(link.url)
  })

  test('does not contain parts of earlier links of the same size', () => {
    const links = Array.from({ length: 20 }, () => createPortalLink(PORTAL))
    for (const link of links) expect(readLink(qrCodeOf(link, 120))).toBe(link.url)
  })

  test('is small at every size', () => {
    expect(qrCodeOf(createPortalLink(PORTAL), 300).length).toBeLessThan(4_000)
    expect(qrCodeOf(createPortalLink(PORTAL), 2_000).length).toBeLessThan(12_000)
  })

  test('has whole modules and a quiet zone', () => {
    for (let size = 80; size <= 2_000; size += 7) {
      const scale = scaleFor(33, size)
      expect(Number.isInteger(scale) && scale >= 1).toBe(true)
      expect(Math.floor((size - 33 * scale) / 2)).toBeGreaterThanOrEqual(2 * scale)
    }
  })
})
