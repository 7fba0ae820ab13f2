// The chain checks of `countersign doctor` against real nodes: each result and the exit code.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChainCheck } from '../../src/setup/chain-inspection.ts'
import { describeOnChain } from '../chain/anvil.ts'
import { testAttester } from '../chain/attesting.ts'
import { type Deployed, type LocalChain, startLocalChain } from '../chain/local-chain.ts'
import { freePort, type RunningService, runCommand, startService } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { CONTRACT } from './support.ts'

describeOnChain('countersign doctor', () => {
  let folder: string
  let chain: LocalChain
  let registry: Deployed
  let service: RunningService
  let attester: string

  beforeAll(async () => {
    folder = newFolder()
    chain = await startLocalChain(8453)
    registry = await chain.deploy('PolicyRegistry', chain.accounts[0])
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
    attester = service.quickstart['EVM_ATTESTER'] ?? ''
  })
  afterAll(async () => {
    await Promise.all([service?.stop(), chain?.stop()])
  })

  const doctor = async (chains: unknown, ...words: string[]) => {
    const config = join(folder, `${crypto.randomUUID()}.json`)
    writeFileSync(config, JSON.stringify({ chains }))
    return runCommand(service.dataDirectory, 'doctor', '--config', config, ...words)
  }
  const checks = async (chains: unknown, ...words: string[]) => {
    const { code, stdout } = await doctor(chains, '--json', ...words)
    const { ok, checks: found } = JSON.parse(stdout) as { ok: boolean; checks: ChainCheck[] }
    expect(code).toBe(ok ? 0 : 1)
    return { code, found, of: (check: string) => found.filter((one) => one.check === check) }
  }
  const register = (address: string, name = 'registerAttester') =>
    chain.send({ to: registry, name, arguments: [address] })

  test('reports an unregistered attester until it is registered', async () => {
    const chains = { base: { rpc: chain.url, registry: registry.address } }
    const before = await checks(chains)
    expect(before.code).toBe(1)
    const detail = 'active but not registered, so the chain refuses it: ask the registry’s owner to register it'
    const check = { chain: 'base', check: 'attester', subject: attester, result: 'problem', detail }
    expect(before.of('attester')).toEqual([check as ChainCheck])
    await register(attester)
    const after = await checks(chains)
    expect(after.code).toBe(0)
    const results = after.found.map(({ check: name, result }) => `${name} ${result}`)
    expect(results).toEqual(['rpc ok', 'clock ok', 'registry ok', 'attester ok'])
  })

  test('notes registered attesters that are unknown to the service', async () => {
    const stranger = testAttester(1).address
    await register(stranger)
    const { code, of } = await checks({ base: { rpc: chain.url, registry: registry.address } })
    expect(code).toBe(0)
    expect(of('attester').at(-1)).toMatchObject({ subject: stranger, result: 'note' })
    await register(stranger, 'deregisterAttester')
  })

  test('reports an unreachable URL, a URL of another chain and a missing registry, and continues with the other checks', async () => {
    const { code, found } = await checks({
      base: { rpc: [`http://127.0.0.1:${freePort()}`, chain.url], registry: registry.address },
      ethereum: { rpc: chain.url, registry: registry.address },
      bsc: { rpc: chain.url },
      mine: { id: 8454, rpc: chain.url },
    })
    expect(code).toBe(1)
    const summary = found.map((one) => `${one.chain} ${one.check} ${one.result}`)
    expect(summary).toEqual([
      'ethereum rpc problem',
      'ethereum registry problem',
      'base rpc problem',
      'base rpc ok',
      'base clock ok',
      'base registry ok',
      'base attester ok',
      'bsc rpc problem',
      'bsc registry note',
      'mine rpc problem',
      'mine registry note',
    ])
    expect(found[0]?.detail).toStartWith('the RPC endpoint serves chain 8453 instead of 1: ')
    const missing = await checks({ base: { rpc: chain.url, registry: CONTRACT } })
    expect(missing.of('registry')[0]).toMatchObject({
      result: 'problem',
      detail: expect.stringMatching(/^there is no code at this address: /),
    })
    const vault = await chain.deploy('BasicGuardedVault', chain.accounts[0], registry.address, 'x')
    const wrong = await checks({ base: { rpc: chain.url, registry: vault.address } })
    expect(wrong.of('registry').map(({ result }) => result)).toEqual(['ok', 'problem'])
  })

  test('prints a table without paths of RPC URLs', async () => {
    const { code, stdout } = await doctor({ base: { rpc: `${chain.url}/?key=secret-key`, registry: registry.address } })
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toMatch(/^CHAIN +CHECK +RESULT +SUBJECT +DETAIL$/)
    expect(stdout).toMatch(/base +attester +ok +0x[0-9A-Fa-f]{40} +active, registered/)
    expect(stdout).not.toContain('secret-key')
  })

  test('skips chains without RPC URLs, rejects invalid arguments, and can check a single chain', async () => {
    const none = await doctor({})
    expect([none.code, none.stdout.split('\n')[0]]).toEqual([0, 'no chain has an RPC URL, so no chain is checked'])
    expect(none.stdout).toMatch(/^- +scanner +note +scanner +submitted documents are not scanned/m)
    expect((await doctor({}, '--scanner', 'tcp:127.0.0.1:3310')).stdout).not.toContain('scanner')
    expect((await doctor({}, '--chain', 'dogechain')).code).toBe(2)
    expect((await doctor({}, '--unknown')).code).toBe(2)
    expect((await doctor({}, '--help')).code).toBe(0)
    const one = await checks({ base: { rpc: chain.url }, bsc: { rpc: chain.url } }, '--chain', 'base')
    expect(new Set(one.found.map(({ chain: name }) => name))).toEqual(new Set(['base']))
  })

  // Last, because the clock of the chain stays ahead.
  test('reports a clock that is behind the chain', async () => {
    await chain.setNextTimestamp(Math.floor(Date.now() / 1000) + 3_600)
    await chain.mine()
    const { code, of } = await checks({ base: { rpc: chain.url, registry: registry.address } })
    expect(code).toBe(1)
    expect(of('clock')[0]).toMatchObject({ result: 'problem' })
    expect(of('clock')[0]?.detail).toMatch(/^the latest block is 3[56][0-9]{2} s ahead/)
  })
})
