// What owners and clients do with a policy registry, the same for the fixed one and the one behind a proxy; and what
// only the proxied one does.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeFunctionData, getAddress, type Hex } from 'viem'
import { describeOnChain } from './anvil.ts'
import { statementArgument, testAttester } from './attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from './local-chain.ts'

const ZERO: Hex = `0x${'00'.repeat(20)}`
/** keccak256("eip1967.proxy.implementation") - 1. */
const IMPLEMENTATION_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'

const attester = testAttester(1)

const deployFixed = (chain: LocalChain): Promise<Deployed> => chain.deploy('PolicyRegistry', chain.accounts[0])

const deployProxied = async (chain: LocalChain): Promise<Deployed> => {
  const implementation = await chain.deploy('PolicyRegistryUpgradeable')
  const { abi } = implementation
  const initialization = encodeFunctionData({ abi, functionName: 'initialize', args: [chain.accounts[0]] })
  const proxy = await chain.deploy('ERC1967Proxy', implementation.address, initialization)
  return { address: proxy.address, abi }
}

describeOnChain('a policy registry', () => {
  let chain: LocalChain
  let owner: Hex
  let second: Hex
  let third: Hex
  beforeAll(async () => {
    chain = await startLocalChain(8453)
    ;[owner, second, third] = chain.accounts as [Hex, Hex, Hex]
  })
  afterAll(() => chain?.stop())

  describe.each([
    ['fixed', deployFixed],
    ['behind a proxy', deployProxied],
  ] as const)('%s', (_, deploy) => {
    let registry: Deployed
    beforeAll(async () => {
      registry = await deploy(chain)
    })
    const change = (name: 'registerAttester' | 'deregisterAttester', address: string) =>
      ({ to: registry, name, arguments: [address] }) as const

    test('has the owner that it was deployed with', async () => {
      expect(await chain.read<Hex>(registry, 'owner')).toBe(owner)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(ZERO)
    })

    test('each client sets its own policy identifier', async () => {
      for (const policy of ['x-0123456789abcdef', `x-${'0'.repeat(62)}`, '']) {
        await chain.send({ to: registry, name: 'setPolicyID', arguments: [policy], from: second })
        expect(await chain.read<string>(registry, 'getPolicyID', second)).toBe(policy)
        expect(await chain.read<string>(registry, 'getPolicyID', third)).toBe('')
      }
    })

    test('attesters are added and removed by the owner only, once each, and never the zero address', async () => {
      const { address } = attester
      for (const name of ['registerAttester', 'deregisterAttester'] as const) {
        expect(await chain.call({ ...change(name, address), from: second })).toEqual({ reverted: 'CallerNotOwner' })
      }
      expect(await chain.call(change('registerAttester', ZERO))).toEqual({ reverted: 'AttesterZero' })
      expect(await chain.call(change('deregisterAttester', address))).toEqual({ reverted: 'AttesterUnknown' })
      expect((await chain.send(change('registerAttester', address))).reverted).toBeNull()
      expect(await chain.call(change('registerAttester', address))).toEqual({ reverted: 'AttesterAlreadyRegistered' })
    })

    test('after any sequence of changes, the list is the set of those that are registered', async () => {
      const candidates = Array.from({ length: 6 }, (_, index) => testAttester(index + 10).address)
      const model = new Set(await chain.read<Hex[]>(registry, 'getRegisteredAttesters'))
      for (const choice of fc.sample(fc.integer({ min: 0, max: candidates.length - 1 }), 60)) {
        const address = candidates[choice]!
        const isRegistered = model.has(address)
        const sent = await chain.send(change(isRegistered ? 'deregisterAttester' : 'registerAttester', address))
        expect(sent.reverted).toBeNull()
        if (isRegistered) model.delete(address)
        else model.add(address)
        const listed = await chain.read<Hex[]>(registry, 'getRegisteredAttesters')
        expect([...listed].sort()).toEqual([...model].sort())
        expect(await chain.read<boolean>(registry, 'isAttesterRegistered', address)).toBe(!isRegistered)
      }
    })

    test('ownership is offered, then accepted; an offer can be withdrawn; nobody else can take it', async () => {
      const offer = async (to: Hex, from: Hex): Promise<string | null> =>
        (await chain.send({ to: registry, name: 'transferOwnership', arguments: [to], from })).reverted
      const accept = async (from: Hex): Promise<string | null> =>
        (await chain.send({ to: registry, name: 'acceptOwnership', from })).reverted
      expect(await offer(third, third)).toBe('CallerNotOwner')

      expect(await offer(second, owner)).toBeNull()
      expect(await chain.read<Hex>(registry, 'owner')).toBe(owner)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(second)
      expect(await accept(third)).toBe('CallerNotPendingOwner')
      expect(await offer(ZERO, owner)).toBeNull()
      expect(await accept(second)).toBe('CallerNotPendingOwner')

      expect(await offer(second, owner)).toBeNull()
      expect(await accept(second)).toBeNull()
      expect(await chain.read<Hex>(registry, 'owner')).toBe(second)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(ZERO)
      expect(await accept(second)).toBe('CallerNotPendingOwner')
      expect(await offer(owner, owner)).toBe('CallerNotOwner')
    })
  })

  test('a fixed registry is never without an owner', async () => {
    await expect(chain.deploy('PolicyRegistry', ZERO)).rejects.toThrow('reverted')
  })

  test('the implementation can be initialized by nobody, the proxy only once', async () => {
    const implementation = await chain.deploy('PolicyRegistryUpgradeable')
    const initialize = { name: 'initialize', arguments: [second], from: second } as const
    expect(await chain.call({ to: implementation, ...initialize })).toEqual({ reverted: 'InvalidInitialization' })
    expect(await chain.call({ to: await deployProxied(chain), ...initialize })).toEqual({
      reverted: 'InvalidInitialization',
    })
  })

  test('an upgrade is the owner’s, and leaves owner, attesters, policies and spent uuids where they are', async () => {
    const registry = await deployProxied(chain)
    const before = await chain.request<Hex>('eth_getStorageAt', [registry.address, IMPLEMENTATION_SLOT, 'latest'])
    const statement = {
      chainId: 8453,
      uuid: crypto.randomUUID(),
      from: second.toLowerCase(),
      to: third.toLowerCase(),
      value: 0n,
      data: '0x',
      policy: 'x-0123456789abcdef',
      expirationSeconds: (await chain.timestampSeconds()) + 300,
    }
    const validation = {
      to: registry,
      name: 'validateAttestation',
      arguments: [statementArgument(statement), attester.attest(statement)],
      from: third,
    } as const
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester.address] })
    await chain.send({ to: registry, name: 'setPolicyID', arguments: ['x-0123456789abcdef'], from: third })
    expect((await chain.send(validation)).reverted).toBeNull()

    const next = await chain.deploy('PolicyRegistryUpgradeable')
    const upgrade = { to: registry, name: 'upgradeToAndCall', arguments: [next.address, '0x'] } as const
    expect(await chain.call({ ...upgrade, from: second })).toEqual({ reverted: 'CallerNotOwner' })
    expect((await chain.send(upgrade)).reverted).toBeNull()

    const after = await chain.request<Hex>('eth_getStorageAt', [registry.address, IMPLEMENTATION_SLOT, 'latest'])
    expect(after).not.toBe(before)
    expect(getAddress(`0x${after.slice(-40)}`)).toBe(next.address)
    expect(await chain.read<Hex>(registry, 'owner')).toBe(owner)
    expect(await chain.read<Hex[]>(registry, 'getRegisteredAttesters')).toEqual([attester.address])
    expect(await chain.read<string>(registry, 'getPolicyID', third)).toBe('x-0123456789abcdef')
    expect(await chain.call(validation)).toEqual({ reverted: 'UuidAlreadyUsed' })
  })
})
