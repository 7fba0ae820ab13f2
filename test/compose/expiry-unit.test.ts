// v1 tasks of chains without an RPC URL use seconds, which the start, the first task of a chain and `doctor` report.
import { expect, test } from 'bun:test'
import { createExpiry } from '../../src/compose/expiry-service.ts'
import { loadConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/lib/time.ts'
import { inspectExpiryUnit, SECONDS_REMEDY } from '../../src/setup/expiry-unit.ts'
import { createLogger } from '../../src/telemetry/log.ts'

test('chains without an RPC URL are reported at the start and at their first task', () => {
  const config = loadConfig({ arguments: [], environment: { COUNTERSIGN_RPC_ETHEREUM: 'https://rpc.example' } })
  const lines: Record<string, unknown>[] = []
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line)) })
  const expiry = createExpiry(config, systemClock, log)
  expect(lines).toEqual([expect.objectContaining({ level: 'info', message: SECONDS_REMEDY })])
  expect(lines[0]?.['chains']).toContain('base')
  // A chain with an RPC URL, Solana, and a chain that always uses seconds.
  for (const name of ['ethereum', 'solana', 'arbitrum']) expect(lines[0]?.['chains']).not.toContain(name)
  const [finding] = inspectExpiryUnit(config)
  expect(finding).toMatchObject({
    check: 'expiry',
    result: 'note',
    subject: String(lines[0]?.['chains']).replaceAll(',', ', '),
  })

  for (const name of ['arbitrum', 'base', 'base']) expiry.known(name, 1_000, 60)
  expect(lines.slice(1)).toEqual([expect.objectContaining({ level: 'warn', message: SECONDS_REMEDY, chain: 'base' })])
})
