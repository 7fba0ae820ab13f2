// All long scripts, the mutation script and the bench respond to --help and then do nothing else.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { headOf } from './head-help.ts'

const ROOT = join(import.meta.dir, '../..')
const OWN_USAGE = ['bench/run.ts', 'test/long/attack.ts', 'test/mutate/run.ts']
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const scripts = [
  ...new Glob('test/long/*.ts').scanSync(ROOT),
  ...[...new Glob('bench/**/*.ts').scanSync(ROOT)].filter((file) =>
    /import\.meta\.main|`bun bench\//.test(textOf(file)),
  ),
].filter((file) => !OWN_USAGE.includes(file))

const run = async (file: string) => {
  const child = Bun.spawn([process.execPath, file, '--help'], { cwd: ROOT, stdout: 'pipe', stderr: 'inherit' })
  const stdout = await new Response(child.stdout).text()
  return { code: await child.exited, stdout }
}

test('each script responds to --help with its usage and does nothing else', () => {
  expect(scripts.length).toBeGreaterThan(12)
  for (const file of scripts) {
    const text = textOf(file)
    const [, first] = /^(?:\/\/.*\n|\n|import [^']*'[^']*'(?: with .*)?\n)*(.*)\n/.exec(text) ?? []
    expect([file, first]).toEqual([file, 'answerHelp(import.meta)'])
    expect([file, headOf(text)]).toEqual([file, expect.stringContaining(`bun ${file}`)])
  }
})

test('--help prints the head of the script', async () => {
  expect(await run('test/long/clock-jumps.ts')).toEqual({ code: 0, stdout: headOf(textOf('test/long/clock-jumps.ts')) })
})

test.each(OWN_USAGE)('%s prints its own usage', async (file) => {
  const { code, stdout } = await run(file)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^(?:Usage: )?bun /)])
})
