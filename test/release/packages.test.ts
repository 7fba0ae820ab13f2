// The packages for npm: each names the repository that whoever publishes gave, and nothing is published without one.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Packed } from '../../deploy/release/packages.ts'
import { type CommandResult, runToEnd } from '../service/run-to-end.ts'

const ROOT = join(import.meta.dir, '..', '..')
const REPOSITORY = 'https://git.example.org/acme/countersign'
const TEST_LIMIT_MS = 120_000

const folder = mkdtempSync(join(tmpdir(), 'countersign-packages-'))
const out = join(folder, 'out')
const calls = join(folder, 'calls')
afterAll(() => rmSync(folder, { recursive: true }))

const release = (
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandResult> =>
  runToEnd(['bun', 'deploy/release/packages.ts', ...words], {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    GITHUB_REPOSITORY: 'acme/countersign',
    ...environment,
  })

beforeAll(() => {
  // Stands in for npm, and notes what it is asked.
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'npm'), `#!/bin/sh\necho "$@" >> ${calls}\n`)
  chmodSync(join(folder, 'bin', 'npm'), 0o755)
})

describe('the packages', () => {
  test.each([
    ['no address', [], '--repository URL is missing'],
    ['an address that is none', ['--repository', 'git@example.org:acme'], 'no https address'],
    [
      'another repository than CI builds',
      ['--repository', 'https://git.example.org/other/one'],
      'not the one that is being built',
    ],
  ])('are not published with %s', async (_, words, reason) => {
    const { code, stderr } = await release([...words, '--out', out, '--publish'])
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
    expect(existsSync(calls)).toBe(false)
  })

  test.each(['src/client', 'contracts'])('are not published from %s itself', async (path) => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
    const { code, stderr } = await runToEnd(['sh', '-c', scripts.prepublishOnly])
    expect([code, stderr]).toEqual([1, expect.stringContaining('deploy/release/packages.ts --repository URL')])
  })

  test('are published with their address, code and licence, and no script', TEST_LIMIT_MS, async () => {
    const { code, stdout, stderr } = await release([
      '--repository',
      `${REPOSITORY}.git`,
      '--out',
      out,
      '--publish',
      '--json',
    ])
    expect([code, stderr]).toEqual([0, ''])
    const packed = JSON.parse(stdout) as readonly Packed[]
    expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual(packed.map(({ path }) => `publish ${path}`))
    for (const [{ name, path }, directory, files] of [
      [packed[0]!, 'src/client', ['dist/client/client.js', 'dist/client/client.d.ts', 'README.md', 'LICENSE']],
      [packed[1]!, 'contracts', ['src/BasicPolicyClient.sol', 'remappings.txt', 'README.md', 'LICENSE']],
    ] as const) {
      const listed = Bun.spawnSync(['tar', '-tzf', path]).stdout.toString().split('\n')
      for (const file of files) expect(listed).toContain(`package/${file}`)
      const manifest = JSON.parse(Bun.spawnSync(['tar', '-xzOf', path, 'package/package.json']).stdout.toString())
      expect(manifest).toMatchObject({
        name,
        repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory },
        bugs: { url: `${REPOSITORY}/issues` },
        homepage: `${REPOSITORY}#readme`,
        publishConfig: { access: 'public', provenance: true },
        keywords: expect.arrayContaining(['countersign']),
      })
      expect(manifest.scripts).toBeUndefined()
    }
  })
})
