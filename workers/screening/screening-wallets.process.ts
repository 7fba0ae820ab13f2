// Entry of the process that reads the wallet addresses of a list's version. Input: the packed entries. Output: the addresses
// as JSON.
import { unpackEntries } from '../../src/modules/screening/formats/entry-lines.ts'
import { stayInBackground } from '../background-process.ts'

stayInBackground()

const wallets: string[] = []
for (const entry of unpackEntries(await Bun.stdin.bytes())) {
  for (const wallet of entry.wallets) wallets.push(wallet)
}
await Bun.write(Bun.stdout, JSON.stringify(wallets))
