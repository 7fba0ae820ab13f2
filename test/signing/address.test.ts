// EVM addresses of public keys, and their checksums (EIP-55).
import { describe, expect, test } from 'bun:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { getAddress, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { checksumAddress } from '../../src/lib/checksum-address.ts'
import { evmAddressOf } from '../../src/signing/address.ts'
import { address } from './arbitraries.ts'
import { testKey } from './test-keys.ts'

// The examples of EIP-55: upper case, lower case, and mixed.
const EIP_55 = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

describe('the checksummed address', () => {
  test.each(EIP_55)('equals the example %s of EIP-55', (text) => {
    expect(checksumAddress(text.toLowerCase())).toBe(text)
    expect(checksumAddress(`0x${text.slice(2).toUpperCase()}`)).toBe(text)
  })

  test('equals viem’s checksum for any address', () => {
    fc.assert(
      fc.property(address, (text) => {
        expect(checksumAddress(text)).toBe(getAddress(text))
      }),
    )
  })
})

describe('the address of a public key', () => {
  test('equals viem’s address', () => {
    for (let number = 1; number <= 20; number++) {
      const key = testKey(number)
      const expected = privateKeyToAddress(`0x${key.toHex()}` as Hex)
      expect(evmAddressOf(secp256k1.getPublicKey(key, false))).toBe(expected)
    }
  })

  test('is refused for a compressed key', () => {
    expect(() => evmAddressOf(secp256k1.getPublicKey(testKey(1), true))).toThrow(TypeError)
  })
})
