// Commands over another machine's admin API, whose server may be hostile.
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandsOf } from '../../src/cli/commands.ts'
import { openRemote } from '../../src/cli/remote-client.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { CommandFailedError } from '../../src/command-line/output.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { createManualClock, temporaryFolder } from '../store/temporary-store.ts'
import { recordOutput } from './recorded-output.ts'
import { deploymentAt } from './run-words.ts'

const HOSTILE = '\u001b]0;owned\u0007'
const folder = temporaryFolder()
const DOCUMENT = join(folder.path, 'policy.yaml')
copyFileSync(join(import.meta.dir, '..', '..', 'docs', 'examples', 'token-sale.yaml'), DOCUMENT)
afterAll(() => folder.remove())

/** Runs a command on a server whose texts contain control characters. */
const runHostile = async (noun: string, ...words: string[]): Promise<string> => {
  const revision = { id: HOSTILE, number: 1, content_hash: HOSTILE, active: true, warnings: [] }
  const item = { id: HOSTILE, name: HOSTILE, decides: 'transactions', active_revision_id: HOSTILE }
  const answer = { ...item, policy: item, revision, number: 1, active: true, warnings: [] }
  const other = { ...item, name: `${HOSTILE} other` }
  const answers = { ...answer, data: [other], items: [other], next_cursor: null }
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(answers) })
  const { output, printed } = recordOutput()
  const clock = createManualClock()
  try {
    const code = await runCommand(commandsOf(noun), words, {
      output,
      clock,
      user: 'anna',
      deployment: deploymentAt('/nowhere', clock),
      open: () => Promise.reject(new Error('not reached')),
      openRemote: (url) => openRemote(url, { COUNTERSIGN_ADMIN_KEY: 'not-a-real-key' }),
      url: `http://127.0.0.1:${server.port}`,
      ask: null,
    })
    expect({ code, stderr: printed.stderr }).toEqual({ code: 0, stderr: '' })
    return printed.stdout
  } finally {
    await server.stop(true)
  }
}

test.each<[string, ...string[]]>([
  ['policy', 'apply', DOCUMENT],
  ['policy', 'sync', folder.path],
  ['project', 'list', '--quiet'],
  ['policy', 'list'],
])('texts of the server can’t control the terminal: %s %s', async (noun, ...words) => {
  const stdout = await runHostile(noun, ...words)
  expect(stdout).toContain('?]0;owned?')
  expect(stdout).not.toContain('\u001b')
})

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
