// The job that replays a policy accepts a saved text, even if one of its tests has become invalid.
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/lib/time.ts'
import { replayInJob } from '../../src/modules/policy-lab/commands/policy-replay-job.ts'
import { replayOf } from '../../src/modules/policy-lab/service/prepare-replay.ts'
import { replayPolicy } from '../../src/modules/policy-lab/worker/policy-replay.ts'
import type { Task } from '../../src/store/tasks.ts'
import { newFolder } from '../support/folder.ts'

const source = `name: Saved
rules: [{ id: all, allow: "true" }]
tests: [{ request: { from: "0x${'1'.repeat(40)}", chain: mine, chain_id: 9007199254740993 }, verdict: allow }]
`

test('a saved text is prepared and replayed', async () => {
  const directory = newFolder()
  const { prepare } = replayOf({
    folder: { decisions: directory },
    config: { chains: { chains: [] } },
    clock: systemClock,
  } as unknown as Parameters<typeof replayOf>[0])
  const task = { kind: 'policy.replay', organizationId: 'org_a', input: { source } } as unknown as Task
  expect((await prepare(task)).input).toMatchObject({ source, directory, organizationId: 'org_a' })
  const times = { sinceMs: 0, untilMs: 1 }
  const replay = {
    directory,
    source,
    organizationId: 'org_a',
    policyId: 'policy_a',
    ...times,
    chains: [],
    required: {},
  }
  expect(await replayPolicy(replay, [], 0, () => undefined)).toMatchObject({ decisions: 0, unreadable: 0 })
})

test.each([
  ['failed', 'no decision log exists yet', 'the replay failed: no decision log exists yet'],
  ['cancelled', null, 'the replay was canceled'],
])('a job that %s is reported in a complete sentence', async (state, failure, message) => {
  const call = () => Promise.resolve({ id: 'job_a', state, failure, result: null })
  const context = { admin: { call }, organization: 'org_a' } as unknown as Parameters<typeof replayInJob>[0]
  await expect(replayInJob(context, 'policy_a', source, { sinceMs: 0, untilMs: 1 })).rejects.toThrow(message)
})
