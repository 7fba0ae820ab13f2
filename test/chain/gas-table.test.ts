// The tables of docs/contracts.md, compared with new measurements.
import { expect, test } from 'bun:test'
import { gasTable } from '../../contracts/gas.ts'
import { tableOnPage } from '../../contracts/page-table.ts'
import { solanaCostTable } from '../../contracts/solana/costs.ts'
import { describeOnChain } from './anvil.ts'
import { describeOnSvm } from './svm.ts'

describeOnChain('the gas table of docs/contracts.md', () => {
  test('equals the output of bun contracts/gas.ts --write', async () => {
    expect(await gasTable()).toBe(tableOnPage('gas'))
  })
})

describeOnSvm('the Solana table of docs/contracts.md', () => {
  test('equals the output of bun contracts/solana/costs.ts --write', () => {
    expect(solanaCostTable()).toBe(tableOnPage('solana costs'))
  })
})
