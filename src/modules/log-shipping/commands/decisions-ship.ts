import { type Command, type CommandContext, flag, text } from '../../../command-line/command.ts'
import {
  type DecisionsTable,
  decisionsCommands,
  PLACE,
  parsePlace,
  type RunDecisions,
} from '../../../command-line/decisions-commands.ts'
import type { ShipPlace, ShipTarget } from '../../../object-store/ship-target.ts'
import { runShip } from './run-ship.ts'

export interface ShipIo {
  readonly dataDirectory: string
  readonly signal?: AbortSignal
  /** @param place null for the configured place. @throws CommandFailedError */
  readonly openTarget: (place: ShipPlace | null) => ShipTarget
  readonly shipEveryMs: number
}

const ioOfDeployment = ({ deployment }: CommandContext): ShipIo => ({
  dataDirectory: deployment.config.dataDir,
  shipEveryMs: deployment.shipping?.intervalMs ?? 0,
  openTarget: deployment.shipTarget,
})

const ship: RunDecisions<ShipIo> = async ({ command, output, clock }, io, directory) =>
  runShip({
    directory,
    target: io.openTarget(parsePlace('to', command.text('to'))),
    intervalMs: io.shipEveryMs,
    once: command.flag('once'),
    json: command.flag('json'),
    signal: io.signal ?? new AbortController().signal,
    monotonicMs: clock.monotonicMs,
    ...output,
  })

const TABLE: DecisionsTable<ShipIo> = [
  {
    verb: 'ship',
    summary: 'Copy the decision log to another location, as the service does if decisions-ship is set',
    options: [
      text('to', 'PLACE', `${PLACE}. Defaults to the decisions-ship setting`),
      flag('once', 'Ship the current log once, then exit. By default, runs until interrupted'),
    ],
    run: ship,
  },
]

export const shipCommandsOver = (ioOf: (context: CommandContext) => ShipIo): readonly Command[] =>
  decisionsCommands(TABLE, ioOf)

export const SHIP_COMMANDS = shipCommandsOver(ioOfDeployment)
