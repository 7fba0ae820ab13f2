// Calls that a policy can decode: functions in its abi (EVM) and instructions in its idl (Solana).
import type { ChainFamily } from '../../domain/chain.ts'
import { POLICY_LIMITS } from '../cel/limits.ts'
import type { Steps } from '../cel/steps.ts'
import type { AbiFunctionItem, AbiParameterItem } from '../types/reads.ts'
import { AbiReader, AbiTypeUnsupportedError, createAbiCodec, createSequenceReader } from './abi-codec.ts'
import { abiSelector, abiSignature } from './abi-fragment.ts'
import { IdlMalformedError, readIdl } from './anchor-idl.ts'
import { BorshReader } from './borsh-codec.ts'
import { MALFORMED } from './decoding.ts'
import { createTupleTypes, isFieldName, type NamedType, type TupleType } from './tuple-types.ts'

type ArgumentSlots = ReadonlyMap<string, number>

/**
 * A call to a function of the policy. Contracts may execute data that is malformed here, so a malformed call keeps its
 * name.
 */
export interface IdentifiedCall {
  readonly name: string
  readonly signature: string
  readonly slots: ArgumentSlots
  /** Null if the data is malformed or has too many values. */
  readonly values: readonly unknown[] | null
}

interface CallFunction {
  readonly name: string
  readonly signature: string
  readonly slots: ArgumentSlots
  /** @param digits lowercase hex data after the selector or discriminator. @throws CallMalformedError */
  readonly decode: (digits: string) => readonly unknown[]
}

export interface CallShape {
  readonly family: ChainFamily
  /** Selector or discriminator in lowercase 0x-hex. */
  readonly code: string
  readonly name: string
  readonly signature: string
  readonly slots: ArgumentSlots
}

export interface ArgumentDeclaration {
  /** Maps each type in the policy language to a function that declares the argument with this type. */
  readonly types: ReadonlyMap<string, string>
}

export interface CallTable {
  readonly names: ReadonlySet<string>
  readonly signatures: ReadonlySet<string>
  readonly arguments: ReadonlyMap<string, ArgumentDeclaration>
  readonly tuples: readonly TupleType[]
  functions(): readonly CallShape[]
  /** Returns null if the table has no function with the selector or discriminator. */
  decode(family: ChainFamily, data: string): IdentifiedCall | null
}

export interface AbiSource {
  readonly item: AbiFunctionItem
  readonly complain: (message: string) => void
}

export interface IdlSource {
  readonly idl: unknown
  readonly complain: (message: string) => void
}

/** Lengths of selector and discriminator in hex digits. */
const SELECTOR = 8
const DISCRIMINATOR = 16

const countParameters = (parameters: readonly AbiParameterItem[]): number =>
  parameters.reduce((sum, { components }) => sum + 1 + (components ? countParameters(components) : 0), 0)

class CallTableBuilder {
  readonly tuples = createTupleTypes()
  readonly evm = new Map<string, CallFunction>()
  readonly solana = new Map<string, CallFunction>()
  readonly names = new Set<string>()
  readonly signatures = new Set<string>()
  readonly arguments = new Map<string, { readonly types: Map<string, string> }>()
  #parameters = 0

  #add(
    key: string,
    into: Map<string, CallFunction>,
    source: { name: string; signature: string; parameters: readonly NamedType[]; decode: CallFunction['decode'] },
    complain: (message: string) => void,
  ): void {
    const { name, signature, parameters, decode } = source
    const slots = new Map<string, number>()
    for (const [index, parameter] of parameters.entries()) {
      if (parameter.name === '' || parameter.type === '') continue
      if (!isFieldName(parameter.name)) {
        complain(`"${parameter.name.slice(0, 64)}" cannot be used in an expression: rename the parameter`)
      } else if (slots.has(parameter.name)) {
        complain(`${name} has two parameters "${parameter.name}": rename one of them`)
      }
      slots.set(parameter.name, index)
      const declared = this.arguments.get(parameter.name) ?? { types: new Map<string, string>() }
      this.arguments.set(parameter.name, declared)
      if (!declared.types.has(parameter.type)) declared.types.set(parameter.type, name)
    }
    const twin = into.get(key)
    if (twin !== undefined) complain(`${signature} and ${twin.signature} cannot be distinguished by their data`)
    into.set(key, { name, signature, slots, decode })
    this.names.add(name)
    this.signatures.add(signature)
  }

  addAbi({ item, complain }: AbiSource): void {
    this.#parameters += countParameters(item.inputs)
    if (this.#parameters > POLICY_LIMITS.parameters) {
      complain(`the abi has more than ${POLICY_LIMITS.parameters} parameters`)
      return
    }
    const signature = abiSignature(item)
    try {
      const codecs = item.inputs.map((input) => createAbiCodec(input, this.tuples))
      const read = createSequenceReader(codecs)
      const reader = new AbiReader()
      const decode = (digits: string): readonly unknown[] => {
        reader.open(digits)
        return read(reader, 0)
      }
      const parameters = item.inputs.map(({ name }, index) => ({ name, type: codecs[index]?.type ?? '' }))
      this.#add(abiSelector(signature), this.evm, { name: item.name, signature, parameters, decode }, complain)
    } catch (error) {
      if (!(error instanceof AbiTypeUnsupportedError)) throw error
      complain(`${item.name}: ${error.message}`)
    }
  }

  *addIdl({ idl, complain }: IdlSource): Steps<void> {
    try {
      for (const instruction of readIdl(idl, this.tuples)) {
        yield
        const { name, discriminator, codecs } = instruction
        const reader = new BorshReader()
        const decode = (digits: string): readonly unknown[] => {
          reader.open(Uint8Array.fromHex(digits), 0)
          return codecs.map((codec) => codec.read(reader))
        }
        const source = { name, signature: name, parameters: instruction.arguments, decode }
        this.#add(discriminator, this.solana, source, complain)
      }
    } catch (error) {
      if (!(error instanceof IdlMalformedError)) throw error
      complain(`the idl cannot be used: ${error.message}`)
    }
  }
}

const shapesOf = (family: ChainFamily, functions: ReadonlyMap<string, CallFunction>): readonly CallShape[] =>
  [...functions].map(([key, { name, signature, slots }]) => ({ family, code: `0x${key}`, name, signature, slots }))

const decodeWith = (
  functions: ReadonlyMap<string, CallFunction>,
  length: number,
  data: string,
): IdentifiedCall | null => {
  const digits = data.slice(2).toLowerCase()
  const found = digits.length < length ? undefined : functions.get(digits.slice(0, length))
  if (found === undefined) return null
  const { name, signature, slots } = found
  try {
    return { name, signature, slots, values: found.decode(digits.slice(length)) }
  } catch (error) {
    if (error === MALFORMED) return { name, signature, slots, values: null }
    throw error
  }
}

/**
 * Reports mistakes to each source's `complain`, one function per step. Returns null if the document has neither abi nor
 * idl.
 */
export function* createCallTable(abi: readonly AbiSource[], idl: IdlSource | null): Steps<CallTable | null> {
  if (abi.length === 0 && idl === null) return null
  const builder = new CallTableBuilder()
  for (const source of abi) {
    yield
    builder.addAbi(source)
  }
  if (idl !== null) yield* builder.addIdl(idl)
  const { names, signatures, evm, solana } = builder
  return {
    names,
    signatures,
    arguments: builder.arguments,
    tuples: builder.tuples.all,
    functions: () => [...shapesOf('evm', evm), ...shapesOf('solana', solana)],
    decode: (family, data) =>
      family === 'evm' ? decodeWith(evm, SELECTOR, data) : decodeWith(solana, DISCRIMINATOR, data),
  }
}
