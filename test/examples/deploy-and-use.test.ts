// docs/examples/deploy-and-use.ts with the running service and a local node, without preparation.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AnvilProcess, describeOnChain, startAnvil } from '../chain/anvil.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { environmentOf, fundAccount, runExample } from './support.ts'

describeOnChain('docs/examples/deploy-and-use.ts', () => {
  let node: AnvilProcess
  let service: RunningService
  beforeAll(async () => {
    node = await startAnvil(11155111, 'usual')
    service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  })
  afterAll(async () => {
    await Promise.all([node?.stop(), service?.stop()])
  })

  test('deploys, binds, attests and spends', async () => {
    const { privateKey } = await fundAccount(node.url, 7)
    const printed = await runExample('deploy-and-use.ts', {
      ...environmentOf(service),
      CHAIN: 'sepolia',
      RPC_URL: node.url,
      PRIVATE_KEY: privateKey,
    })
    const lines = printed.trim().split('\n')
    expect(lines[0]).toMatch(/^PolicyRegistry is at 0x[0-9a-f]{40}$/)
    expect(lines[1]).toMatch(/^GuardedVault is at 0x[0-9a-f]{40}$/)
    expect(lines[2]).toMatch(/^0x[0-9a-fA-F]{40} on sepolia belongs to the project$/)
    expect(lines[3]).toBe(`attested by ${service.quickstart['EVM_ATTESTER']}, which checks out offline: true`)
    expect(lines[4]).toMatch(/^deposited 5 wei for [0-9]+ gas$/)
    expect(lines.slice(5)).toEqual(['the same attestation again: UuidAlreadyUsed'])
  })
})
