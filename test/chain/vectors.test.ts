// The published vectors, compared with the digests of the contracts.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Hex, recoverAddress } from 'viem'
import taskVectors from '../vectors/evm-v1.json'
import statementVectors from '../vectors/evm-v2.json'
import { describeOnChain } from './anvil.ts'
import { type Deployed, type LocalChain, startLocalChain } from './local-chain.ts'

const SECONDS = 1

describeOnChain('test vectors', () => {
  let chain: LocalChain
  let registry: Deployed
  let verifier: Deployed
  beforeAll(async () => {
    chain = await startLocalChain(1)
    registry = await chain.deploy('PolicyRegistry', chain.accounts[0])
    verifier = await chain.deploy('TaskVerifier', chain.accounts[0], SECONDS)
  })
  afterAll(() => chain?.stop())

  test(`the ${statementVectors.vectors.length} digests of evm-v2.json equal those of PolicyRegistry`, async () => {
    expect(statementVectors.vectors.length).toBeGreaterThan(0)
    for (const vector of statementVectors.vectors) {
      await chain.setChainId(vector.chain_id)
      const digest = await chain.read<Hex>(registry, 'hashStatementWithExpiry', {
        uuid: vector.uuid,
        msgSender: vector.from,
        target: vector.to,
        msgValue: BigInt(vector.msg_value),
        encodedSigAndArgs: vector.data,
        policy: vector.policy,
        expiration: BigInt(vector.expiration),
      })
      expect<string>(digest).toBe(vector.digest)
      const signer = await recoverAddress({ hash: digest, signature: vector.signature as Hex })
      expect<string>(signer).toBe(statementVectors.attester)
    }
  })

  test(`the ${taskVectors.vectors.length} digests of evm-v1.json equal those of TaskVerifier`, async () => {
    expect(taskVectors.vectors.length).toBeGreaterThan(0)
    for (const vector of taskVectors.vectors) {
      const digest = await chain.read<Hex>(verifier, 'hashTaskWithExpiry', {
        taskId: vector.task_id,
        msgSender: vector.from,
        target: vector.to,
        value: BigInt(vector.msg_value),
        encodedSigAndArgs: vector.data,
        policyID: vector.policy,
        quorumThresholdCount: vector.quorum,
        expiry: BigInt(vector.expiry),
      })
      expect<string>(digest).toBe(vector.digest)
    }
  })
})
