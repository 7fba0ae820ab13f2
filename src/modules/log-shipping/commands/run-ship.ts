import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandOutput } from '../../../command-line/output.ts'
import { nodeNameOf } from '../../../decision-log/node-name.ts'
import { listSlots } from '../../../decision-log/segment-name.ts'
import type { ShipTarget } from '../../../object-store/ship-target.ts'
import { createShipper } from '../ship.ts'

const PROGRESS_MS = 1_000

interface ShipCommand extends CommandOutput {
  readonly directory: string
  readonly target: ShipTarget
  readonly intervalMs: number
  readonly once: boolean
  readonly json: boolean
  readonly signal: AbortSignal
  readonly monotonicMs: () => number
}

export const runShip = async (command: ShipCommand): Promise<number> => {
  const { directory, target, intervalMs, once, json, signal, monotonicMs, stdout, stderr } = command
  // Throws if the folder is missing, before it gets a node name.
  listSlots(directory)
  const node = nodeNameOf(directory)
  let printedMs = monotonicMs()
  const shipper = createShipper({
    directory,
    node,
    target,
    monotonicMs,
    tailEveryMs: intervalMs,
    onProgress: ({ segments, bytes }) => {
      if (json || monotonicMs() - printedMs < PROGRESS_MS) return
      printedMs = monotonicMs()
      stderr(`${segments} segments, ${bytes} bytes shipped\n`)
    },
  })
  for (;;) {
    const before = shipper.progress()
    const { complete, bytesUnshipped, failure } = await shipper.pass()
    const { segments, bytes } = shipper.progress()
    const reason = failure === null ? null : failure instanceof Error ? failure.message : String(failure)
    const changed = bytes !== before.bytes || !complete
    if (json)
      stdout(
        `${JSON.stringify({ node, target: target.description, complete, segments, bytes, bytesUnshipped, reason })}\n`,
      )
    else if (complete && (changed || once))
      stdout(`${node}: ${bytes - before.bytes} bytes shipped to ${target.description}\n`)
    else if (!complete) stderr(`${node}: could not ship everything: ${reason ?? 'unknown'}\n`)
    if (once) return complete ? 0 : 1
    try {
      await sleep(intervalMs, undefined, { signal })
    } catch (error) {
      if (signal.aborted) return 0
      throw error
    }
  }
}
