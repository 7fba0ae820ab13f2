// Entry of the process that ships the decision log. What to do comes on standard input. Ends with its parent.

import { createShipper } from '../../src/decisions/ship.ts'
import { openShipTarget } from '../../src/decisions/ship-access.ts'
import { nodeNameOf } from '../../src/decisions/ship-names.ts'
import { stayInBackground } from '../background-process.ts'
import type { ShipInput, ShipOrder, ShipReport } from './decision-ship-protocol.ts'

const LONGEST_WAIT_MS = 300_000

stayInBackground()

const { directory, place, access, intervalMs } = (await Bun.stdin.json()) as ShipInput
const monotonicMs = (): number => performance.now()
const target = openShipTarget(place, access)
const shipper = createShipper({
  directory,
  target,
  monotonicMs,
  node: nodeNameOf(directory),
  tailEveryMs: intervalMs,
})
let waitMs = intervalMs
let finishing = false
let wake: (() => void) | null = null

process.on('message', (order: ShipOrder) => {
  if (order !== 'finish') return
  finishing = true
  wake?.()
})
process.on('disconnect', () => process.exit(0))

const pass = async (): Promise<void> => {
  const startedMs = monotonicMs()
  const { complete, bytesUnshipped, failure } = await shipper.pass()
  const { bytes, segments } = shipper.progress()
  const report: ShipReport = {
    tookMs: monotonicMs() - startedMs,
    complete,
    bytesUnshipped,
    bytesShipped: bytes,
    segmentsShipped: segments,
    errorClass: failure === null ? null : failure instanceof Error ? failure.name : typeof failure,
  }
  process.send?.(report)
  waitMs = complete ? intervalMs : Math.min(waitMs * 2, LONGEST_WAIT_MS)
}

const pause = (): Promise<void> =>
  new Promise((resolve) => {
    // Spread out, so that many nodes don't come to a target that is back all at once.
    const timer = setTimeout(resolve, waitMs * (0.75 + Math.random() / 4))
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })

for (;;) {
  const last = finishing
  await pass()
  if (last) process.exit(0)
  if (!finishing) await pause()
}
