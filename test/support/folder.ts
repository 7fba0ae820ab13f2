// Temporary folders of tests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from './at-end.ts'

/** Creates an empty folder, which is removed after the last test file of the process. */
export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  atEnd(async () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
