// Decodes arguments of EVM calls. Refuses all data on which Solidity reverts, so a policy reads the same values as the
// contract. Source: https://docs.soliditylang.org/en/latest/abi-spec.html
import { isInt64 } from '../../lib/int64.ts'
import { NamedError } from '../../lib/named-error.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import type { AbiParameterItem } from '../types/reads.ts'
import { AddressValue, Uint256 } from '../values.ts'
import { DecodingBudget, MALFORMED, OUT_OF_RANGE, TOO_LONG } from './decoding.ts'
import type { TupleTypes } from './tuple-types.ts'

/** Policies can't read this ABI type, which the message names. */
export class AbiTypeUnsupportedError extends NamedError {}

/** Hex digits per word. */
const WORD = 64
/** Converting this many digits to text takes as long as decoding one value. */
const DIGITS_PER_VALUE = 128
const ZEROS = '0'.repeat(WORD)

/** Arguments of one call as lowercase hex digits. Positions count digits. */
export class AbiReader {
  readonly budget = new DecodingBudget()
  #text = ''

  open(text: string): void {
    this.#text = text
    this.budget.reset()
  }

  word(at: number): string {
    if (at + WORD > this.#text.length) throw MALFORMED
    return this.#text.slice(at, at + WORD)
  }

  /** Reads the last `digits` digits of a word whose other digits must be zero. */
  padded(at: number, digits: number): string {
    const zeros = WORD - digits
    if (at + WORD > this.#text.length || !this.#text.startsWith(ZEROS.slice(0, zeros), at)) throw MALFORMED
    return this.#text.slice(at + zeros, at + WORD)
  }

  digits(at: number, count: number): string {
    if (at + count > this.#text.length) throw MALFORMED
    return this.#text.slice(at, at + count)
  }

  /** Reads an offset or a length in bytes, below 2^32. */
  size(at: number): number {
    return Number.parseInt(this.padded(at, 8), 16)
  }
}

export interface AbiCodec {
  readonly type: string
  readonly isDynamic: boolean
  /** Hex digits in the head; one word if the type is dynamic. */
  readonly headDigits: number
  /** Reads a static value at its head, or a dynamic value at its tail. @throws CallMalformedError */
  read(reader: AbiReader, at: number): unknown
}

const fixed = (type: string, read: AbiCodec['read']): AbiCodec => ({
  type,
  isDynamic: false,
  headDigits: WORD,
  read: (reader, at) => {
    reader.budget.spend()
    return read(reader, at)
  },
})

const readMember = (codec: AbiCodec, reader: AbiReader, at: number, base: number): unknown =>
  codec.read(reader, codec.isDynamic ? base + 2 * reader.size(at) : at)

const unsigned = (bits: number): AbiCodec => {
  const digits = bits / 4
  return fixed('uint256', (reader, at) => Uint256.ofCanonical(`0x${reader.padded(at, digits)}`))
}

const signed = (bits: number): AbiCodec => {
  const maximum = 2n ** BigInt(bits - 1) - 1n
  return fixed('int', (reader, at) => {
    const value = BigInt.asIntN(256, BigInt(`0x${reader.word(at)}`))
    if (value > maximum || value < -maximum - 1n) throw MALFORMED
    return isInt64(value) ? value : OUT_OF_RANGE
  })
}

const bytesOf = (length: number): AbiCodec => {
  const digits = 2 * length
  return fixed('string', (reader, at) => {
    const word = reader.word(at)
    if (!word.endsWith(ZEROS.slice(digits))) throw MALFORMED
    return `0x${word.slice(0, digits)}`
  })
}

const address = fixed('address', (reader, at) => new AddressValue(`0x${reader.padded(at, 40)}`))

const boolean = fixed('bool', (reader, at) => {
  const digit = reader.padded(at, 1)
  if (digit !== '0' && digit !== '1') throw MALFORMED
  return digit === '1'
})

const text = (convert: (digits: string) => string): AbiCodec => ({
  type: 'string',
  isDynamic: true,
  headDigits: WORD,
  read: (reader, at) => {
    reader.budget.spend()
    const digits = reader.digits(at + WORD, 2 * reader.size(at))
    const isLong = digits.length > 2 * POLICY_LIMITS.decodedChars
    // Several offsets may refer to the same text, which is then converted several times.
    if (!isLong) reader.budget.spend(Math.ceil(digits.length / DIGITS_PER_VALUE))
    const converted = isLong ? null : convert(digits)
    return converted === null || converted.length > POLICY_LIMITS.decodedChars ? TOO_LONG : converted
  },
})

const bytes = text((digits) => `0x${digits}`)
const string = text((digits) => Buffer.from(digits, 'hex').toString('utf8'))

const readMembers = (codec: AbiCodec, count: number, reader: AbiReader, base: number): unknown => {
  if (count > POLICY_LIMITS.decodedElements) {
    // The elements are not decoded, but must be present.
    reader.digits(base, count * codec.headDigits)
    return TOO_LONG
  }
  const members: unknown[] = []
  for (let i = 0; i < count; i++) members.push(readMember(codec, reader, base + i * codec.headDigits, base))
  return members
}

const arrayOf = (codec: AbiCodec): AbiCodec => ({
  type: `list<${codec.type}>`,
  isDynamic: true,
  headDigits: WORD,
  read: (reader, at) => {
    reader.budget.spend()
    return readMembers(codec, reader.size(at), reader, at + WORD)
  },
})

const fixedArrayOf = (codec: AbiCodec, count: number): AbiCodec => ({
  type: `list<${codec.type}>`,
  isDynamic: codec.isDynamic,
  headDigits: codec.isDynamic ? WORD : count * codec.headDigits,
  read: (reader, at) => readMembers(codec, count, reader, at),
})

export const createSequenceReader = (
  codecs: readonly AbiCodec[],
): ((reader: AbiReader, base: number) => readonly unknown[]) => {
  let at = 0
  const members = codecs.map((codec) => {
    const offset = at
    at += codec.headDigits
    return { codec, offset }
  })
  return (reader, base) => members.map(({ codec, offset }) => readMember(codec, reader, base + offset, base))
}

const tupleOf = (components: readonly AbiParameterItem[], tuples: TupleTypes, depth: number): AbiCodec => {
  const codecs = components.map((component) => createAbiCodec(component, tuples, depth + 1))
  const tuple = tuples.of(components.map(({ name }, index) => ({ name, type: codecs[index]?.type ?? '' })))
  const isDynamic = codecs.some((codec) => codec.isDynamic)
  const read = createSequenceReader(codecs)
  return {
    type: tuple.name,
    isDynamic,
    headDigits: isDynamic ? WORD : codecs.reduce((sum, codec) => sum + codec.headDigits, 0),
    read: (reader, at) => {
      reader.budget.spend()
      return new tuple.constructor(read(reader, at))
    },
  }
}

const elementary = (type: string): AbiCodec | null => {
  if (type === 'address') return address
  if (type === 'bool') return boolean
  if (type === 'string') return string
  if (type === 'bytes') return bytes
  if (type === 'function') return bytesOf(24)
  const sized = /^(uint|int|bytes)([1-9][0-9]{0,2})$/.exec(type)
  const size = Number(sized?.[2])
  if (sized?.[1] === 'bytes' && size <= 32) return bytesOf(size)
  if (!(size <= 256 && size % 8 === 0)) return null
  if (sized?.[1] === 'uint') return unsigned(size)
  return sized?.[1] === 'int' ? signed(size) : null
}

/** @throws AbiTypeUnsupportedError if the ABI has no such type, or its values have zero length */
export const createAbiCodec = ({ type, components }: AbiParameterItem, tuples: TupleTypes, depth = 0): AbiCodec => {
  if (depth > POLICY_LIMITS.abiDepth) throw new AbiTypeUnsupportedError('its types are nested too deeply')
  const array = /^(.*)\[([0-9]{0,4})\]$/.exec(type)
  if (array !== null) {
    const [, inner = '', length = ''] = array
    const codec = createAbiCodec({ name: '', type: inner, ...(components && { components }) }, tuples, depth + 1)
    if (length === '') return arrayOf(codec)
    if (Number(length) === 0) throw new AbiTypeUnsupportedError(`the type ${type} has zero length`)
    return fixedArrayOf(codec, Number(length))
  }
  if (type === 'tuple') {
    if (components === undefined || components.length === 0)
      throw new AbiTypeUnsupportedError('a tuple has no components')
    return tupleOf(components, tuples, depth)
  }
  const codec = elementary(type)
  if (codec === null) throw new AbiTypeUnsupportedError(`unknown type ${type.slice(0, 32)}`)
  return codec
}
