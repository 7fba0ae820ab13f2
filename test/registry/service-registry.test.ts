// A running service with registries on chains: unbound contracts are found on their chain, for the organization of their
// policy only, and every failure of a chain.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeAbiParameters } from 'viem'
import { describeOnChain } from '../chain/anvil.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../chain/local-chain.ts'
import { issueKey, succeed } from '../service/calls.ts'
import { freePort, type RunningService, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import {
  CONTRACT,
  evmAnswer,
  type FakeNode,
  policyAccount,
  registryAccount,
  SOLANA_PROGRAM,
  SOLANA_REGISTRY,
  type SolanaAccount,
  startFakeNode,
  startSolanaNode,
} from './support.ts'

const WALLET = '0x1111111111111111111111111111111111111111'
const notFound = (address: string) => `request validation failed: failed to get policy ID for address ${address}`

describeOnChain('contracts in the registry of their chain', () => {
  let folder: string
  let chain: LocalChain
  let registry: Deployed
  let service: RunningService
  let wrongChain: FakeNode
  let silent: FakeNode
  let solana: FakeNode
  const accounts: Record<string, SolanaAccount> = {}
  let otherKey: string
  let otherHash: string

  const command = (...words: string[]): Promise<string> => succeed(service, ...words)
  const vaultWith = (policyId: string): Promise<Deployed> =>
    chain.deploy('GuardedVault', chain.accounts[0], registry.address, policyId)
  const attest = async (chainName: string, to: string, key?: string) => {
    const headers = key === undefined ? {} : { 'x-api-key': key }
    const response = await service.attest({ from: WALLET, to, chain: chainName }, headers)
    const body = (await response.json()) as { verification_hash?: string; detail?: string; code?: string }
    return { status: response.status, body, retryAfter: response.headers.get('retry-after') }
  }

  beforeAll(async () => {
    folder = newFolder()
    chain = await startLocalChain(8453)
    registry = await chain.deploy('PolicyRegistry', chain.accounts[0])
    const dead = `http://127.0.0.1:${freePort()}`
    const stolen = encodeAbiParameters([{ type: 'string' }], ['x-ffffffffffffffff'])
    wrongChain = startFakeNode(evmAnswer(stolen, '0x1'))
    silent = startFakeNode(() => new Promise(() => undefined))
    solana = startSolanaNode(accounts)
    const config = join(folder, 'countersign.json')
    writeFileSync(
      config,
      JSON.stringify({
        chains: {
          // The first URL is down, and the second serves another chain.
          base: { rpc: [dead, `${wrongChain.url}/?key=secret-key`, chain.url], registry: registry.address },
          solana: { rpc: solana.url, registry: SOLANA_REGISTRY },
          plume: { rpc: silent.url, registry: registry.address },
          ethereum: { rpc: [wrongChain.url, chain.url], registry: registry.address, 'rpc-agreement': 2 },
          arbitrum: { rpc: dead, registry: registry.address },
          bsc: { rpc: chain.url, registry: registry.address },
        },
      }),
    )
    service = await startService({
      arguments: ['--config', config, '--deadline-ms', '2000'],
      environment: { COUNTERSIGN_WORKERS: '1' },
    })
    await command('org', 'create', 'other')
    otherKey = (await issueKey(service, '--org other --kind attestation --name k')).key
    const policy = join(folder, 'other.yaml')
    writeFileSync(policy, 'name: Other\ndefault: allow\nrules: []\n')
    const applied = JSON.parse(await command('policy', 'apply', policy, '--org', 'other', '--json'))
    const words = ['--org', 'other', '--name', 'other', '--policy', applied.policy, '--json']
    otherHash = JSON.parse(await command('project', 'create', ...words)).verification_hash
  })
  afterAll(async () => {
    await Promise.all([service?.stop(), chain?.stop(), wrongChain?.stop(), silent?.stop(), solana?.stop()])
  })

  test('are attested with their policy by v2 and v1', async () => {
    const hash = service.quickstart['VERIFICATION_HASH'] ?? ''
    const vault = await vaultWith(hash)
    expect(await attest('base', vault.address)).toMatchObject({ status: 200, body: { verification_hash: hash } })
    const response = await fetch(`${service.quickstart['ATTESTATION_URL']}/v1/task`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.quickstart['ATTESTATION_API_KEY'] ?? '' },
      body: JSON.stringify({ from: WALLET, to: vault.address, data: '0x', msg_value: '0', chain_id: 8453 }),
    })
    expect([response.status, ((await response.json()) as { is_compliant?: boolean }).is_compliant]).toEqual([200, true])
  })

  test('are refused without a policy, without code, and on a chain without a registry', async () => {
    const empty = await vaultWith('')
    for (const [chainName, address] of [
      ['base', empty.address],
      ['base', CONTRACT],
      ['sepolia', empty.address],
    ] as const) {
      const { status, body } = await attest(chainName, address)
      expect([status, body.detail]).toEqual([400, notFound(address)])
    }
  })

  test('are refused to every organization except the owner of their policy', async () => {
    const vault = await vaultWith(otherHash)
    expect((await attest('base', vault.address)).body.detail).toBe(notFound(vault.address))
    expect(await attest('base', vault.address, otherKey)).toMatchObject({
      status: 200,
      body: { verification_hash: otherHash },
    })
    const unknown = await vaultWith('x-00000000000000000000000000000000')
    expect((await attest('base', unknown.address)).body.detail).toBe(notFound(unknown.address))
  })

  test('can be Solana programs', async () => {
    const hash = service.quickstart['VERIFICATION_HASH'] ?? ''
    accounts[registryAccount('policy', SOLANA_PROGRAM)] = { data: policyAccount(hash) }
    const request = { from: SOLANA_REGISTRY, chain: 'solana' }
    const found = await service.attest({ ...request, to: SOLANA_PROGRAM })
    expect([found.status, await found.json()]).toMatchObject([200, { verification_hash: hash }])
    const missing = await service.attest({ ...request, to: SOLANA_REGISTRY })
    expect([missing.status, await missing.json()]).toMatchObject([400, { detail: notFound(SOLANA_REGISTRY) }])
  })

  test('have the policy of their binding if they are bound', async () => {
    const vault = await vaultWith(otherHash)
    const hash = service.quickstart['VERIFICATION_HASH'] ?? ''
    await command('binding', 'create', '--project', hash, '--chain', 'base', '--address', vault.address)
    expect(await attest('base', vault.address)).toMatchObject({ status: 200, body: { verification_hash: hash } })
  })

  test('get 503 while their chain does not respond, its URL serves another chain, or its URLs disagree', async () => {
    const vault = await vaultWith(service.quickstart['VERIFICATION_HASH'] ?? '')
    for (const chainName of ['arbitrum', 'bsc', 'ethereum']) {
      const { status, body, retryAfter } = await attest(chainName, vault.address)
      expect([status, body.code, body.detail, retryAfter]).toEqual([
        503,
        'DEPENDENCY_UNAVAILABLE',
        `the policy registry of ${chainName} cannot be read`,
        '1',
      ])
    }
    expect((await attest('base', vault.address)).status).toBe(200)
  })

  test('get 408 if the chain responds after the deadline of the request', async () => {
    const { status, body } = await attest('plume', CONTRACT)
    expect([status, body.code]).toEqual([408, 'DEADLINE_EXCEEDED'])
  })

  test('leave neither text from nodes nor URL paths in the log', async () => {
    const line = await service.logLine((entry) => entry['message'] === 'could not read a policy registry')
    expect(line).toMatchObject({ level: 'warn' })
    const { stderr } = service.output()
    expect(stderr).not.toContain('secret-key')
    expect(stderr).toContain('the RPC endpoint serves chain 1 instead of 8453')
  })
})
