// Stopping a service: SIGTERM at any time and under load, and kill -9, after which retries get the same responses.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectRequest, task } from '../../service/calls.ts'
import { startHeldRpc } from '../../service/held-rpc.ts'
import { cleanEnvironment } from '../../service/run-to-end.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

test('SIGTERM completes requests in flight and exits with 0', async () => {
  // The RPC node delays the response until the test releases it.
  const rpc = startHeldRpc()
  const service = await startService({ environment: { COUNTERSIGN_RPC_ETHEREUM: rpc.url } })
  const answer = task(service)
  await rpc.asked
  const stopped = service.stop()
  await service.logLine((line) => line['message'] === 'stopping')
  rpc.letGo()
  const response = await answer
  expect(response.status).toBe(200)
  expect(((await response.json()) as { expiry_block: number }).expiry_block).toBeGreaterThan(16)
  expect(await stopped).toBe(0)
  await rpc.stop()
})

const spawnService = (dataFolder: string, ...options: readonly string[]) =>
  Bun.spawn(['bun', 'src/main.ts', ...options], {
    cwd: join(import.meta.dir, '..', '..', '..'),
    env: {
      ...cleanEnvironment(),
      COUNTERSIGN_DATA_DIR: dataFolder,
      COUNTERSIGN_API_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })

test('SIGTERM during startup closes the database and exits with 0', async () => {
  const folder = newFolder()
  const child = spawnService(folder)
  await until(() => existsSync(join(folder, 'countersign.db')))
  child.kill('SIGTERM')
  const messages = (await new Response(child.stderr).text())
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { message: string }).message)
  expect(await child.exited).toBe(0)
  expect(messages).toContain('stopping')
  expect(messages.at(-1)).toBe('stopped')
  // A closed database has no write-ahead log.
  expect(existsSync(join(folder, 'countersign.db-wal'))).toBe(false)
})

test('SIGTERM during the startup of several processes ends all of them and exits with 0', async () => {
  const child = spawnService(newFolder(), '--processes', '2')
  let stderr = ''
  const decoder = new TextDecoder()
  for await (const chunk of child.stderr) {
    const before = stderr
    stderr += decoder.decode(chunk, { stream: true })
    if (stderr.includes('starting a process') && !before.includes('starting a process')) child.kill('SIGTERM')
  }
  expect(await child.exited).toBe(0)
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { message: string; pid?: number; process?: number })
    // Only lines of the supervisor.
    .filter(({ message, process: index }) => index === undefined || message === 'starting a process')
  expect(lines.map(({ message }) => message)).toEqual(['starting a process', 'stopping', 'stopped'])
  const [{ pid = 0 } = {}] = lines
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test('SIGTERM under load fails no requests on keep-alive connections', async () => {
  const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  const failures: string[] = []
  let answered = 0
  const load = Array.from({ length: 8 }, async () => {
    for (;;) {
      try {
        const response = await service.attest(projectRequest(service))
        if (response.status !== 200) failures.push(String(response.status))
        await response.arrayBuffer()
        answered += 1
        if (answered === 100) service.process.kill('SIGTERM')
        // Like a client, it does not reuse a closed connection.
        if (response.headers.get('connection') === 'close') return
      } catch (error) {
        // A refused connection is not a failure, because a client would use another node.
        const code = String((error as { code?: unknown }).code)
        if (code !== 'ConnectionRefused' && code !== 'ECONNREFUSED') failures.push(code)
        return
      }
    }
  })
  await Promise.all(load)
  expect(failures).toEqual([])
  expect(answered).toBeGreaterThan(100)
  expect(await service.stop()).toBe(0)
})

test('a retry after kill -9 returns the recorded attestation, and no uuid is signed twice', async () => {
  const dataDirectory = newFolder()
  const environment = { COUNTERSIGN_DEADLINE_MS: '1000' }
  const service = await startService({ dataDirectory, environment })
  const keys = Array.from({ length: 64 }, (_, index) => `order-${index}`)
  const uuids = new Map<string, string>()
  const attempt = async (to: RunningService, key: string): Promise<number> => {
    const response = await to.attest(projectRequest(to), { 'idempotency-key': key })
    const body = (await response.json()) as { attestation?: { uuid: string } }
    const uuid = body.attestation?.uuid
    if (uuid === undefined) return response.status
    expect(uuids.get(key) ?? uuid).toBe(uuid)
    uuids.set(key, uuid)
    return response.status
  }
  const first = keys.map((key) => attempt(service, key).catch(() => 0))
  await Promise.race(first)
  service.process.kill('SIGKILL')
  await Promise.all(first)
  await service.stop()

  const again = await startService({ dataDirectory, environment })
  // A claim blocks retries until the first attempt cannot sign anymore.
  const waiting = new Set(keys)
  const retryAll = async (): Promise<boolean> => {
    for (const key of waiting) if ((await attempt(again, key)) === 200) waiting.delete(key)
    return waiting.size === 0
  }
  await until(retryAll, { limitMs: 60_000 })
  await again.stop()
  expect((await runCommand(dataDirectory, 'decisions', 'verify')).code).toBe(0)
}, 120_000)
