// docs/examples/gate-swap.ts as a separate backend, with the running service and a local node: accepted and refused
// requests, and the checks of the contract.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import { createCountersignClient } from '../../src/client/client.ts'
import { describeOnChain } from '../chain/anvil.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../chain/local-chain.ts'
import { issueKey, succeed } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { environmentOf, type FundedAccount, firstLineOf, fundAccount, spawnExample } from './support.ts'

const POLICY = `name: Swaps
default: allow
rules:
  - id: too-large
    deny: tx.value > uint256("1000")
    code: TOO_LARGE
    message: At most 1000 wei at a time.
`

describeOnChain('docs/examples/gate-swap.ts', () => {
  let chain: LocalChain
  let service: RunningService
  let backend: ReturnType<typeof spawnExample>
  let url: string
  let user: FundedAccount
  let vault: Deployed
  let registry: Deployed
  let identityKey: string

  const command = (...words: string[]): Promise<string> => succeed(service, ...words)
  const swap = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(url, { method: 'POST', body, headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const balance = () => chain.read<bigint>(vault, 'balanceOf', user.address)

  beforeAll(async () => {
    chain = await startLocalChain(11155111, 'usual')
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
    const settings = service.quickstart
    user = await fundAccount(chain.url, 8)
    const owner = chain.accounts[0] as Hex
    registry = await chain.deploy('PolicyRegistry', owner)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [settings['EVM_ATTESTER']] })
    vault = await chain.deploy('GuardedVault', owner, registry.address, settings['VERIFICATION_HASH'])
    const hash = settings['VERIFICATION_HASH'] ?? ''
    await command('binding', 'create', '--project', hash, '--chain', 'sepolia', '--address', vault.address)
    const policy = join(service.dataDirectory, 'swaps.yaml')
    writeFileSync(policy, POLICY)
    await command('policy', 'apply', policy, '--policy', settings['POLICY_ID'] ?? '')
    // A changed policy takes effect within a second.
    const probe = { from: user.address, chain: 'sepolia', verification_hash: hash, msg_value: '0' }
    for (let name = ''; name !== 'Swaps'; ) {
      name = ((await (await service.attest(probe)).json()) as { policy_name: string }).policy_name
    }
    identityKey = (await issueKey(service, '--org demo --kind identity --name sandbox --environment test')).key
    backend = spawnExample('gate-swap.ts', {
      ...environmentOf(service),
      IDENTITY_API_KEY: identityKey,
      CHAIN: 'sepolia',
      RPC_URL: chain.url,
      VAULT: vault.address,
      PRIVATE_KEY: user.privateKey,
    })
    url = (await firstLineOf(backend)).replace('POST ', '')
  })
  afterAll(async () => {
    backend?.kill()
    await Promise.all([backend?.exited, chain?.stop(), service?.stop()])
  })

  test.each([
    ['nothing', ''],
    ['no amount', '{}'],
    ['a number', '{"wei":5}'],
    ['a negative amount', '{"wei":"-1"}'],
    ['a hexadecimal amount', '{"wei":"0x5"}'],
    ['a long amount', `{"wei":"${'9'.repeat(2_000)}"}`],
  ])('rejects a body that isn’t a swap: %s', async (_, body) => expect((await swap(body)).status).toBe(400))

  test('returns the verification link to an unverified wallet', async () => {
    const { status, body } = await swap('{"wei":"5"}')
    expect(status).toBe(403)
    expect(String(body['verifyAt'])).toStartWith(service.quickstart['PORTAL_URL'] ?? '-')
    expect(await balance()).toBe(0n)
  })

  test('lets a verified wallet swap once per request', async () => {
    const identityUrl = service.quickstart['IDENTITY_URL']
    const identity = createCountersignClient({ identityUrl, identityApiKey: identityKey })
    await identity.register('individual', { walletAddress: user.address, sandboxOutcome: 'completed' })

    const swapped = await swap('{"wei":"5"}', { 'idempotency-key': 'order-7' })
    expect(swapped).toMatchObject({ status: 200, body: { transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) } })
    expect(await balance()).toBe(5n)
    const again = { status: 409, body: { error: 'the contract refuses: UuidAlreadyUsed' } }
    expect(await swap('{"wei":"5"}', { 'idempotency-key': 'order-7' })).toEqual(again)
    expect(await balance()).toBe(5n)
    expect((await swap('{"wei":"6"}')).status).toBe(200)
    expect(await balance()).toBe(11n)
  })

  test('returns the policy’s reason for a denial', async () => {
    const body = { error: 'At most 1000 wei at a time.', code: 'TOO_LARGE' }
    expect(await swap('{"wei":"1001"}')).toEqual({ status: 403, body })
    expect(await balance()).toBe(11n)
  })

  test('cannot swap if the contract refuses', async () => {
    const attester = service.quickstart['EVM_ATTESTER']
    await chain.send({ to: registry, name: 'deregisterAttester', arguments: [attester] })
    const body = { error: 'the contract refuses: AttesterNotRegistered' }
    expect(await swap('{"wei":"5"}')).toEqual({ status: 409, body })
    expect(await balance()).toBe(11n)
  })

  test('does nothing if the service is unavailable', async () => {
    // This test is the last, because it stops the service.
    await service.stop()
    const { status, body } = await swap('{"wei":"5"}')
    expect([status, body['error']]).toEqual([503, 'try again later'])
    expect(await balance()).toBe(11n)
  }, 60_000)
})
