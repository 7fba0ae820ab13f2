// Entry of the process that reads the wallet addresses of a list's version. Input: the packed entries. Output: the addresses
// as JSON.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { unpackEntries } from '../formats/entry-lines.ts'

stayInBackground()

const wallets: string[] = []
for (const entry of unpackEntries(await Bun.stdin.bytes())) {
  for (const wallet of entry.wallets) wallets.push(wallet)
}
await Bun.write(Bun.stdout, JSON.stringify(wallets))
