// The subset of DER that keystores use.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  createDerReader,
  DER_INTEGER,
  DER_OCTET_STRING,
  DER_SEQUENCE,
  encodeDer,
  encodeDerInteger,
} from '../../src/signing/der.ts'
import { KeystoreInvalidError } from '../../src/signing/errors.ts'

describe('DER', () => {
  test('is decoded as it was encoded, for lengths of every size', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), fc.integer({ min: 0, max: 2 ** 31 - 1 }), (bytes, number) => {
        const encoded = encodeDer(DER_SEQUENCE, encodeDer(DER_OCTET_STRING, bytes), encodeDerInteger(number))
        const file = createDerReader(encoded)
        const sequence = file.enter()
        file.finish()
        expect(Buffer.compare(sequence.read(DER_OCTET_STRING), bytes)).toBe(0)
        expect(sequence.readInteger()).toBe(number)
        sequence.finish()
      }),
    )
  })

  test.each([
    [0, '020100'],
    [127, '02017f'],
    [128, '02020080'],
    [600_000, '02030927c0'],
    [2 ** 31 - 1, '02047fffffff'],
  ])('of the integer %d is %s', (number, hex) => {
    expect(encodeDerInteger(number).toHex()).toBe(hex)
  })

  test('is decoded from any bytes or rejected', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(2), (bytes, way) => {
        const reader = createDerReader(bytes)
        try {
          if (way === 0) reader.read(DER_OCTET_STRING)
          else if (way === 1) reader.readInteger()
          else reader.enter().read(DER_INTEGER)
        } catch (error) {
          expect(error).toBeInstanceOf(KeystoreInvalidError)
        }
      }),
      { numRuns: 1_500 },
    )
  })

  test.each([
    ['nothing', ''],
    ['no length', '04'],
    ['an indefinite length', '0480'],
    ['an unnecessarily long encoding of the length', '04810100'],
    ['a length of three bytes', '0483010000'],
    ['a cut length', '048201'],
    ['fewer bytes than its length', '040500'],
    ['another tag', '0201'],
  ])('is refused as an octet string with %s', (_, hex) => {
    expect(() => createDerReader(Uint8Array.fromHex(hex)).read(DER_OCTET_STRING)).toThrow(KeystoreInvalidError)
  })

  test.each([
    ['padded', '02020001'],
    ['negative', '0201ff'],
    ['empty', '0200'],
    ['of five bytes', '02050100000000'],
  ])('is refused as an integer that is %s', (_, hex) => {
    expect(() => createDerReader(Uint8Array.fromHex(hex)).readInteger()).toThrow(KeystoreInvalidError)
  })
})
