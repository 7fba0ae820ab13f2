// Limits that two processes of a service share, and tasks that another process takes over after the leader is killed.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueKey, REFUSED_PAUSE_MS, succeed } from '../../service/calls.ts'
import type { RunningService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'
import { attestAnywhere, isLinux, metricByProcess, startedBy, startProcesses } from '../support/processes.ts'

const onLinux = test.skipIf(!isLinux)
const LIMIT = `name: Five an hour
rules:
  - { id: often, require: velocity.count(hours(1)) < 5, code: TOO_OFTEN }
  - { id: fine, allow: "true" }
`
/** Enough for several commands on a busy machine. */
const PATIENCE_MS = 60_000
const TAKEN_OVER_MS = 10_000

let service: RunningService
const attest = (wallet: number, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  attestAnywhere(service, headers, { from: `0x${wallet.toString(16).padStart(40, '0')}` })
const metric = (name: string, label = '') => metricByProcess(service, name, label)

/** Returns 1 for the leader of the attestation tasks, and 0 for the other process. */
const leads = (): Promise<Record<string, number>> => metric('countersign_leader', 'role="attestation"')

beforeAll(async () => {
  if (!isLinux) return
  service = await startProcesses(2, 1)
  // The first process knows the second after its next heartbeat.
  await until(async () => Object.values(await metric('countersign_live_processes')).join() === '2,2')
}, PATIENCE_MS)
afterAll(async () => {
  if (isLinux) await service.stop()
})

onLinux('one process is the leader', async () => {
  expect(Object.values(await leads()).sort()).toEqual([0, 1])
  const { leader } = (await (await fetch(`${service.url}/readyz`)).json()) as { leader: string }
  expect(['here', 'elsewhere']).toContain(leader)
})

onLinux('a rate limit applies to both together', PATIENCE_MS, async () => {
  const [rate, burst, seconds] = [40, 40, 6]
  const limits = `--rate ${rate} --burst ${burst}`
  const { key } = await issueKey(service, `--org demo --kind attestation --name limited ${limits}`)
  const before = await metric('countersign_decisions_total')
  const startedMs = performance.now()
  let granted = 0
  let remaining = -1
  const load = async (): Promise<void> => {
    while (performance.now() - startedMs < seconds * 1_000) {
      const response = await attest(1, { 'x-api-key': key })
      await response.arrayBuffer()
      if (response.status === 200) granted += 1
      else {
        expect(response.status).toBe(429)
        expect(response.headers.get('ratelimit-limit')).toBe(String(burst))
        remaining = Number(response.headers.get('ratelimit-remaining'))
        // Enough requests to exceed the limit without using all CPU time.
        await Bun.sleep(REFUSED_PAUSE_MS)
      }
    }
  }
  await Promise.all(Array.from({ length: 3 }, load))
  const elapsedSeconds = (performance.now() - startedMs) / 1_000
  // The lower limit is tested with an injected clock in shared-rate-limit.test.ts.
  expect(granted).toBeLessThan((burst + rate * elapsedSeconds) * 1.1)
  expect(granted).toBeGreaterThan(burst)
  expect(remaining).toBe(0)
  // Both processes received requests.
  const after = await metric('countersign_decisions_total')
  for (const index of ['0', '1']) expect(after[index] ?? 0).toBeGreaterThan(before[index] ?? 0)
})

onLinux('a velocity limit applies to both together, except for concurrent requests', PATIENCE_MS, async () => {
  const policy = (await succeed(service, 'policy', 'list', '--quiet')).trim()
  const path = join(newFolder(), 'policy.yaml')
  writeFileSync(path, LIMIT)
  await succeed(service, 'policy', 'apply', path, '--policy', policy)
  const decide = async (wallet: number) =>
    (await (await attest(wallet)).json()) as { policy_name?: string; is_compliant?: boolean }
  let probe = 1_000
  // The policy is live on both if all concurrent requests have it.
  await until(async () => {
    const names = await Promise.all(Array.from({ length: 8 }, () => decide(probe++)))
    return names.every(({ policy_name }) => policy_name === 'Five an hour')
  })
  let compliant = 0
  const denied = ({ is_compliant }: { is_compliant?: boolean }): boolean => {
    if (is_compliant) compliant += 1
    return !is_compliant
  }
  const answers = await Promise.all(Array.from({ length: 40 }, () => decide(7)))
  answers.forEach(denied)
  expect(compliant).toBeWithin(5, 11)
  // After the processes exchange their counts, none is compliant.
  await until(async () => (await Promise.all(Array.from({ length: 8 }, () => decide(7)))).map(denied).every(Boolean))
  expect(compliant).toBeWithin(5, 11)
})

onLinux('another process is the leader within ten seconds after the leader is killed', PATIENCE_MS, async () => {
  const leaders = Object.entries(await leads())
  const index = leaders.find(([, isLeader]) => isLeader === 1)?.[0]
  process.kill(startedBy(service, index).at(-1) ?? 0, 'SIGKILL')
  const killedMs = performance.now()
  const isNew = ({ role, term }: Record<string, unknown>) => role === 'attestation' && term === 2
  await service.logLine((line) => line['message'] === 'this process is now the leader' && isNew(line))
  expect(performance.now() - killedMs).toBeLessThan(TAKEN_OVER_MS)
  // The other process or the replacement of the killed process.
  const states = async () => Object.values(await leads()).sort()
  await until(async () => (await states()).join() === '0,1')
})
