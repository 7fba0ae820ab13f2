// Files and folders that only their owner can read.
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

test.each([null, 'old'])('a private file replaces %j, and has mode 600', async (old) => {
  const path = join(root, 'secret')
  if (old !== null) writeFileSync(path, old, { mode: 0o644 })
  await writePrivateFile(path, 'text')
  expect(readFileSync(path, 'utf8')).toBe('text')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readdirSync(root)).toEqual(['secret'])
})

test('a failed write leaves no temporary file', async () => {
  mkdirSync(join(root, 'secret', 'occupied'), { recursive: true })
  await expect(writePrivateFile(join(root, 'secret'), 'text')).rejects.toThrow()
  expect(readdirSync(root)).toEqual(['secret'])
})

test('a created folder has mode 700, and an existing one keeps its mode', async () => {
  await makePrivateDirectory(join(root, 'a', 'b'))
  expect(statSync(join(root, 'a', 'b')).mode & 0o777).toBe(0o700)
  mkdirSync(join(root, 'open'), { mode: 0o755 })
  await makePrivateDirectory(join(root, 'open'))
  expect(statSync(join(root, 'open')).mode & 0o777).toBe(0o755)
})
