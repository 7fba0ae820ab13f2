// Entry of the process that reads the wallet addresses of a list's version. Input: the packed entries. Output: JSON
// with the addresses and the memos of their entries.

import { stayInBackground } from '../../../../workers/background-process.ts'
import { listedWallets } from '../formats/entry-lines.ts'

stayInBackground()

await Bun.write(Bun.stdout, JSON.stringify(listedWallets(await Bun.stdin.bytes())))
