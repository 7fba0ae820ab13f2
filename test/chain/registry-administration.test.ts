// Administration of policy registries, both fixed and behind a proxy, and upgrades of registries behind a proxy.
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

    test('has the owner of its deployment', async () => {
      expect(await chain.read<Hex>(registry, 'owner')).toBe(owner)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(ZERO)
    })

    test('stores a policy identifier per client', async () => {
      for (const policy of ['x-0123456789abcdef', `x-${'0'.repeat(62)}`, '']) {
        await chain.send({ to: registry, name: 'setPolicyID', arguments: [policy], from: second })
        expect(await chain.read<string>(registry, 'getPolicyID', second)).toBe(policy)
        expect(await chain.read<string>(registry, 'getPolicyID', third)).toBe('')
      }
    })

    test('only the owner adds and removes attesters, once each, and never the zero address', async () => {
      const { address } = attester
      for (const name of ['registerAttester', 'deregisterAttester'] as const) {
        expect(await chain.call({ ...change(name, address), from: second })).toEqual({ reverted: 'CallerNotOwner' })
      }
      expect(await chain.call(change('registerAttester', ZERO))).toEqual({ reverted: 'AttesterZero' })
      expect(await chain.call(change('deregisterAttester', address))).toEqual({ reverted: 'AttesterUnknown' })
      expect((await chain.send(change('registerAttester', address))).reverted).toBeNull()
      expect(await chain.call(change('registerAttester', address))).toEqual({ reverted: 'AttesterAlreadyRegistered' })
    })

    test('lists the registered attesters after any sequence of changes', async () => {
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

    test('only the proposed owner can accept ownership, until the proposal is withdrawn', async () => {
      const propose = async (to: Hex, from: Hex): Promise<string | null> =>
        (await chain.send({ to: registry, name: 'transferOwnership', arguments: [to], from })).reverted
      const accept = async (from: Hex): Promise<string | null> =>
        (await chain.send({ to: registry, name: 'acceptOwnership', from })).reverted
      expect(await propose(third, third)).toBe('CallerNotOwner')

      expect(await propose(second, owner)).toBeNull()
      expect(await chain.read<Hex>(registry, 'owner')).toBe(owner)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(second)
      expect(await accept(third)).toBe('CallerNotPendingOwner')
      expect(await propose(ZERO, owner)).toBeNull()
      expect(await accept(second)).toBe('CallerNotPendingOwner')

      expect(await propose(second, owner)).toBeNull()
      expect(await accept(second)).toBeNull()
      expect(await chain.read<Hex>(registry, 'owner')).toBe(second)
      expect(await chain.read<Hex>(registry, 'pendingOwner')).toBe(ZERO)
      expect(await accept(second)).toBe('CallerNotPendingOwner')
      expect(await propose(owner, owner)).toBe('CallerNotOwner')
    })
  })

  test('a fixed registry requires an owner', async () => {
    await expect(chain.deploy('PolicyRegistry', ZERO)).rejects.toThrow('reverted')
  })

  test('an implementation cannot be initialized, and a proxy can be initialized only once', async () => {
    const implementation = await chain.deploy('PolicyRegistryUpgradeable')
    const initialize = { name: 'initialize', arguments: [second], from: second } as const
    expect(await chain.call({ to: implementation, ...initialize })).toEqual({ reverted: 'InvalidInitialization' })
    const proxied = await deployProxied(chain)
    expect(await chain.call({ to: proxied, ...initialize })).toEqual({ reverted: 'InvalidInitialization' })
  })

  test('only the owner can upgrade, and an upgrade keeps owner, attesters, policies and spent uuids', async () => {
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
    const values = [statementArgument(statement), attester.attest(statement)]
    const validation = { to: registry, name: 'validateAttestation', arguments: values, from: third } as const
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
