// Events on the live page: process starts, and resizes and policy activations from the audit log.
import { expect, test } from 'bun:test'
import { createSeenStarts } from '../../src/admin/live/events.ts'
import type { ProcessesLook } from '../../src/admin/live/processes.ts'
import { DEMO_POLICY } from '../../src/policy/tools/templates.ts'
import { harnessOfFile } from './support/harness.ts'

const harness = await harnessOfFile()

test('each start of a process is reported once', () => {
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

test('resizes and activations in the window are shown to deployment admins', async () => {
  const { cookie } = await harness.person({ email: 'ada@example.com', deploymentAdmin: true })
  const { key } = await harness.organization('alpha')
  const call = async <Body = unknown>(method: string, path: string, body?: unknown) => {
    const answer = await harness.call<Body>(method, path, { cookie, body })
    expect(answer.status).toBeLessThan(300)
    return answer.body
  }
  const events = async (window: string) => {
    const path = `/live/events?window=${window}`
    return (await call<{ events: { kind: string; text: string }[] }>('GET', path)).events.map(({ kind, text }) => [
      kind,
      text,
    ])
  }
  await call('PATCH', '/pool', { workers: 3 })
  harness.clock.advance(1_000)
  const policies = '/organizations/alpha/policies'
  const saved = { source: DEMO_POLICY }
  const { policy, revision } = await call<Record<'policy' | 'revision', { id: string }>>('POST', policies, saved)
  await call('POST', `${policies}/${policy.id}/activate`, { revision_id: revision.id })
  const resized = ['resize', 'Resized to 3 workers per process, by ada@example.com']
  const activated = ['policy', 'Demo policy of alpha: revision 1 became live']
  expect(await events('15m')).toEqual([activated])
  expect(await events('24h')).toEqual([resized, activated])
  expect(await harness.status('GET', '/live/events', { key })).toBe(403)
})
