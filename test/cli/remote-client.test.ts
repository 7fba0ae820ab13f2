// Commands over another machine's admin API, whose server may be hostile.
import { expect, test } from 'bun:test'
import { openRemote } from '../../src/cli/remote-client.ts'
import { CommandFailedError } from '../../src/command-line/output.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'

test('an error of the server can’t control the terminal', async () => {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ code: 'X', detail: '\u001b]0;owned\u0007Key revoked.' }, { status: 409 }),
  })
  try {
    const { admin } = openRemote(`http://127.0.0.1:${server.port}`, { COUNTERSIGN_ADMIN_KEY: 'not-a-real-key' })
    const failed = await admin.call('GET /organizations', {}).then(
      () => null,
      (error: unknown) => error,
    )
    expect(failed).toBeInstanceOf(CommandFailedError)
    expect((failed as CommandFailedError).message).toBe('?]0;owned?Key revoked.')
  } finally {
    await server.stop(true)
  }
})

test('mistakes in a policy are reported with their lines', async () => {
  const issues = [{ line: 3, column: 23, message: 'tx has no "valu"\u001b', pointer: '/rules/0/deny' }]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => Response.json({ code: 'INVALID_REQUEST', detail: 'source has 1 mistake', issues }, { status: 400 }),
  })
  try {
    const { admin } = openRemote(`http://127.0.0.1:${server.port}`, { COUNTERSIGN_ADMIN_KEY: 'not-a-real-key' })
    const failed: unknown = await admin.call('GET /organizations', {}).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(PolicyInvalidError)
    expect((failed as PolicyInvalidError).message).toBe('3:23 /rules/0/deny tx has no "valu"?')
  } finally {
    await server.stop(true)
  }
})
