// Shipping of decisions by a running service, including the last ones before it stops, with metrics.
import { afterEach, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { verifyNodes } from '../../src/modules/log-shipping/verify-nodes.ts'
import { createBucketTarget } from '../../src/object-store/ship-bucket.ts'
import { createFolderTarget } from '../../src/object-store/ship-folder.ts'
import { removeTemporaryDirectories, temporaryDirectory } from '../decision-log/fixtures.ts'
import { type RunningService, startService } from '../service/start-service.ts'
import { until } from '../support/until.ts'
import { startFakeBucket } from './fake-bucket.ts'

afterEach(removeTemporaryDirectories)

const metric = async (service: RunningService, name: string): Promise<number | null> => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const found = new RegExp(`^${name}(?:\\{[^}]*\\})? ([0-9.e+-]+)$`, 'm').exec(text)
  return found === null ? null : Number(found[1])
}

const attestSome = async (service: RunningService, count: number): Promise<void> => {
  for (let number = 0; number < count; number++) {
    const response = await service.attest({
      verification_hash: service.quickstart['VERIFICATION_HASH'],
      from: '0x000000000000000000000000000000000000dEaD',
      chain: 'sepolia',
    })
    expect(response.status).toBe(200)
  }
}

describe('the service', () => {
  test('ships to a folder while it runs and when it stops', async () => {
    const folder = temporaryDirectory()
    const service = await startService({
      arguments: ['--decisions-ship', `dir:${folder}`, '--decisions-ship-interval-seconds', '1'],
    })
    try {
      await attestSome(service, 3)
      await until(() => (readdirSync(folder, { recursive: true }) as string[]).some((name) => name.endsWith('.part')))
      await until(async () => (await metric(service, 'countersign_decision_shipping_unshipped_bytes')) === 0)
      expect(await metric(service, 'countersign_decision_shipping_lag_seconds')).toBeLessThan(30)
      expect(await metric(service, 'countersign_decision_shipping_failures_total')).toBe(0)
      await attestSome(service, 2)
    } finally {
      expect(await service.stop()).toBe(0)
    }
    const report = await verifyNodes(createFolderTarget(folder))
    expect(report.ok).toBe(true)
    expect(report.nodes.map(({ decisions }) => decisions)).toEqual([5])
  }, 60_000)

  test('ships to a bucket with credentials from the environment', async () => {
    const bucket = startFakeBucket('logs')
    const service = await startService({
      environment: {
        COUNTERSIGN_DECISIONS_SHIP: 's3://logs/prod',
        COUNTERSIGN_DECISIONS_SHIP_ENDPOINT: bucket.endpoint,
        COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS: 'id:very-secret',
      },
    })
    try {
      await attestSome(service, 2)
    } finally {
      expect(await service.stop()).toBe(0)
    }
    expect(service.output().stderr).not.toContain('very-secret')
    const target = createBucketTarget(
      { kind: 'bucket', bucket: 'logs', prefix: 'prod/' },
      { endpoint: bucket.endpoint, region: 'us-east-1', accessKeyId: 'id', secretAccessKey: 's', sessionToken: null },
    )
    const report = await verifyNodes(target)
    await bucket.stop()
    expect(report).toMatchObject({ ok: true, nodes: [{ decisions: 2 }] })
  }, 60_000)

  test('does not start with a bucket without credentials', async () => {
    const started = startService({ arguments: ['--decisions-ship', 's3://logs'] })
    await expect(started).rejects.toThrow('COUNTERSIGN_DECISIONS_SHIP_CREDENTIALS')
  }, 60_000)
})
