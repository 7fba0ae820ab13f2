// The passphrases that are read from files and the environment.
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  nextPassphrasePath,
  type PassphraseSource,
  readPassphrase,
  readPassphrases,
} from '../../src/signing/passphrase.ts'

/** Returns the passphrases, or the message of the error. */
const read = async (source: PassphraseSource): Promise<readonly string[] | string> => {
  try {
    const passphrases = await readPassphrases(source)
    expect(await readPassphrase(source)).toBe(passphrases[0])
    return passphrases
  } catch (error) {
    return (error as Error).message
  }
}

test.each<[string | null, string | null, readonly string[] | RegExp]>([
  ['old\n', null, ['old']],
  ['old\r\n', '', ['old']],
  ['  two words \n\n', null, ['  two words \n']],
  ['old', 'new\n', ['new', 'old']],
  ['same', 'same\n', ['same']],
  ['', null, /the passphrase file is empty/],
  ['\n', 'new', /the passphrase file is empty/],
  [null, 'new', /cannot be read/],
])('a file with %j and the file of the next passphrase with %j', async (current, next, expected) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-passphrase-'))
  try {
    const path = join(folder, 'passphrase')
    if (current !== null) writeFileSync(path, current)
    if (next !== null) writeFileSync(nextPassphrasePath(path), next)
    const result = await read({ source: 'file', path })
    if (expected instanceof RegExp) expect(result).toMatch(expected)
    else expect(result).toEqual(expected)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('an environment variable is one passphrase, and must not be empty', async () => {
  const name = 'COUNTERSIGN_TEST_PASSPHRASE'
  const source = { source: 'environment', name } as const
  process.env[name] = ' a passphrase '
  expect(await read(source)).toEqual([' a passphrase '])
  process.env[name] = ''
  expect(await read(source)).toMatch(/is empty/)
  delete process.env[name]
  expect(await read(source)).toMatch(/is empty/)
})
