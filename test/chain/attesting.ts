// Attesters with test keys and our digests, and the arguments of the contracts.
import { encodeAbiParameters, getAddress, type Hex, toFunctionSelector } from 'viem'
import { evmAddressOf } from '../../src/signing/address.ts'
import { loadNobleSecp256k1 } from '../../src/signing/secp256k1-noble.ts'
import { loadKeccak256 } from '../../src/signing/statement.ts'
import { type EvmStatement, statementDigester, type TaskStatement, taskDigester } from '../signing/statements.ts'
import { testKey } from '../signing/test-keys.ts'

/** Statement of the ABI. */
export interface StatementArgument {
  readonly uuid: string
  readonly msgSender: Hex
  readonly target: Hex
  readonly msgValue: bigint
  readonly encodedSigAndArgs: Hex
  readonly policy: string
  readonly expiration: bigint
}

/** Attestation of the ABI. */
export interface AttestationArgument {
  readonly uuid: string
  readonly expiration: bigint
  readonly attester: Hex
  readonly signature: Hex
}

/** TaskMessage of the ABI. */
export interface TaskMessageArgument {
  readonly taskId: string
  readonly expiry: bigint
  readonly signerAddresses: readonly Hex[]
  readonly signatures: readonly Hex[]
}

export interface TestAttester {
  readonly address: Hex
  sign(digest: Uint8Array): Hex
  attest(statement: EvmStatement): AttestationArgument
}

const keccak = await loadKeccak256()
export const digestStatement = statementDigester(keccak)
export const digestTask = taskDigester(keccak)

/** Returns the attester of the test key with this number. */
export const testAttester = (number: number): TestAttester => {
  const signer = loadNobleSecp256k1().createSigner(testKey(number))
  const address = getAddress(evmAddressOf(signer.publicKey))
  const sign = (digest: Uint8Array): Hex => {
    const signature = new Uint8Array(65)
    signer.sign(digest, signature)
    return `0x${signature.toHex()}`
  }
  return {
    address,
    sign,
    attest: (statement) => ({
      uuid: statement.uuid,
      expiration: BigInt(statement.expirationSeconds),
      attester: address,
      signature: sign(digestStatement(statement)),
    }),
  }
}

export const statementArgument = (statement: EvmStatement): StatementArgument => ({
  uuid: statement.uuid,
  msgSender: statement.from as Hex,
  target: statement.to as Hex,
  msgValue: statement.value,
  encodedSigAndArgs: statement.data as Hex,
  policy: statement.policy,
  expiration: BigInt(statement.expirationSeconds),
})

/** Signs with all attesters, in ascending order of their addresses. */
export const taskMessage = (task: TaskStatement, attesters: readonly TestAttester[]): TaskMessageArgument => {
  const ascending = [...attesters].sort((left, right) => (BigInt(left.address) < BigInt(right.address) ? -1 : 1))
  const digest = digestTask(task)
  return {
    taskId: task.taskId,
    expiry: BigInt(task.expiry),
    signerAddresses: ascending.map((attester) => attester.address),
    signatures: ascending.map((attester) => attester.sign(digest)),
  }
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Returns the malleable twin of a signature, with s in the upper half. */
export const highSTwin = (signature: Hex): Hex => {
  const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  return `0x${signature.slice(2, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
}

/** Replaces the recovery byte. */
export const withRecoveryByte = (signature: Hex, byte: number): Hex =>
  `0x${signature.slice(2, 130)}${byte.toString(16).padStart(2, '0')}`

/** Flips a bit of one byte. */
export const flipBit = (bytes: Hex, index: number): Hex => {
  const flipped = Uint8Array.fromHex(bytes.slice(2))
  flipped[index] = flipped[index]! ^ 1
  return `0x${flipped.toHex()}`
}

/** Encodes an internal function such as `_deposit(address)` and its arguments as the contracts do. */
export const encodeInternal = (signature: string, ...values: readonly [string, unknown][]): Hex => {
  const types = values.map(([type]) => ({ type }))
  const encoded = encodeAbiParameters(types, [...values.map(([, value]) => value)])
  return `${toFunctionSelector(signature)}${encoded.slice(2)}`
}
