// Errors about an unreachable PostgreSQL contain host and cause, but not the password.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { StoreUnavailableError } from '../../src/store/errors.ts'
import { explainUnreachable } from '../../src/store/postgres/postgres-reach.ts'
import { openStore } from '../../src/store/store.ts'
import { parseStoreAddress } from '../../src/store/store-address.ts'
import { runToEnd } from '../service/run-to-end.ts'
import { freePort } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'

const folder = newFolder()

const target = (address: string) => {
  const parsed = parseStoreAddress(address)
  if (parsed.kind !== 'postgres') throw new Error('not PostgreSQL')
  return parsed
}
const reasonFor = async (address: string): Promise<string> =>
  (await explainUnreachable(target(address), new Error('Failed to connect'), 2_000)).reason

describe('the reason', () => {
  test('is that no server listens', async () => {
    const port = freePort()
    expect(await reasonFor(`postgres://u:secret@127.0.0.1:${port}/x?sslmode=disable`)).toBe(
      `the store x at 127.0.0.1:${port} cannot be reached: nothing listens at this address`,
    )
  })

  test('is an unknown host name', async () => {
    expect(await reasonFor('postgres://u:secret@no-such-host.invalid/x?sslmode=disable')).toContain(
      'no-such-host.invalid:5432 cannot be reached: unknown host name',
    )
  })

  test('is a server that does not answer', async () => {
    const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    try {
      expect(await reasonFor(`postgres://u:secret@127.0.0.1:${silent.port}/x?sslmode=disable`)).toContain(
        'a server listens there, but did not accept the connection in time',
      )
    } finally {
      silent.stop(true)
    }
  })
})

test('the error about an unreachable store contains the reason', async () => {
  const opened = openStore({
    target: target(`postgres://u:secret@127.0.0.1:${freePort()}/x?sslmode=disable`),
    clock: systemClock,
  })
  await expect(opened).rejects.toBeInstanceOf(StoreUnavailableError)
  await expect(opened).rejects.toMatchObject({ reason: expect.stringContaining('nothing listens at this address') })
})

test.each([
  ['a start', ['src/main.ts', '--processes', '1'], 2],
  ['a command', ['src/cli/countersign.ts', 'org', 'list'], 1],
] as const)('%s reports the reason', async (_what, words, expected) => {
  const { code, stdout, stderr } = await runToEnd(['bun', ...words], {
    COUNTERSIGN_DATA_DIR: join(folder, 'data'),
    COUNTERSIGN_STORE: `postgres://u:secret@127.0.0.1:${freePort()}/x?sslmode=disable`,
    COUNTERSIGN_API_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
  })
  expect([code, stderr]).toEqual([
    expected,
    expect.stringMatching(/127\.0\.0\.1:\d+ cannot be reached: nothing listens/),
  ])
  expect(stdout + stderr).not.toContain('secret@')
})
