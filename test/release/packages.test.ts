// The npm packages: each names the given repository, and none is published without one.
import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Packed } from '../../deploy/release/packages.ts'
import { type CommandResult, runToEnd } from '../service/run-to-end.ts'
import { newFolder } from '../support/folder.ts'

const ROOT = join(import.meta.dir, '..', '..')
const REPOSITORY = 'https://git.example.org/acme/countersign'
const TEST_LIMIT_MS = 120_000

const folder = newFolder()
const out = join(folder, 'out')
const calls = join(folder, 'calls')

const release = (...words: readonly string[]): Promise<CommandResult> =>
  runToEnd(['bun', 'deploy/release/packages.ts', ...words], {
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    GITHUB_REPOSITORY: 'acme/countersign',
  })

beforeAll(() => {
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'npm'), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 })
})

describe('the packages', () => {
  test.each([
    ['no address', [], '--repository URL is missing'],
    ['an invalid address', ['--repository', 'git@example.org:acme'], 'no https address'],
    [
      'a repository other than the repository of CI',
      ['--repository', 'https://git.example.org/other/one'],
      'not the one that',
    ],
  ])('are not published with %s', async (_, words, reason) => {
    const { code, stderr } = await release(...words, '--out', out, '--publish')
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
    expect(existsSync(calls)).toBe(false)
  })

  test.each(['src/client', 'contracts'])('are not published from %s', async (path) => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
    const { code, stderr } = await runToEnd(['sh', '-c', scripts.prepublishOnly])
    expect([code, stderr]).toEqual([1, expect.stringContaining('deploy/release/packages.ts --repository URL')])
  })

  test('are published with their repository, code and license, and without scripts', TEST_LIMIT_MS, async () => {
    const words = ['--repository', `${REPOSITORY}.git`, '--out', out, '--publish', '--json']
    const { code, stdout, stderr } = await release(...words)
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
