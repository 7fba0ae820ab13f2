import { stayInBackground } from '../../../../workers/background-process.ts'
import { listedWallets } from '../formats/entry-lines.ts'

stayInBackground()

await Bun.write(Bun.stdout, JSON.stringify(listedWallets(await Bun.stdin.bytes())))
