// `countersign doctor`: asks every configured chain whether it is as the configuration says, and whether its registry
// knows our attesters. Changes nothing; RPC URLs are named by their hosts, since their paths hold keys.

import type { Config } from '../config.ts'
import type { Clock } from '../domain/time.ts'
import type { Attester } from '../store/attesters.ts'
import type { Store } from '../store/store.ts'
import { type ChainCheck, inspectChains } from '../wiring/chain-inspection.ts'
import { type CommandOutput, formatTable, parseCommand, runToExitCode, UsageError } from './output.ts'

const USAGE = `Usage: countersign doctor [--chain CHAIN]

Checks each chain that has an RPC URL: that every URL answers and serves the chain, how far its latest block is from this
machine's clock, and, where a registry is set, that there is one and that it knows our attesters.

  --chain CHAIN  This chain only
  --json         Print JSON
  --help         Print this

Exit codes: 0 nothing is wrong, 1 a problem was found, 2 the call is wrong.
`

export interface DoctorCommandInput {
  readonly output: CommandOutput
  readonly config: Pick<Config, 'chains' | 'chainSettings'>
  readonly clock: Pick<Clock, 'unixSeconds'>
  readonly openStore: () => Promise<Store>
}

const readAttesters = async (openStore: DoctorCommandInput['openStore']): Promise<readonly Attester[]> => {
  const store = await openStore()
  try {
    return await store.attesters.list()
  } finally {
    await store.close()
  }
}

const print = (output: CommandOutput, checks: readonly ChainCheck[]): void => {
  if (checks.length === 0) {
    output.stdout('no chain has an RPC URL: there is nothing to check\n')
    return
  }
  const rows = checks.map(({ chain, check, result, subject, detail }) => [chain, check, result, subject, detail])
  output.stdout(formatTable([['CHAIN', 'CHECK', 'RESULT', 'OF', ''], ...rows]))
}

export const runDoctor = (commandArguments: readonly string[], input: DoctorCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const command = parseCommand(commandArguments, {
      chain: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    if (command.positionals.length > 0) throw new UsageError('doctor takes no words')
    const only = command.text('chain')
    const chain = only === undefined ? undefined : input.config.chains.byName(only)
    if (only !== undefined && chain === undefined) throw new UsageError(`there is no chain ${only}`)
    const checks = await inspectChains({
      chains: input.config.chains,
      chainSettings: input.config.chainSettings,
      only: chain?.name,
      readAttesters: () => readAttesters(input.openStore),
      nowSeconds: input.clock.unixSeconds,
    })
    const ok = !checks.some(({ result }) => result === 'problem')
    if (command.flag('json')) input.output.stdout(`${JSON.stringify({ ok, checks })}\n`)
    else print(input.output, checks)
    return ok ? 0 : 1
  })
