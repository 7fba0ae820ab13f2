// The tables of docs/contracts.md are what the contracts and programs cost now: measured again, and compared digit by digit.
import { expect, test } from 'bun:test'
import { gasTable } from '../../contracts/gas.ts'
import { tableOnPage } from '../../contracts/page-table.ts'
import { solanaCostTable } from '../../contracts/solana/costs.ts'
import { describeOnChain } from './anvil.ts'
import { describeOnSvm } from './svm.ts'

describeOnChain('the gas table of docs/contracts.md', () => {
  test('is what bun contracts/gas.ts --write puts there', async () => {
    expect(await gasTable()).toBe(tableOnPage('gas'))
  })
})

describeOnSvm('the Solana table of docs/contracts.md', () => {
  test('is what bun contracts/solana/costs.ts --write puts there', () => {
    expect(solanaCostTable()).toBe(tableOnPage('solana costs'))
  })
})
