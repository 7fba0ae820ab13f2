// What happened beside the figures of the live page: each start once, and what the audit log says of resizes and policies.
import { afterAll, expect, test } from 'bun:test'
import { createSeenStarts } from '../../src/admin/live/events.ts'
import type { ProcessesLook } from '../../src/admin/live/processes.ts'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import { startHarness } from './support/harness.ts'

const harness = await startHarness()
afterAll(() => harness.close())

test('a process that starts, or starts again, is seen once', () => {
  const starts = createSeenStarts()
  const look = (...processes: readonly (readonly [index: number, pid: number | null, at: number])[]): void =>
    starts.look({
      target: { processes: processes.length, workers: 1 },
      processesMax: 8,
      processes: processes.map(([index, pid, startedAtMs]) => ({
        index,
        pid,
        state: pid === null ? 'down' : 'ready',
        startedAtMs: pid === null ? null : startedAtMs,
        reading: null,
      })),
    } satisfies ProcessesLook)
  look([0, 10, 1_000])
  look([0, 10, 1_000], [1, 11, 2_000])
  look([0, 10, 1_000], [1, null, 0])
  look([0, 10, 1_000], [1, 12, 3_000])
  expect(starts.since(0).map(({ at, text }) => [at, text])).toEqual([
    [1_000, 'The service started'],
    [2_000, 'Process 1 started'],
    [3_000, 'Process 1 started'],
  ])
  expect(starts.since(2_500)).toHaveLength(1)
})

test('resizes and policies made live are told in words, of the window only, to the deployment’s admins', async () => {
  const { cookie } = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
  const organization = await harness.organization('alpha')
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await harness.call(method, path, { cookie, body })
    expect(answer.status).toBeLessThan(300)
    return answer.body
  }
  const events = async (window: string) =>
    ((await call('GET', `/live/events?window=${window}`))['events'] as { kind: string; text: string }[]).map(
      ({ kind, text }) => [kind, text],
    )
  await call('PATCH', '/pool', { workers: 3 })
  harness.clock.advance(1_000)
  const made = (await call('POST', '/organizations/alpha/policies', { source: DEMO_POLICY })) as {
    policy: { id: string }
    revision: { id: string }
  }
  await call('POST', `/organizations/alpha/policies/${made.policy.id}/activate`, { revision_id: made.revision.id })
  const resized = ['resize', 'Resized to 3 workers per process, by ada@example.com']
  const live = ['policy', 'Demo policy of alpha: revision 1 became live']
  expect(await events('15m')).toEqual([live])
  expect(await events('24h')).toEqual([resized, live])
  const response = await harness.request('GET', '/live/events', { key: organization.key })
  expect(response.status).toBe(403)
})
