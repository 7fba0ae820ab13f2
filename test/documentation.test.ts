// What the README and the pages beside it show is what a reader gets: every `curl` and `countersign` line of their shell
// blocks is run as written, against the real service, in the order of the pages. Lines that install, clone or start are
// covered elsewhere.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from './service/run-to-end.ts'
import { type RunningService, startService } from './service/start-service.ts'

const ROOT = join(import.meta.dir, '..')
const PAGES = [
  'README.md',
  'docs/attestation-api.md',
  'docs/policies.md',
  'docs/identity.md',
  'docs/operations.md',
  'docs/administration.md',
]
const text = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n')

/** The commands of all ```sh blocks, continuation lines joined. */
const commands = [...text.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap((match) => (match[1] ?? '').replaceAll(/\\\n\s*/g, ' ').split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => /^(curl|bun run countersign) /.test(line))

let service: RunningService

beforeAll(async () => {
  service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
})
afterAll(async () => {
  await service.stop()
})

describe('the commands of the documentation', () => {
  test('are found', () => {
    expect(commands.filter((line) => line.startsWith('curl')).length).toBeGreaterThanOrEqual(3)
    expect(commands.filter((line) => line.startsWith('bun run countersign')).length).toBeGreaterThanOrEqual(8)
  })

  for (const [index, command] of commands.entries()) {
    test(`${index + 1}: ${command.slice(0, 100)}`, async () => {
      const { code, stdout, stderr } = await runToEnd(['bash', '-c', command], {
        ...service.quickstart,
        COUNTERSIGN_DATA_DIR: service.dataDirectory,
      })
      expect({ code, stderr: code === 0 ? '' : stderr, stdout: code === 0 ? '' : stdout }).toEqual({
        code: 0,
        stderr: '',
        stdout: '',
      })
      expect(stdout.length + stderr.length).toBeGreaterThan(0)
      expect(stdout).not.toContain('problem:')
    })
  }
})
