// A few minutes of trading, for screenshots of the live page: attestations on several chains at a varying rate, with
// occasional denials.
import type { Dashboard } from '../../test/dashboard/support/dashboard.ts'

const CLIENTS = 24
const CHAINS = ['base', 'base', 'base', 'ethereum', 'ethereum', 'arbitrum', 'solana']
const DENIED_EVERY = 17
const DENIED = '0x000000000000000000000000000000000000dEaD'
const ALLOWED = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = 'So11111111111111111111111111111111111111112'
/** Period of the rate. */
const SWELL_MS = 45_000
const LONGEST_PAUSE_MS = 40

export interface LiveLoad {
  stop(): Promise<void>
}

export const startLiveLoad = ({ service }: Pick<Dashboard, 'service'>): LiveLoad => {
  const hash = service.quickstart['VERIFICATION_HASH']
  let running = true
  let sent = 0
  const client = async (): Promise<void> => {
    while (running) {
      const number = sent++
      const chain = CHAINS[number % CHAINS.length] ?? 'base'
      const wallet = chain === 'solana' ? SOLANA_WALLET : number % DENIED_EVERY === 0 ? DENIED : ALLOWED
      const response = await service.attest({ from: wallet, chain, verification_hash: hash })
      if (!response.ok) throw new Error(`attesting failed: ${response.status} ${await response.text()}`)
      await response.body?.cancel()
      const swell = (1 + Math.cos((performance.now() / SWELL_MS) * 2 * Math.PI)) / 2
      await Bun.sleep(4 + swell * LONGEST_PAUSE_MS)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    stop: async () => {
      running = false
      await clients
    },
  }
}
