import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makePrivateDirectory, writePrivateFile } from '../../src/signing/private-file.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-private-file-'))
})
afterEach(() => rmSync(root, { recursive: true }))

test('the file is whole and for its owner only, and nothing else is left', async () => {
  await writePrivateFile(join(root, 'secret'), 'text')
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('text')
  expect(statSync(join(root, 'secret')).mode & 0o777).toBe(0o600)
  expect(readdirSync(root)).toEqual(['secret'])
})

test('a file that was readable by all is replaced by one that is not', async () => {
  writeFileSync(join(root, 'secret'), 'old', { mode: 0o644 })
  await writePrivateFile(join(root, 'secret'), 'new')
  expect(readFileSync(join(root, 'secret'), 'utf8')).toBe('new')
  expect(statSync(join(root, 'secret')).mode & 0o777).toBe(0o600)
})

test('a failed write leaves no temporary file', async () => {
  mkdirSync(join(root, 'secret', 'occupied'), { recursive: true })
  await expect(writePrivateFile(join(root, 'secret'), 'text')).rejects.toThrow()
  expect(readdirSync(root)).toEqual(['secret'])
})

test('a missing folder is made for its owner only, an existing one keeps its mode', async () => {
  await makePrivateDirectory(join(root, 'a', 'b'))
  expect(statSync(join(root, 'a', 'b')).mode & 0o777).toBe(0o700)
  mkdirSync(join(root, 'open'), { mode: 0o755 })
  await makePrivateDirectory(join(root, 'open'))
  expect(statSync(join(root, 'open')).mode & 0o777).toBe(0o755)
})
