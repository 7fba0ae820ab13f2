// Commands on the admin API of another machine, whose server may be hostile.
import { afterAll, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandsOf } from '../../src/cli/commands.ts'
import { openRemote } from '../../src/cli/remote-client.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { CommandFailedError } from '../../src/command-line/output.ts'
import { PolicyInvalidError } from '../../src/policy/issues.ts'
import { createManualClock } from '../store/temporary-store.ts'
import { newFolder } from '../support/folder.ts'
import { recordOutput } from './recorded-output.ts'
import { deploymentAt } from './run-words.ts'

const HOSTILE = '\u001b]0;owned\u0007'
const FOLDER = newFolder()
const DOCUMENT = join(FOLDER, 'policy.yaml')
copyFileSync(join(import.meta.dir, '..', '..', 'docs', 'examples', 'token-sale.yaml'), DOCUMENT)

let answer: object = {}
let status = 200
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(answer, { status }) })
afterAll(() => server.stop(true))
const open = (url = server.url.href) => openRemote(url, { COUNTERSIGN_ADMIN_KEY: 'not-a-real-key' })

test.each<[string, ...string[]]>([
  ['policy', 'apply', DOCUMENT],
  ['policy', 'sync', FOLDER],
  ['project', 'list', '--quiet'],
  ['policy', 'list'],
])('control characters of the server do not reach the terminal: %s %s', async (noun, ...words) => {
  const revision = { id: HOSTILE, number: 1, content_hash: HOSTILE, active: true, warnings: [] }
  const item = { id: HOSTILE, name: HOSTILE, decides: 'transactions', active_revision_id: HOSTILE }
  const listed = [{ ...item, name: `${HOSTILE} other` }]
  status = 200
  answer = { ...item, ...revision, policy: item, revision, data: listed, items: listed, next_cursor: null }
  const { output, printed } = recordOutput()
  const clock = createManualClock()
  const code = await runCommand(commandsOf(noun), words, {
    output,
    clock,
    user: 'anna',
    deployment: deploymentAt('/nowhere', clock),
    open: () => Promise.reject(new Error('not reached')),
    openRemote: open,
    url: server.url.href,
    ask: null,
  })
  expect({ code, ...printed }).toEqual({ code: 0, stderr: '', stdout: expect.stringContaining('?]0;owned?') })
  expect(printed.stdout).not.toContain('\u001b')
})

const errorOf = async (statusCode: number, body: object): Promise<unknown> => {
  status = statusCode
  answer = body
  return open()
    .admin.call('GET /organizations', {})
    .catch((error: unknown) => error)
}

test('control characters in a server error do not reach the terminal', async () => {
  const error = await errorOf(409, { code: 'X', detail: `${HOSTILE}Key revoked.` })
  expect(error).toBeInstanceOf(CommandFailedError)
  expect((error as CommandFailedError).message).toBe('?]0;owned?Key revoked.')
})

test('mistakes in a policy are reported with their positions', async () => {
  const issues = [{ line: 3, column: 23, message: 'tx has no "valu"\u001b', pointer: '/rules/0/deny' }]
  const error = await errorOf(400, { code: 'INVALID_REQUEST', detail: 'source has 1 mistake', issues })
  expect(error).toBeInstanceOf(PolicyInvalidError)
  expect((error as PolicyInvalidError).message).toBe('3:23 /rules/0/deny tx has no "valu"?')
})
