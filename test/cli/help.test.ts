// Help needs nothing: no data folder, no database, no passphrase.
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCountersign } from '../service/run-to-end.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-help-'))
const absent = join(folder, 'none')
afterAll(() => rmSync(folder, { recursive: true }))

const { stdout: usage } = await runCountersign({}, '--help')
const verbs = [...usage.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, verb]) => verb ?? '')

describe('help', () => {
  test('lists the verbs', () => {
    expect(verbs.length).toBeGreaterThanOrEqual(17)
  })

  test.each(verbs)('%s --help is printed without a data folder', async (verb) => {
    const { code, stdout, stderr } = await runCountersign({ COUNTERSIGN_DATA_DIR: absent }, verb, '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.length).toBeGreaterThan(50)
    expect(existsSync(absent)).toBe(false)
  })

  test('a command that needs the folder still says that there is none', async () => {
    const { code, stderr } = await runCountersign({ COUNTERSIGN_DATA_DIR: absent }, 'keys', 'list')
    expect([code, stderr]).toEqual([1, expect.stringContaining(`there is no deployment in ${absent}`)])
  })
})
