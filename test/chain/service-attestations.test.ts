// The running service's attestations in the contracts, on every EVM chain and with each field changed (threats row 7).
// For rotation, expiration and quorums, see policy-registry.test.ts and task-verifier.test.ts; for 1,000 attestations, test/long.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeOnChain } from './anvil.ts'
import { exerciseAttestation } from './guarded-calls.ts'
import { EVM_CHAINS, type ServiceOnChain, startServiceOnChain } from './service-on-chain.ts'

const ATTESTATIONS = 44

describeOnChain('the service’s attestations on chain', () => {
  let world: ServiceOnChain
  beforeAll(async () => {
    world = await startServiceOnChain()
  })
  afterAll(() => world?.stop())

  test(`${ATTESTATIONS} on ${EVM_CHAINS.length} chains are each accepted once, and refused with a changed field`, async () => {
    let mutations = 0
    for (let n = 0; n < ATTESTATIONS; n++) mutations += await exerciseAttestation(world, n)
    expect(mutations).toBeGreaterThan(ATTESTATIONS * 12)
  })
})
