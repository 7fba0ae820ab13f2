// Latencies per organization, which are written once even if the first attempt fails.
import { expect, test } from 'bun:test'
import type { BucketCounts } from '../../src/lib/histogram.ts'
import { createOrganizationLatency } from '../../src/telemetry/request-metrics.ts'

const sumOf = (counts: BucketCounts): number => [...counts.values()].reduce((sum, count) => sum + count, 0)

const drained = async (latency: ReturnType<typeof createOrganizationLatency>) => {
  const taken: Record<string, number> = {}
  await latency.drain(async (organizationId, counts) => {
    taken[organizationId] = sumOf(counts)
  })
  return taken
}

test('each latency is drained once; after a failure, it is drained with later ones', async () => {
  const latency = createOrganizationLatency()
  latency.record('one', 1)
  latency.record('one', 900)
  latency.record('other', 3)
  const failing = latency.drain(async (organizationId) => {
    if (organizationId === 'other') return
    latency.record('one', 5)
    throw new Error('locked')
  })
  await expect(failing).rejects.toThrow('locked')
  expect(await drained(latency)).toEqual({ one: 3, other: 1 })
  expect(await drained(latency)).toEqual({})
})

test('the number of measured organizations is limited until they are drained', async () => {
  const latency = createOrganizationLatency(2)
  for (const organizationId of ['a', 'b', 'c', 'a']) latency.record(organizationId, 1)
  expect(await drained(latency)).toEqual({ a: 2, b: 1 })
  latency.record('c', 1)
  expect(await drained(latency)).toEqual({ c: 1 })
})
