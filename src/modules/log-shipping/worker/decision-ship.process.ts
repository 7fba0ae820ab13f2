// Ships the decision log, with a ShipInput on stdin. Exits with its parent.

import { listenForOrders, stayInBackground } from '../../../../workers/background-process.ts'
import { nodeNameOf } from '../../../decision-log/node-name.ts'
import { errorClassOf } from '../../../lib/named-error.ts'
import { openShipTarget } from '../../../object-store/ship-access.ts'
import { CopyDivergedError, createShipper } from '../ship.ts'
import type { ShipInput, ShipOrder, ShipReport } from './decision-ship-protocol.ts'

const LONGEST_WAIT_MS = 300_000

stayInBackground()
const orders = listenForOrders<ShipOrder>()

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

const textOf = (failure: unknown): string =>
  failure instanceof CopyDivergedError ? `${failure.name}: ${failure.detail}` : errorClassOf(failure)

const pass = async (): Promise<number> => {
  const startedMs = monotonicMs()
  const { complete, bytesUnshipped, failure } = await shipper.pass()
  const { bytes, segments } = shipper.progress()
  const report: ShipReport = {
    tookMs: monotonicMs() - startedMs,
    complete,
    bytesUnshipped,
    bytesShipped: bytes,
    segmentsShipped: segments,
    errorClass: failure === null ? null : textOf(failure),
  }
  process.send?.(report)
  waitMs = complete ? intervalMs : Math.min(waitMs * 2, LONGEST_WAIT_MS)
  // Random, so that nodes don't return to a recovered target at the same time.
  return waitMs * (0.75 + Math.random() / 4)
}

await orders.run(pass)
process.exit(0)
