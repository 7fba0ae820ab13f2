// The registry settings of the config file, and the messages for invalid settings.
import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkChainSettings, parseChainSettings } from '../../src/config/chain-settings.ts'
import { loadConfig } from '../../src/config/config.ts'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { createRegistries } from '../../src/setup/configured-registries.ts'
import { createManualClock } from '../server/manual-clock.ts'
import { newFolder } from '../support/folder.ts'

const REGISTRY = '0xe15a8Ca5BD8464283818088c1760d8f23B6a216E'
const PROGRAM = 'GjXtvmWihnf22Bg48srpzYrs6iGhSUvu1tzsf9L4u9Ck'
const rpc = ['https://one.example', 'https://two.example']

const parse = (chains: unknown) => {
  const { settings } = parseChainSettings(chains)
  checkChainSettings(settings)
  return settings
}

describe('chains', () => {
  test('accept registries of both families', () => {
    const settings = parse({
      base: { rpc, registry: REGISTRY, 'rpc-agreement': 2 },
      solana: { rpc: rpc[0], registry: PROGRAM, 'genesis-hash': PROGRAM },
      mine: { id: 424242, rpc, registry: REGISTRY },
    })
    expect(settings.get('base')).toEqual({ rpcUrls: rpc, registry: REGISTRY.toLowerCase() as never, rpcAgreement: 2 })
    expect(settings.get('solana')).toMatchObject({ registry: PROGRAM, genesisHash: PROGRAM })
    expect(settings.get('mine')?.registry).toBe(REGISTRY.toLowerCase() as never)
  })

  test.each([
    ['an address without quotes', { base: { rpc, registry: 0xaa } }, 'base.registry must be a quoted address'],
    [
      'a Solana registry on an EVM chain',
      { base: { rpc, registry: PROGRAM } },
      'base.registry must be a quoted address',
    ],
    ['an EVM registry on Solana', { solana: { rpc, registry: REGISTRY } }, 'solana.registry must be a quoted address'],
    ['a registry without an RPC URL', { base: { registry: REGISTRY } }, 'base.registry requires base.rpc'],
    ['agreement of one URL', { base: { rpc: rpc[0], 'rpc-agreement': 2 } }, 'requires at least 2 RPC URLs'],
    ['agreement of three', { base: { rpc, 'rpc-agreement': 3 } }, 'base.rpc-agreement must be a whole number'],
    ['a genesis hash on an EVM chain', { base: { rpc, 'genesis-hash': PROGRAM } }, 'unknown setting base.genesis-hash'],
    ['an invalid genesis hash', { solana: { rpc, 'genesis-hash': 'mainnet' } }, 'must be 32 bytes in base58'],
  ])('refuse %s', (_, chains, line) => {
    expect(() => parse(chains)).toThrow(SettingInvalidError)
    expect(() => parse(chains)).toThrow(line)
  })
})

test('the example of docs/configuration.md is valid', () => {
  const page = readFileSync(join(import.meta.dir, '..', '..', 'docs', 'configuration.md'), 'utf8')
  const example = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)]
    .map(([, text]) => text ?? '')
    .find((text) => /^chains:/m.test(text))
  const folder = newFolder()
  const path = join(folder, 'countersign.yaml')
  writeFileSync(path, example ?? '')
  const { chainSettings } = loadConfig({ arguments: ['--config', path], environment: {} })
  expect(chainSettings.get('base')).toMatchObject({ registry: REGISTRY.toLowerCase(), rpcAgreement: 2 })
  expect(chainSettings.get('solana')?.registry).toBe(PROGRAM as never)
})

test('no chain is read without a configured registry', () => {
  const registries = createRegistries(
    { chains: createChainTable(), chainSettings: parse({ base: { rpc }, ethereum: { rpc } }) },
    createManualClock(),
    { warn: () => expect.unreachable() } as never,
  )
  for (const chain of ['base', 'ethereum', 'arbitrum', 'solana'])
    expect(registries.policyIdOf('org', chain, REGISTRY)).toBeNull()
})
