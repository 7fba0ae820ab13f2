// `countersign decisions`, of the core and of modules, on a folder without a deployment.
import { type DecisionsIo, decisionsCommandsOver } from '../../src/cli/decisions.ts'
import { runCommand } from '../../src/cli/run-command.ts'
import { type Clock, systemClock } from '../../src/lib/time.ts'
import { type ShipIo, shipCommandsOver } from '../../src/modules/log-shipping/commands/decisions-ship.ts'
import { verifyCopies } from '../../src/modules/log-shipping/commands/verify-copies.ts'
import { type TreeIo, treeCommandsOver } from '../../src/modules/transparency/commands/decisions-commands.ts'
import { createTreeCheck } from '../../src/modules/transparency/commands/decisions-tree.ts'
import { recordOutput } from '../cli/recorded-output.ts'
import { deploymentAt } from '../cli/run-words.ts'

const never = (): never => {
  throw new Error('not reached')
}

export type TestIo = Pick<DecisionsIo, 'dataDirectory'> & Partial<DecisionsIo & ShipIo & TreeIo>

export const runDecisions = async (words: readonly string[], io: TestIo, clock: Clock = systemClock) => {
  const { output, printed } = recordOutput()
  const { openTree } = io
  const whole = {
    openTarget: never,
    openTree: never,
    beginTree: never,
    shipEveryMs: 10_000,
    checkOf:
      openTree === undefined
        ? null
        : (...heads: [readonly string[], string | null]) => createTreeCheck(openTree, ...heads),
    copies: { verifyDecisions: verifyCopies, verifyAudit: never },
    ...io,
  }
  const code = await runCommand(
    [...decisionsCommandsOver(() => whole), ...treeCommandsOver(() => whole), ...shipCommandsOver(() => whole)],
    words,
    {
      output,
      clock,
      user: 'anna',
      deployment: deploymentAt(io.dataDirectory, clock),
      open: never,
      openRemote: never,
      url: null,
      ask: null,
    },
  )
  return { code, out: printed.stdout, err: printed.stderr }
}
