// The gas table of docs/contracts.md is what the contracts cost now: measured again, and compared digit by digit.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { gasTable, PAGE_PATH, splitPage } from '../../contracts/gas.ts'
import { describeOnChain } from './anvil.ts'

describeOnChain('the gas table of docs/contracts.md', () => {
  test('is what bun contracts/gas.ts --write puts there', async () => {
    const [, table] = splitPage(readFileSync(PAGE_PATH, 'utf8'))
    expect(await gasTable()).toBe(table)
  })
})
