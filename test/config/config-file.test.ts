// Errors about a config file contain its path, the position and the reason, but not its content.
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfigFile } from '../../src/config/given-values.ts'
import { newFolder } from '../support/folder.ts'

const folder = newFolder()

test('broken YAML is reported with its line, a missing file with its code', () => {
  const path = join(folder, 'config.yaml')
  writeFileSync(path, 'log-level: info\nchains: {\n  base: https://rpc.example/SECRET\n')
  expect(() => readConfigFile([], path)).toThrow(
    new RegExp(`^config file ${path} is not valid YAML or JSON: line \\d+, column \\d+ \\([A-Z_]+\\)$`),
  )
  expect(() => readConfigFile([], join(folder, 'none.yaml'))).toThrow(
    `config file cannot be read (ENOENT): ${join(folder, 'none.yaml')}`,
  )
})
