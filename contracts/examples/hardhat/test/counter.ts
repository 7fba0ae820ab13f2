// Tests a guarded contract without the service: the test acts as the attester.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { network } from 'hardhat'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const POLICY = 'x-0123456789abcdef'
const LIFETIME_SECONDS = 300n

const { viem } = await network.create()
const [owner, stranger] = await viem.getWalletClients()
const node = await viem.getPublicClient()
const attester = privateKeyToAccount(generatePrivateKey())

const deploy = async () => {
  const registry = await viem.deployContract('PolicyRegistry', [owner.account.address])
  await registry.write.registerAttester([attester.address])
  const counter = await viem.deployContract('Counter', [registry.address, POLICY])

  /** Signs like the service, for a request of `from` with the contract's policy and without data and value. */
  const attest = async (from: Address, signer = attester) => {
    const uuid = crypto.randomUUID()
    const expiration = (await node.getBlock()).timestamp + LIFETIME_SECONDS
    const call = { msgSender: from, target: counter.address, msgValue: 0n, encodedSigAndArgs: '0x' } as const
    const digest = await registry.read.hashStatementWithExpiry([{ uuid, ...call, policy: POLICY, expiration }])
    return { uuid, expiration, attester: signer.address, signature: await signer.sign({ hash: digest }) }
  }
  return { counter, attest }
}

describe('Counter', () => {
  it('counts with an attestation', async () => {
    const { counter, attest } = await deploy()
    await counter.write.increment([await attest(owner.account.address)])
    assert.equal(await counter.read.count(), 1n)
  })

  it('refuses the same attestation again', async () => {
    const { counter, attest } = await deploy()
    const attestation = await attest(owner.account.address)
    await counter.write.increment([attestation])
    await assert.rejects(counter.write.increment([attestation]), /UuidAlreadyUsed/)
    assert.equal(await counter.read.count(), 1n)
  })

  it('refuses an attester that is not registered', async () => {
    const { counter, attest } = await deploy()
    const attestation = await attest(owner.account.address, privateKeyToAccount(generatePrivateKey()))
    await assert.rejects(counter.write.increment([attestation]), /AttesterNotRegistered/)
  })

  it('refuses an attestation of another wallet', async () => {
    const { counter, attest } = await deploy()
    const attestation = await attest(owner.account.address)
    await assert.rejects(counter.write.increment([attestation], { account: stranger.account }), /SignatureInvalid/)
  })
})
