// Decoders for the instructions of an Anchor IDL, before and since Anchor 0.30. In the earlier format, a discriminator
// is the first 8 bytes of SHA-256 of `global:` and the name in snake case. Source:
// https://www.anchor-lang.com/docs/basics/idl.
import { createHash } from 'node:crypto'
import { isObject } from '../../lib/is-object.ts'
import { NamedError } from '../../lib/named-error.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import {
  BORSH_BASIC,
  type BorshCodec,
  borshArray,
  borshBytes,
  borshEnum,
  borshFixedBytes,
  borshOption,
  borshStruct,
  borshVec,
} from './borsh-codec.ts'
import type { TupleTypes } from './tuple-types.ts'

export class IdlMalformedError extends NamedError {}

const fail = (message: string): never => {
  throw new IdlMalformedError(message)
}

const textOf = (value: unknown, what: string): string => {
  if (typeof value !== 'string' || value === '' || value.length > 128) return fail(`${what} has no name`)
  return value
}

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : fail(`${what} is not a list`)
}

const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

const discriminatorOf = (instruction: Readonly<Record<string, unknown>>, name: string): string => {
  const given = instruction['discriminator']
  if (given === undefined) {
    return createHash('sha256')
      .update(`global:${snakeCase(name)}`)
      .digest('hex')
      .slice(0, 16)
  }
  const isByte = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256
  if (!Array.isArray(given) || given.length !== 8 || !given.every(isByte)) {
    return fail(`the discriminator of ${name} must be eight bytes`)
  }
  return Uint8Array.from(given as number[]).toHex()
}

class TypeReader {
  readonly #definitions = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #tuples: TupleTypes
  #parameters = 0

  constructor(idl: Readonly<Record<string, unknown>>, tuples: TupleTypes) {
    this.#tuples = tuples
    for (const definition of listOf(idl['types'], 'types')) {
      if (!isObject(definition) || !isObject(definition['type']))
        throw new IdlMalformedError('`types` contains an entry that is not a type definition')
      this.#definitions.set(textOf(definition['name'], 'a type'), definition['type'])
    }
  }

  fields(value: unknown, what: string, depth: number): { names: readonly string[]; codecs: readonly BorshCodec[] } {
    const members = listOf(value, what)
    // A field of a struct is `{name, type}`; a field of a tuple struct is only a type.
    const names = members.map((member) =>
      isObject(member) && 'name' in member && 'type' in member ? textOf(member['name'], `a field of ${what}`) : '',
    )
    const codecs = members.map((member, index) =>
      this.read(names[index] === '' ? member : (member as Readonly<Record<string, unknown>>)['type'], depth),
    )
    return { names, codecs }
  }

  read(type: unknown, depth: number): BorshCodec {
    if (depth > POLICY_LIMITS.abiDepth) return fail('its types are nested too deeply')
    if (++this.#parameters > POLICY_LIMITS.parameters) return fail('the idl has too many types')
    if (typeof type === 'string') {
      const name = type === 'publicKey' ? 'pubkey' : type
      const basic = Object.hasOwn(BORSH_BASIC, name) ? BORSH_BASIC[name] : undefined
      return basic ?? fail(`unknown type ${name.slice(0, 64)}`)
    }
    if (!isObject(type)) return fail('a type is missing')
    // A vector of u8 is bytes, regardless of its name in the IDL.
    if (type['vec'] === 'u8') return borshBytes
    if ('vec' in type) return borshVec(this.read(type['vec'], depth + 1))
    if ('option' in type) return borshOption(this.read(type['option'], depth + 1))
    if ('array' in type) return this.#array(listOf(type['array'], 'an array'), depth)
    if ('defined' in type) return this.#defined(type['defined'], depth)
    return fail(`the type ${JSON.stringify(type).slice(0, 64)} is not supported`)
  }

  #array([element, length]: readonly unknown[], depth: number): BorshCodec {
    if (!Number.isInteger(length) || (length as number) < 0 || (length as number) > 65_536) {
      return fail('an array length must be a whole number from 0 to 65536')
    }
    if (element === 'u8') return borshFixedBytes(length as number)
    return borshArray(this.read(element, depth + 1), length as number)
  }

  #defined(reference: unknown, depth: number): BorshCodec {
    const name = textOf(isObject(reference) ? reference['name'] : reference, 'a defined type')
    const definition = this.#definitions.get(name) ?? fail(`the type ${name} is not defined`)
    const kind = definition['kind']
    if (kind === 'struct') return this.#struct(definition, name, depth)
    if (kind === 'type') return this.read(definition['alias'], depth + 1)
    if (kind !== 'enum') return fail(`the type ${name} is neither a struct nor an enum`)
    return borshEnum(
      listOf(definition['variants'], name).map((variant) => {
        if (!isObject(variant)) return fail(`${name} has a variant without a name`)
        const variantName = textOf(variant['name'], `a variant of ${name}`)
        return { name: variantName, members: this.fields(variant['fields'], variantName, depth + 1).codecs }
      }),
    )
  }

  #struct(definition: Readonly<Record<string, unknown>>, name: string, depth: number): BorshCodec {
    const { names, codecs } = this.fields(definition['fields'], name, depth + 1)
    return borshStruct(this.#tuples.of(codecs.map(({ type }, index) => ({ name: names[index] ?? '', type }))), codecs)
  }
}

/** Yields one instruction per step. @throws IdlMalformedError with the first mistake */
export function* readIdl(idl: unknown, tuples: TupleTypes) {
  if (!isObject(idl)) return fail('idl must be the content of an Anchor IDL file')
  const instructions = listOf(idl['instructions'], 'instructions')
  if (instructions.length === 0) return fail('the idl has no instructions')
  if (instructions.length > POLICY_LIMITS.functions)
    return fail(`the idl has more than ${POLICY_LIMITS.functions} instructions`)
  const types = new TypeReader(idl, tuples)
  for (const instruction of instructions) {
    if (!isObject(instruction)) return fail('`instructions` contains an entry that is not an instruction')
    const name = textOf(instruction['name'], 'an instruction')
    const { names, codecs } = types.fields(instruction['args'], `args of ${name}`, 0)
    yield {
      name,
      /** 16 lowercase hex digits. */
      discriminator: discriminatorOf(instruction, name),
      arguments: codecs.map(({ type }, index) => ({ name: names[index] ?? '', type })),
      codecs,
    }
  }
}
