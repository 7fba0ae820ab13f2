// The three lines of the READMEs that install an unpublished package, run in an empty folder with each package manager, a copy
// of this tree as the clone, and no registry.
import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { newFolder } from '../../support/folder.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const LIMIT_MS = 120_000
const NO_REGISTRY = 'http://127.0.0.1:9'
/** Replacements of `npm install`. */
const MANAGERS = { npm: 'npm install', bun: 'bun add', pnpm: 'pnpm add' } as const

const PACKAGES = [
  { name: '@countersign/client', readme: 'src/client/README.md', has: ['dist/client/client.js'] },
  { name: '@countersign/contracts', readme: 'contracts/README.md', has: ['src/PolicyRegistry.sol'] },
] as const

/** Copies the sources of both packages. */
const createClone = (into: string): void => {
  const filter = (path: string): boolean => !['dist', 'out', 'node_modules'].includes(basename(path))
  for (const part of ['src', 'contracts', 'package.json', 'tsconfig.json', 'LICENSE']) {
    cpSync(join(ROOT, part), join(into, part), { recursive: true, filter })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(into, 'node_modules'))
}

for (const { name, readme, has } of PACKAGES) {
  describe(name, () => {
    const lines = /```text\n(git clone [\s\S]*?)```/
      .exec(readFileSync(join(ROOT, readme), 'utf8'))?.[1]
      ?.trim()
      .split('\n')

    test('has three lines', () => {
      expect(lines).toEqual([
        'git clone <this repository> countersign',
        expect.stringMatching(/^\(cd countersign\/\S+ && npm pack --pack-destination \S+\)$/),
        expect.stringMatching(/^npm install \.\/countersign-\w+-\*\.tgz$/),
      ])
    })

    for (const [manager, words] of Object.entries(MANAGERS)) {
      const missing = [manager, 'npm'].find((program) => Bun.which(program) === null)
      test.skipIf(missing !== undefined)(
        `installs with ${manager}${missing === undefined ? '' : ` (no ${missing})`}`,
        LIMIT_MS,
        async () => {
          const into = newFolder()
          createClone(join(into, 'countersign'))
          const [, pack = '', install = ''] = lines ?? []
          const child = Bun.spawn(['sh', '-ec', `${pack}\n${install.replace('npm install', words)}`], {
            cwd: into,
            env: {
              ...process.env,
              npm_config_registry: NO_REGISTRY,
              npm_config_offline: 'true',
              npm_config_audit: 'false',
              BUN_CONFIG_REGISTRY: NO_REGISTRY,
            },
            stdin: 'ignore',
            stdout: 'pipe',
            stderr: 'pipe',
          })
          const [code, stderr] = await Promise.all([child.exited, child.stderr.text(), child.stdout.text()])
          if (code !== 0) throw new Error(stderr)
          for (const file of has) expect(existsSync(join(into, 'node_modules', name, file))).toBe(true)
          const license = readFileSync(join(into, 'node_modules', name, 'LICENSE'), 'utf8')
          expect(license).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'))
          const { dependencies } = JSON.parse(readFileSync(join(into, 'package.json'), 'utf8')) as {
            dependencies: Record<string, string>
          }
          expect(Object.keys(dependencies)).toEqual([name])
        },
      )
    }
  })
}
