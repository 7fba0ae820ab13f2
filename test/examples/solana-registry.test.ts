// docs/examples/solana-registry.ts, with an RPC endpoint that runs its transactions in a simulated Solana runtime: it
// registers the attesters and sets the policy of the guarded program.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PublicKey, Transaction } from '@solana/web3.js'
import { createJsonRpc } from '../../src/facts/json-rpc.ts'
import { createSolanaRegistry, MAINNET_GENESIS_HASH } from '../../src/facts/solana-registry.ts'
import { deploymentOf, keypair, loadProgram } from '../chain/solana-world.ts'
import { describeOnSvm, type LocalSvm, startLocalSvm } from '../chain/svm.ts'
import { type FakeNode, type RpcCall, startFakeNode } from '../registry/support.ts'
import { newFolder } from '../support/folder.ts'
import { runExample } from './support.ts'

const SIGNATURE = '1'.repeat(64)

/** The methods that the example and the service call. */
const answerFrom = (svm: LocalSvm) => {
  let error: string | null = null
  const inContext = (value: unknown) => ({ context: { slot: 1 }, value })
  return ({ method, params: [first] }: RpcCall): unknown => {
    switch (method) {
      case 'getLatestBlockhash':
        return inContext({ blockhash: svm.latestBlockhash(), lastValidBlockHeight: 1_000 })
      case 'getBlockHeight':
        return 1
      case 'getAccountInfo': {
        const account = svm.account(new PublicKey(first as string))
        if (account === null) return inContext(null)
        const { owner, executable, lamports, data } = account
        const text = [Buffer.from(data).toString('base64'), 'base64']
        const sizes = { lamports, rentEpoch: 0, space: data.length }
        return inContext({ ...sizes, owner: owner.toBase58(), executable, data: text })
      }
      case 'sendTransaction':
        error = svm.runSigned(Transaction.from(Buffer.from(first as string, 'base64'))).error
        return SIGNATURE
      case 'getSignatureStatuses':
        return inContext([{ slot: 1, confirmations: 1, err: error, confirmationStatus: 'confirmed' }])
      default:
        throw new Error(`the example asked for ${method}`)
    }
  }
}

describeOnSvm('docs/examples/solana-registry.ts', () => {
  const registry = deploymentOf(110)
  const target = deploymentOf(120)
  const attesters = [140, 141].map((number) => keypair(number).publicKey.toBase58())
  let folder: string
  let node: FakeNode
  beforeAll(() => {
    folder = newFolder()
    const svm = startLocalSvm()
    for (const [name, { program, authority }] of [
      ['registry', registry],
      ['vault', target],
    ] as const) {
      svm.addProgram(program.publicKey, loadProgram(name), authority.publicKey)
      svm.give(authority.publicKey, 10_000_000_000n)
      writeFileSync(join(folder, `${name}.json`), JSON.stringify([...authority.secretKey]), { mode: 0o600 })
    }
    node = startFakeNode(answerFrom(svm))
  })
  afterAll(async () => {
    await node?.stop()
  })
  const run = (key: string, ...words: string[]) => {
    const environment = {
      RPC_URL: node.url,
      REGISTRY_PROGRAM: registry.program.publicKey.toBase58(),
      AUTHORITY_KEYPAIR: join(folder, `${key}.json`),
    }
    return runExample('solana-registry.ts', environment, ...words)
  }

  test('creates a registry, registers attesters, and changes nothing when it is run again', async () => {
    const [made, ...registered] = (await run('registry', 'attesters', ...attesters)).trim().split('\n')
    expect(made).toBe(`registry made: ${SIGNATURE}`)
    expect(registered).toEqual(attesters.map((attester) => `attester ${attester}: ${SIGNATURE}`))
    const again = (await run('registry', 'attesters', ...attesters)).trim().split('\n')
    expect(again).toEqual([
      'the registry is there',
      ...attesters.map((attester) => `attester ${attester} is registered`),
    ])
  }, 60_000)

  test('sets a policy and later another one, and the service reads both', async () => {
    const program = target.program.publicKey.toBase58()
    const rpc = createJsonRpc({ url: node.url, timeoutMs: 5_000 })
    const read = () =>
      createSolanaRegistry(registry.program.publicKey.toBase58(), MAINNET_GENESIS_HASH).policyId(rpc, program)
    for (const policy of ['x-0123456789abcdef', 'x-fedcba9876543210']) {
      await run('vault', 'policy', program, policy)
      expect(await read()).toBe(policy)
    }
    await expect(run('registry', 'policy', program, 'x-1')).rejects.toThrow('failed')
  }, 60_000)
})
