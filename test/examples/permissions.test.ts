// docs/examples/permissions.ts with the running service, a local node and the two policies that it names: only a token
// sale, and a Uniswap v4 hook at an address that enables only beforeSwap, accept its responses.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Hex, parseEther, toFunctionSelector } from 'viem'
import { create2Deployment, DEPLOYER, hookSalt } from '../../contracts/create2.ts'
import { createCountersignClient } from '../../src/client/client.ts'
import { describeOnChain } from '../chain/anvil.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../chain/local-chain.ts'
import { issueKey, succeed } from '../service/calls.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { environmentOf, firstLineOf, spawnExample } from './support.ts'

const CURRENCIES = { currency0: `0x${'c0'.repeat(20)}`, currency1: `0x${'c1'.repeat(20)}` } as const
/** The last 14 bits of the address of a hook that enables beforeSwap. */
const BEFORE_SWAP = 0x80n

describeOnChain('docs/examples/permissions.ts', () => {
  let chain: LocalChain
  let service: RunningService
  let backend: ReturnType<typeof spawnExample>
  let url: string
  let user: Hex
  let stranger: Hex
  let manager: Hex
  let sale: Deployed
  let hook: Deployed
  let router: Deployed

  const command = (...words: string[]): Promise<string> => succeed(service, ...words)
  const post = async (path: string, fields: object) => {
    const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(fields) })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  /** Creates a project for a contract from the file of its policy. @returns the verification hash */
  const projectFor = async (name: string): Promise<string> => {
    const { policy } = JSON.parse(await command('policy', 'apply', `docs/examples/${name}.yaml`, '--json')) as {
      policy: string
    }
    const made = await command('project', 'create', '--name', name, '--policy', policy, '--json')
    return (JSON.parse(made) as { verification_hash: string }).verification_hash
  }
  const bind = (hash: string, { address }: Deployed) =>
    command('binding', 'create', '--project', hash, '--chain', 'sepolia', '--address', address)

  beforeAll(async () => {
    chain = await startLocalChain(11155111)
    service = await startService()
    const [owner, ...others] = chain.accounts as [Hex, Hex, Hex, Hex]
    ;[user, stranger, manager] = others
    const registry = await chain.deploy('PolicyRegistry', owner)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [service.quickstart['EVM_ATTESTER']] })

    const saleHash = await projectFor('token-sale')
    sale = await chain.deploy('TokenSale', owner, registry.address, saleHash, 100n, parseEther('150'))
    await bind(saleHash, sale)

    const hookHash = await projectFor('swap-hook')
    const parameters = [owner, registry.address, hookHash, manager]
    const { codeHash } = create2Deployment(chain.contracts, 'GuardedSwapHook', parameters)
    const salt = hookSalt(codeHash, BEFORE_SWAP)
    const { address, data } = create2Deployment(chain.contracts, 'GuardedSwapHook', parameters, salt)
    const deployment = { from: owner, to: DEPLOYER, data, gas: '0x4c4b40', gasPrice: '0x0' }
    await chain.request('eth_sendTransactionSync', [deployment])
    hook = { address, abi: chain.contracts['GuardedSwapHook']!.abi }
    await bind(hookHash, hook)
    // Returns the user from every call, like msgSender() of a router that the user called.
    router = await chain.deploy({
      sourceName: '',
      abi: [],
      bytecode: `0x601d80600b6000396000f373${user.slice(2)}60005260206000f3`,
      deployedBytecode: '0x',
      metadata: '',
    })
    await chain.send({ to: hook, name: 'trustRouter', arguments: [router.address, true] })

    // Test keys, for which sandbox verifications count.
    const { IDENTITY_URL: identityUrl, IDENTITY_TEST_API_KEY: identityApiKey } = service.quickstart
    const identity = createCountersignClient({ identityUrl, identityApiKey })
    await identity.register('individual', { walletAddress: user, sandboxOutcome: 'completed' })
    const { key } = await issueKey(service, '--org demo --kind attestation --name sandbox --environment test')

    backend = spawnExample('permissions.ts', {
      ...environmentOf(service),
      ATTESTATION_API_KEY: key,
      CHAIN: 'sepolia',
      SALE: sale.address,
      HOOK: hook.address,
      PORT: '0',
    })
    url = (await firstLineOf(backend)).replace('POST ', '').replace('/sale', '')
  }, 120_000)
  afterAll(async () => {
    backend?.kill()
    await Promise.all([backend?.exited, chain?.stop(), service?.stop()])
  })

  const send = async (from: Hex, { to, value, data }: Record<string, string>) => {
    const amount = `0x${BigInt(value ?? 0).toString(16)}`
    const transaction = { from, to, data, value: amount, gas: '0x4c4b40', gasPrice: '0x0' }
    return (await chain.request<{ status: Hex }>('eth_sendTransactionSync', [transaction])).status === '0x1'
  }
  const bought = (who: Hex) => chain.read<bigint>(sale, 'tokensOf', who)

  test('sells the allowed amount to a verified wallet, once', async () => {
    const wei = parseEther('1')
    const { status, body } = await post('/sale', { wallet: user, wei: String(wei) })
    expect(status).toBe(200)
    expect(await send(stranger, body)).toBe(false)
    expect(await send(user, { ...body, value: '5' })).toBe(false)
    expect(await bought(user)).toBe(0n)
    expect(await send(user, body)).toBe(true)
    expect(await send(user, body)).toBe(false)
    expect([await bought(user), await chain.read<bigint>(sale, 'tokensLeft')]).toEqual([100n * wei, parseEther('50')])
    // The policy would allow the sale, but the contract has nothing left.
    const more = await post('/sale', { wallet: user, wei: String(wei) })
    expect([more.status, await send(user, more.body)]).toEqual([200, false])
    expect((await post('/sale', { wallet: user, wei: String(wei) })).body).toEqual({
      error: 'At most 2 ether for each wallet.',
      code: 'TOO_MUCH',
    })
    expect((await post('/sale', { wallet: stranger, wei: String(wei) })).body['code']).toBe('IDENTITY_REQUIRED')
  }, 60_000)

  test('lets the hook accept the requested swap from a trusted router, once', async () => {
    expect(BigInt(hook.address) & 0x3fffn).toBe(BEFORE_SWAP)
    const wanted = { zeroForOne: true, amountSpecified: '-5' }
    const { status, body } = await post('/swap', { wallet: user, ...CURRENCIES, ...wanted })
    expect(status).toBe(200)
    const swap = async (changes: { from?: Hex; by?: Hex; amount?: bigint; hookData?: string } = {}) => {
      const { from = manager, by = router.address, amount = -5n, hookData = body['hookData'] } = changes
      const key = { ...CURRENCIES, fee: 3_000, tickSpacing: 60, hooks: hook.address }
      const parameters = { zeroForOne: true, amountSpecified: amount, sqrtPriceLimitX96: 0n }
      return (await chain.send({ to: hook, name: 'beforeSwap', from, arguments: [by, key, parameters, hookData] }))
        .reverted
    }
    expect(await swap({ from: user })).toBe('NotPoolManager')
    expect(await swap({ by: sale.address })).toBe('RouterNotTrusted')
    expect(await swap({ amount: -6n })).not.toBeNull()
    expect(await swap({ amount: 5n })).not.toBeNull()
    expect(await swap({ hookData: '0x' })).not.toBeNull()
    expect(await swap()).toBeNull()
    expect(await swap()).not.toBeNull()

    const large = { zeroForOne: true, amountSpecified: `-${parseEther('1001')}` }
    const refused = await post('/swap', { wallet: user, ...CURRENCIES, ...large })
    expect([refused.status, refused.body['code']]).toEqual([403, 'TOO_LARGE'])
    const unknown = await post('/swap', { wallet: stranger, ...CURRENCIES, ...wanted })
    expect([unknown.status, unknown.body['code']]).toEqual([403, 'IDENTITY_REQUIRED'])
  }, 60_000)

  test('the hook has the function that Uniswap v4’s pool manager calls, and returns its selector', async () => {
    const signature = 'beforeSwap(address,(address,address,uint24,int24,address),(bool,int256,uint160),bytes)'
    expect(toFunctionSelector(signature)).toBe('0x575e24b4')
    const { body } = await post('/swap', { wallet: user, ...CURRENCIES, zeroForOne: false, amountSpecified: '7' })
    const key = { ...CURRENCIES, fee: 3_000, tickSpacing: 60, hooks: hook.address }
    const parameters = { zeroForOne: false, amountSpecified: 7n, sqrtPriceLimitX96: 0n }
    const words = [router.address, key, parameters, body['hookData']]
    const outcome = await chain.call({ to: hook, name: 'beforeSwap', from: manager, arguments: words })
    expect(outcome).toEqual({ result: ['0x575e24b4', 0n, 0] })
  }, 60_000)

  const USER = 'the user'
  test.each([
    ['/sale', 400, {}],
    ['/sale', 400, { wallet: USER }],
    ['/sale', 400, { wallet: 'me', wei: '5' }],
    ['/sale', 400, { wallet: USER, wei: '-5' }],
    ['/sale', 400, { wallet: USER, wei: 5.5 }],
    ['/swap', 400, { wallet: USER }],
    ['/swap', 400, { wallet: USER, ...CURRENCIES, zeroForOne: 1, amountSpecified: '5' }],
    ['/other', 404, {}],
  ])('rejects a malformed request: %s with %d, %j', async (path, status, fields: { wallet?: string }) => {
    const sent = fields.wallet === USER ? { ...fields, wallet: user } : fields
    expect((await post(path, sent)).status).toBe(status)
  })
  test('refuses an array', async () => expect((await post('/sale', [])).status).toBe(400))
})
