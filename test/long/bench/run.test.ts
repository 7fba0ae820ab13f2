// Runs of the benchmark: with limited keys of a deployment, with an invalid key, and interrupted.
import { afterAll, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createProcesses } from '../../../bench/processes.ts'
import { requiredValue } from '../../../bench/quickstart.ts'
import { type BenchResult, parseResult } from '../../../bench/result.ts'
import { type RunningService, startService, withStore } from '../../../bench/scale/running-service.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const GENERATOR = join(ROOT, 'bench/load/generator.ts')

const processes = createProcesses()
const folder = processes.temporaryFolder()
afterAll(() => processes.stopAll())

const startBench = (options: string, ...words: string[]) =>
  Bun.spawn([process.execPath, join(ROOT, 'bench/run.ts'), ...options.split(' '), ...words], {
    stdout: 'pipe',
    stderr: 'pipe',
  })

/** Writes two keys with a limit of 150/s each to a file. */
const writeKeys = async (service: RunningService): Promise<string> => {
  const path = join(folder, 'keys')
  const keys = await withStore(service, (store, organizationId) =>
    store.transaction(async ({ apiKeys }) => {
      const settings = { kind: 'attestation', environment: 'live', name: '', expiresAtSeconds: null } as const
      const rateLimit = { requestsPerSecond: 150, burst: 150 }
      const issue = async () => (await apiKeys.issue({ organizationId, ...settings, rateLimit })).text
      return [await issue(), await issue()]
    }),
  )
  writeFileSync(path, `${keys.join('\n')}\n`)
  return path
}

const medianOf = (result: BenchResult, name: string): number =>
  result.measurements.find((measurement) => measurement.name === name)?.median ?? Number.NaN

test('a run with limited keys reports the limit, and does not count refusals as throughput', async () => {
  const service = await startService(processes, 1)
  const bench = startBench(
    '--quick --rounds 1 --connections 4 --rate 100 --json --generators 2',
    '--generator',
    `${process.execPath} ${GENERATOR}`,
    '--keys',
    await writeKeys(service),
    '--url',
    service.url,
    '--to',
    requiredValue(service.quickstart, 'DEMO_CONTRACT'),
  )
  const [output, progress] = await Promise.all([new Response(bench.stdout).text(), new Response(bench.stderr).text()])
  expect(progress).toStartWith('The 2 keys have a rate limit of 300/s with bursts of 300.')
  const result = parseResult(output)
  expect(result.settings['generators']).toBe(3)
  expect(medianOf(result, 'deployment.limit')).toBe(300)
  expect(medianOf(result, 'deployment.closed.throughput')).toBeWithin(1, 331)
  expect(medianOf(result, 'deployment.closed.refused')).toBeGreaterThan(300)
  expect(medianOf(result, 'deployment.open.throughput')).toBeCloseTo(100, -1)
  expect(await bench.exited).toBe(1)
}, 60_000)

test('an invalid key ends the run before the load', async () => {
  const service = await startService(processes, 1)
  const bench = startBench('--quick --hash x-1 --key wrong --url', service.url)
  expect(await new Response(bench.stderr).text()).toStartWith('bench: key 1 of 1 gets no attestation: 401 ')
  expect(await bench.exited).toBe(1)
  await service.managed.stop()
  const stopped = startBench('--quick --hash x-1 --key any --url', service.url)
  expect(await new Response(stopped.stderr).text()).toStartWith(
    `bench: could not reach ${service.url}/v2/attestation: `,
  )
}, 60_000)

test('an interrupted sweep prints and draws its finished settings', async () => {
  const bench = startBench('--only sweep --workers 0 --processes 1 --quick --rounds 9 --json --images', folder)
  let progress = ''
  let isStopped = false
  for await (const text of bench.stderr.pipeThrough(new TextDecoderStream())) {
    progress += text
    if (isStopped || !/left\) sweep round 2 of 9/.test(progress)) continue
    isStopped = true
    bench.kill('SIGINT')
  }
  const result = parseResult(await new Response(bench.stdout).text())
  expect(await bench.exited).toBe(130)
  expect(result.measurements.find(({ name }) => name === 'sweep.p1w0.closed.throughput')?.rounds).toHaveLength(1)
  expect(result.settings['interrupted']).toBe(true)
  expect(existsSync(join(folder, 'bench-sweep.svg'))).toBe(true)
}, 60_000)

test('countersign plan measures this machine and recommends a setting', async () => {
  const command = [
    process.execPath,
    join(ROOT, 'src/cli/countersign.ts'),
    ...'plan --rate 10 --p99 5s --json'.split(' '),
  ]
  const plan = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' })
  const output = await new Response(plan.stdout).text()
  expect(JSON.parse(output)).toMatchObject({ p99_ms: 5_000, recommended: { nodes: 1, processes: 1 } })
  expect(await plan.exited).toBe(0)
}, 90_000)
