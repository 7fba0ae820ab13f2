// The gas table of the README is what the contracts cost now: measured again, and compared digit by digit.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { gasTable, README_PATH, splitReadme } from '../../contracts/gas.ts'
import { describeOnChain } from './anvil.ts'

describeOnChain('the gas table of the README', () => {
  test('is what bun contracts/gas.ts --write puts there', async () => {
    const [, table] = splitReadme(readFileSync(README_PATH, 'utf8'))
    expect(await gasTable()).toBe(table)
  })
})
