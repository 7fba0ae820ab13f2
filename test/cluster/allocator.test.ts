// The settings of the allocator are the same for every way to start the service.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALLOCATOR_ENVIRONMENT } from '../../src/cluster/allocator.ts'

const ROOT = join(import.meta.dir, '..', '..')
const SETTINGS = Object.entries(ALLOCATOR_ENVIRONMENT)

test.each(['deploy/Containerfile', 'deploy/systemd/countersign.service'])('%s has the settings', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8')
  for (const [name, value] of SETTINGS) expect(text).toMatch(new RegExp(`[ =]${name}=${value}(\\s|$)`, 'm'))
})

test('`bun start` adds the settings unless they are set', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const setting = scripts.start.slice(scripts.start.indexOf('MIMALLOC_'), scripts.start.indexOf(' bun src/main.ts'))
  const environmentOf = (environment: Record<string, string>): string =>
    Bun.spawnSync(['sh', '-c', `${setting} env`], {
      env: { PATH: process.env['PATH'], ...environment },
    }).stdout.toString()
  for (const [name, value] of SETTINGS) {
    expect(environmentOf({})).toContain(`${name}=${value}\n`)
    expect(environmentOf({ [name]: '77' })).toContain(`${name}=77\n`)
  }
})

test('the runtime accepts the settings and uses their values', () => {
  const { stderr } = Bun.spawnSync([process.execPath, '-e', '0'], {
    env: { ...process.env, ...ALLOCATOR_ENVIRONMENT, MIMALLOC_VERBOSE: '1' },
    stderr: 'pipe',
  })
  const output = stderr.toString()
  for (const [name, value] of SETTINGS) {
    expect(output).toContain(`option '${name.replace('MIMALLOC_', '').toLowerCase()}': ${value} `)
  }
})
