// Names of keys in hardware tokens (RFC 7512).
import { describe, expect, test } from 'bun:test'
import { formatTokenKey, isTokenKey, parseTokenKey, tokenKeyOf } from '../../src/signing/token-key.ts'

describe('the name of a key in a token', () => {
  test.each([
    ['evm', 'pkcs11:object=evm'],
    ['my key; ü', 'pkcs11:object=my%20key%3B%20%C3%BC'],
    ['pkcs11:id=%01%aB', 'pkcs11:id=%01%ab'],
    ['pkcs11:id=%01;object=evm;type=private', 'pkcs11:object=evm;id=%01'],
    ['pkcs11:id=evm', 'pkcs11:id=%65%76%6d'],
  ])('%s has a canonical form', (text, uri) => {
    expect(tokenKeyOf(text)).toBe(uri)
    const name = parseTokenKey(uri)
    expect(name === null ? null : formatTokenKey(name)).toBe(uri)
    expect(isTokenKey(uri)).toBe(true)
  })

  test.each([
    '',
    'pkcs11:',
    'pkcs11:token=other;object=evm',
    'pkcs11:object=',
    'pkcs11:object=a;object=b',
    'pkcs11:object=%0',
    'pkcs11:object=%ff',
    'pkcs11:object=a=b',
    'pkcs11:type=private',
    `pkcs11:id=${'a'.repeat(129)}`,
    'x'.repeat(129),
  ])('%j is refused', (text) => {
    expect(tokenKeyOf(text)).toBeNull()
  })

  test('differs from the name of a keystore file', () => {
    expect(isTokenKey('secp256k1-0x00.json')).toBe(false)
    expect(parseTokenKey('secp256k1-0x00.json')).toBeNull()
  })
})
