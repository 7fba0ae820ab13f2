// Calls of the example contracts with attestations of the running service, and every change of one field of such a call.
import type { Hex } from 'viem'
import { type AttestationArgument, encodeInternal, flipBit, highSTwin, withRecoveryByte } from './attesting.ts'
import type { Call, Deployed } from './local-chain.ts'
import { EVM_CHAINS, type ExampleContract, SECOND_ATTESTER, type ServiceOnChain } from './service-on-chain.ts'

interface GuardedCall {
  readonly contract: ExampleContract
  readonly name: 'deposit' | 'transfer'
  readonly from: Hex
  /** The arguments before the attestation. */
  readonly values: readonly [Hex, ...bigint[]]
  readonly value: bigint
  /** `data` of the request; absent for contracts that check only the sender. */
  readonly data?: Hex
}

/** Returns the n-th call, with the contracts in turn and different senders and amounts. */
const guardedCall = (accounts: readonly Hex[], n: number): GuardedCall => {
  const owner = accounts[0]!
  const user = accounts[1 + (n % 8)]!
  const receiver = accounts[9]!
  const amount = BigInt(n) + 1n
  const deposit = { name: 'deposit', from: user, values: [receiver], value: amount } as const
  const transfer = { name: 'transfer', from: owner, values: [receiver, amount], value: 0n } as const
  switch (n % 4) {
    case 0:
      return { contract: 'GuardedVault', ...deposit, data: encodeInternal('_deposit(address)', ['address', receiver]) }
    case 1: {
      const data = encodeInternal('_transfer(address,uint256)', ['address', receiver], ['uint256', amount])
      return { contract: 'GuardedToken', ...transfer, data }
    }
    case 2:
      return { contract: 'BasicGuardedVault', ...deposit }
    default:
      return { contract: 'BasicGuardedToken', ...transfer }
  }
}

const withAttestation = (to: Deployed, call: GuardedCall, attestation: AttestationArgument): Call => ({
  to,
  name: call.name,
  arguments: [...call.values, attestation],
  from: call.from,
  value: call.value,
})

interface AttestedCall {
  readonly call: Call
  readonly attestation: AttestationArgument
}

/** @throws Error if the service does not attest */
const attestCall = async (world: ServiceOnChain, call: GuardedCall, chainName: string): Promise<AttestedCall> => {
  const { target } = world.contracts[call.contract]
  const attestation = await world.attest({
    from: call.from,
    to: target.address,
    chain: chainName,
    ...(call.data === undefined ? {} : { data: call.data, msg_value: call.value.toString() }),
  })
  return { call: withAttestation(target, call, attestation), attestation }
}

/** Name of the field, the changed call, and the expected error. */
type Mutation = readonly [string, Call, string]

const mutationsOf = (world: ServiceOnChain, wanted: GuardedCall, attested: AttestedCall, n: number): Mutation[] => {
  const { target, twin } = world.contracts[wanted.contract]
  const { call, attestation } = attested
  const { signature } = attestation
  const owner = world.chain.accounts[0]!
  const altered = (field: string, fields: Partial<AttestationArgument>, reason = 'SignatureInvalid'): Mutation => [
    field,
    withAttestation(target, wanted, { ...attestation, ...fields }),
    reason,
  ]
  const changed = (field: string, fields: Partial<GuardedCall>): Mutation => [
    field,
    withAttestation(target, { ...wanted, ...fields }, attestation),
    'SignatureInvalid',
  ]
  const [, ...amounts] = wanted.values
  const whole = wanted.data !== undefined
  return [
    ['target', { ...call, to: twin }, 'SignatureInvalid'],
    changed('sender', { from: world.chain.accounts[9]! }),
    altered('uuid', { uuid: crypto.randomUUID() }),
    altered('expiration', { expiration: attestation.expiration + 1n }),
    altered('attester', { attester: SECOND_ATTESTER }),
    altered('unknown attester', { attester: owner }, 'AttesterNotRegistered'),
    altered('r', { signature: flipBit(signature, n % 32) }),
    altered('other v', { signature: withRecoveryByte(signature, signature.endsWith('1b') ? 28 : 27) }),
    altered('bad v', { signature: withRecoveryByte(signature, n % 27) }, 'SignatureMalformed'),
    altered('high s', { signature: highSTwin(signature) }, 'SignatureMalformed'),
    ...(whole ? [changed('data', { values: [owner, ...amounts] })] : []),
    ...(whole && wanted.name === 'deposit' ? [changed('value', { value: wanted.value + 1n })] : []),
  ]
}

/**
 * Requests the n-th attestation, over all chains and contracts in turn, tries each change of one field, spends it, and
 * replays it. Returns the number of refused changes.
 * @throws Error with the field of an unexpected outcome
 */
export const exerciseAttestation = async (world: ServiceOnChain, n: number): Promise<number> => {
  const { chain, verificationHash } = world
  const { name: chainName, chainId } = EVM_CHAINS[n % EVM_CHAINS.length]!
  const wanted = guardedCall(chain.accounts, n)
  await chain.setChainId(chainId)
  const attested = await attestCall(world, wanted, chainName)
  const good = attested.call
  let mutations = 0
  const refused = async ([field, call, reason]: Mutation): Promise<void> => {
    const outcome = await chain.call(call)
    const actual = 'reverted' in outcome ? outcome.reverted : 'accepted'
    if (actual !== reason) throw new Error(`${wanted.contract} on ${chainName}, ${field}: ${actual}, not ${reason}`)
    mutations += 1
  }

  for (const mutation of mutationsOf(world, wanted, attested, n)) await refused(mutation)
  await chain.send({ to: good.to, name: 'setPolicyID', arguments: [`${verificationHash}0`] })
  await refused(['policy', good, 'SignatureInvalid'])
  await chain.send({ to: good.to, name: 'setPolicyID', arguments: [verificationHash] })
  await chain.setChainId(EVM_CHAINS[(n + 1) % EVM_CHAINS.length]!.chainId)
  await refused(['chain', good, 'SignatureInvalid'])
  await chain.setChainId(chainId)

  const spent = await chain.send(good)
  if (spent.reverted !== null) throw new Error(`${wanted.contract} on ${chainName} refused it: ${spent.reverted}`)
  await refused(['replay', good, 'UuidAlreadyUsed'])
  return mutations
}
