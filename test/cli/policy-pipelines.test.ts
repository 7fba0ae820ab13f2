// The pipelines of docs/policy-repository.md, whose scripts run in a repository with one policy. Only the address of the
// deployment and the installation of the program differ.
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type Harness, startHarness } from '../admin/support/harness.ts'
import { cleanEnvironment, resultOf } from '../service/run-to-end.ts'
import { newFolder } from '../support/folder.ts'
import { COMMAND_WORDS } from '../support/run-program.ts'

const ROOT = join(import.meta.dir, '..', '..')
const [GITHUB, GITLAB] = ['github-actions.yaml', 'gitlab-ci.yaml'].map((name) =>
  parse(readFileSync(join(ROOT, 'docs', 'examples', name), 'utf8')),
)

const policy = (limit: number): string => `name: Withdrawals
rules:
  - { id: limit, allow: tx.value <= ether(${limit}) }
tests:
  - { name: small, request: { from: "0x00000000000000000000000000000000000000b2", msg_value: 1 ether }, verdict: allow }
`

let harness: Harness
let server: Bun.Server<undefined>
let organizationId: string
let environment: Record<string, string>
let repository: string

beforeEach(async () => {
  harness = await startHarness()
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => harness.api(request) })
  organizationId = (await harness.organization('acme')).id
  repository = newFolder()
  const bin = join(repository, 'bin')
  mkdirSync(bin)
  mkdirSync(join(repository, 'policies'))
  writeFileSync(join(repository, 'policies', 'withdrawals.yaml'), policy(1))
  const program = COMMAND_WORDS.map((word) => (word.startsWith('src/') ? join(ROOT, word) : word)).join(' ')
  writeFileSync(join(bin, 'countersign'), `#!/bin/sh\nexec ${program} "$@"\n`)
  chmodSync(join(bin, 'countersign'), 0o755)
  environment = {
    ...cleanEnvironment(),
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    COUNTERSIGN_ADMIN_KEY: await harness.issueKey(organizationId, 'admin'),
  }
})
afterEach(async () => {
  await server.stop(true)
  await harness.close()
})

const runScript = (script: string) => {
  const located = script.replaceAll('https://countersign.example.com', server.url.origin)
  const child = Bun.spawn(['bash', '-e', '-c', located], {
    cwd: repository,
    env: environment,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return resultOf(child)
}

/** Runs the tests, finds drift, and removes it; then checks that a policy with a failing test is not applied. */
const runPipeline = async (scripts: Readonly<Record<'test' | 'sync' | 'drift', string>>): Promise<void> => {
  expect(await runScript(scripts.test)).toMatchObject({ code: 0, stderr: '' })
  expect(readFileSync(join(repository, 'report.xml'), 'utf8')).toContain('name="small"></testcase>')
  expect(await runScript(scripts.drift)).toMatchObject({ code: 1, stderr: '' })
  expect(await runScript(scripts.sync)).toMatchObject({ code: 0, stderr: '' })
  expect(await runScript(scripts.drift)).toMatchObject({ code: 0, stderr: '' })
  const read = async () => (await harness.store.policies.page(organizationId, { after: null, limit: 9 })).items
  expect(await read()).toMatchObject([{ name: 'Withdrawals', revisionCount: 1 }])
  expect(await runScript(scripts.sync)).toMatchObject({ code: 0, stderr: '' })
  expect(await read()).toMatchObject([{ revisionCount: 1 }])

  writeFileSync(join(repository, 'policies', 'withdrawals.yaml'), policy(0))
  const failed = await runScript(scripts.test)
  expect(failed.code).toBe(1)
  expect(failed.stdout).toContain('FAIL  small: expected allow, got deny by default\n')
  expect((await runScript(scripts.sync)).code).toBe(1)
  expect(await read()).toMatchObject([{ revisionCount: 1 }])
  expect(existsSync(join(repository, 'data'))).toBe(false)
}

test('the pipeline for GitHub Actions works', async () => {
  const { jobs } = GITHUB
  const step = (job: string, name: string): string =>
    jobs[job].steps.find((each: { name?: string }) => each.name === name).run
  await runPipeline({ test: step('test', 'Test'), sync: step('sync', 'Apply'), drift: step('sync', 'Report drift') })
}, 120_000)

test('the pipeline for GitLab works', async () => {
  const script = (job: string): string => GITLAB[job].script.join('\n')
  await runPipeline({ test: script('test'), sync: script('apply'), drift: script('drift') })
}, 120_000)
