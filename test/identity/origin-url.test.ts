// Accepted and refused values of originUrl.
import { describe, expect, test } from 'bun:test'
import { FieldInvalidError } from '../../src/domain/errors.ts'
import { decodeOriginUrl } from '../../src/identity/schema.ts'
import { HTTPS_LINK_MAX } from '../../src/lib/https-link.ts'

describe('originUrl', () => {
  test.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://Example.COM/Path?a=b#c', 'https://example.com/Path?a=b#c'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    ['https://example.com/@user', 'https://example.com/@user'],
    ['https://example.com/?next=a@b', 'https://example.com/?next=a@b'],
    // A look-alike domain is stored in Punycode.
    ['https://exаmple.com/', 'https://xn--exmple-4nf.com/'],
    ['https://127.0.0.1/', 'https://127.0.0.1/'],
  ])('%p is stored as %p', (text, stored) => {
    expect(decodeOriginUrl(text)).toBe(stored)
  })

  test.each([
    ['an empty string', ''],
    ['a relative URL', '/back'],
    ['no scheme', 'example.com'],
    ['another scheme', 'http://example.com/'],
    ['a script', 'javascript:alert(1)'],
    ['a script that looks like https', 'https:javascript:alert(1)'],
    ['data', 'data:text/html,x'],
    ['one slash', 'https:/example.com'],
    ['three slashes', 'https:///example.com'],
    ['backslashes', 'https:\\\\example.com'],
    ['a backslash after the host', 'https://example.com\\@evil.example'],
    ['no host', 'https://'],
    ['a user', 'https://user@example.com/'],
    ['a user and password', 'https://user:password@example.com/'],
    ['an empty user', 'https://@example.com/'],
    ['an empty password', 'https://:@example.com/'],
    ['a leading space', ' https://example.com/'],
    ['a space', 'https://example.com/a b'],
    ['a line feed', 'https://exam\nple.com/'],
    ['a tab', 'https://example.com/\t'],
    ['a control', 'https://example.com/\u0007'],
    ['a no-break space', 'https://example.com/\u00a0'],
    ['a bad port', 'https://example.com:99999/'],
    ['an open bracket', 'https://[::1/'],
  ])('%s is refused', (_name, text) => {
    expect(() => decodeOriginUrl(text)).toThrow(FieldInvalidError)
  })

  test('has at most 2,048 characters, as sent and as stored', () => {
    const prefix = 'https://example.com/'
    const longest = prefix + 'a'.repeat(HTTPS_LINK_MAX - prefix.length)
    expect(decodeOriginUrl(longest)).toBe(longest)
    expect(() => decodeOriginUrl(`${longest}a`)).toThrow(FieldInvalidError)
    // Each of these characters is stored as six.
    expect(() => decodeOriginUrl(prefix + 'é'.repeat(1_000))).toThrow(FieldInvalidError)
  })

  test('is not repeated in the error', () => {
    expect(() => decodeOriginUrl('javascript:steal()')).toThrow(
      expect.objectContaining({ detail: expect.not.stringContaining('steal') }),
    )
  })
})
