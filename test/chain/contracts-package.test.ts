// The package in contracts/: its README and examples, its CREATE2 addresses, and its mixins behind a proxy.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeFunctionData, type Hex } from 'viem'
import { loadContracts, standardInput } from '../../contracts/build.ts'
import { create2Deployment, DEPLOYER } from '../../contracts/create2.ts'
import contractsPackage from '../../contracts/package.json'
import { dependencies, devDependencies } from '../../package.json'
import { describeOnChain } from './anvil.ts'
import { encodeInternal, testAttester } from './attesting.ts'
import { type LocalChain, startLocalChain } from './local-chain.ts'

const FOLDER = join(import.meta.dir, '..', '..', 'contracts')
const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8')
const readExample = (path: string): string => readFileSync(join(FOLDER, 'examples', path), 'utf8')
const TIMEOUT_MS = 120_000

test(
  'the contract of the README is in both examples, and compiles with the Foundry test under the name of the package',
  TIMEOUT_MS,
  async () => {
    const content = /```solidity\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
    for (const path of ['foundry/src', 'hardhat/contracts']) expect(readExample(`${path}/Counter.sol`)).toBe(content)
    const tests = readExample('foundry/test/Counter.t.sol')
    const imported = [...`${content}${tests}`.matchAll(/from "@countersign\/contracts\/([^"]+)"/g)].map(
      ([, path = '']) => path,
    )
    expect(imported.length).toBeGreaterThan(3)
    for (const path of imported) expect(existsSync(join(FOLDER, path))).toBe(true)
    const { language, settings, sources } = standardInput()
    // Only the sources of the mixins, because all sources take a minute.
    const named = Object.entries(sources).flatMap(([name, source]) =>
      /^src\/(?!PolicyRegistryUpgradeable)\w+\.sol$/.test(name)
        ? [[`${contractsPackage.name}/${name}`, source] as const]
        : [],
    )
    const example = { 'src/Counter.sol': { content }, 'test/Counter.t.sol': { content: tests } }
    const compiled = await loadContracts({ language, settings, sources: { ...Object.fromEntries(named), ...example } })
    for (const name of ['Counter', 'CounterTest']) expect(compiled[name]?.deployedBytecode.length).toBeGreaterThan(2)
  },
)

test('the examples use the compiler, settings and remappings of the package', () => {
  const { evmVersion, optimizer } = standardInput().settings
  const { solc, viem } = { ...dependencies, ...devDependencies }
  const foundry = Bun.TOML.parse(readExample('foundry/foundry.toml')) as { profile: { default: object } }
  expect(foundry.profile.default).toMatchObject({ solc, evm_version: evmVersion, optimizer_runs: optimizer.runs })
  expect(readExample('foundry/remappings.txt')).toBe(readFileSync(join(FOLDER, 'remappings.txt'), 'utf8'))
  const hardhat = JSON.parse(readExample('hardhat/package.json')) as { devDependencies: Record<string, string> }
  expect(hardhat.devDependencies).toMatchObject({ solc, viem })
  const config = readExample('hardhat/hardhat.config.ts')
  for (const text of [`version: '${solc}'`, `evmVersion: '${evmVersion}'`, 'runs: 10_000'])
    expect(config).toContain(text)
})

test('the package has its files, and the README has its remappings', () => {
  for (const path of contractsPackage.files.filter((file) => !file.includes('*'))) {
    expect(existsSync(join(FOLDER, path))).toBe(true)
  }
  expect(readme).toContain(readFileSync(join(FOLDER, 'remappings.txt'), 'utf8'))
})

describeOnChain('contracts/', () => {
  let chain: LocalChain
  beforeAll(async () => {
    chain = await startLocalChain(8453)
  }, TIMEOUT_MS)
  afterAll(() => chain?.stop())

  test('deploys to the addresses of create2.ts and the README', async () => {
    const contracts = await loadContracts()
    const [owner] = chain.accounts as [Hex]
    const upgradeable = create2Deployment(contracts, 'PolicyRegistryUpgradeable', [])
    expect(readme).toContain(`| \`${upgradeable.address}\` |`)
    for (const { address, data } of [upgradeable, create2Deployment(contracts, 'PolicyRegistry', [owner])]) {
      expect(await chain.request<Hex>('eth_getCode', [address, 'latest'])).toBe('0x')
      const transaction = { from: owner, to: DEPLOYER, data, gas: '0x4c4b40', gasPrice: '0x0' }
      await chain.request('eth_sendTransactionSync', [transaction])
      expect((await chain.request<Hex>('eth_getCode', [address, 'latest'])).length).toBeGreaterThan(2)
    }
    const { address } = create2Deployment(contracts, 'PolicyRegistry', [owner])
    expect(await chain.read<Hex>({ address, abi: contracts['PolicyRegistry']!.abi }, 'owner')).toBe(owner)
    expect(() => create2Deployment(contracts, 'PolicyClient', [])).toThrow('no contract PolicyClient')
  })

  test('has mixins that store their state in a proxy', async () => {
    const [owner, user] = chain.accounts as [Hex, Hex]
    const attester = testAttester(1)
    const registry = await chain.deploy('PolicyRegistry', owner)
    await chain.send({ to: registry, name: 'registerAttester', arguments: [attester.address] })
    const implementation = await chain.deploy('UpgradeableGuardedVault')
    const { abi } = implementation
    const policy = 'x-0123456789abcdef'
    const args = [owner, registry.address, policy]
    const initialization = encodeFunctionData({ abi, functionName: 'initialize', args })
    const { address } = await chain.deploy('ERC1967Proxy', implementation.address, initialization)
    const vault = { address, abi }
    expect(await chain.read<string>(vault, 'getPolicyID')).toBe(policy)
    expect(await chain.read<string>(implementation, 'getPolicyID')).toBe('')
    for (const to of [vault, implementation]) {
      const again = { to, name: 'initialize', arguments: [user, registry.address, policy] }
      expect((await chain.send(again)).reverted).toBe('InvalidInitialization')
    }
    const data = encodeInternal('_deposit(address)', ['address', user])
    const expirationSeconds = (await chain.timestampSeconds()) + 300
    const deposit = async (value: bigint, signedFor: Hex) => {
      const statement = { chainId: 8453, uuid: crypto.randomUUID(), from: user, to: signedFor, value: 5n, data, policy }
      const attestation = attester.attest({ ...statement, expirationSeconds })
      const call = { to: vault, name: 'deposit', arguments: [user, attestation], from: user, value }
      return (await chain.send(call)).reverted
    }
    expect(await deposit(6n, address)).not.toBeNull()
    expect(await deposit(5n, implementation.address)).not.toBeNull()
    expect(await deposit(5n, address)).toBeNull()
    expect(await chain.read<bigint>(vault, 'balanceOf', user)).toBe(5n)
  })
})
