// Common parts of the core's and modules' commands on a node's decision log.
import { join } from 'node:path'
import { DecisionDirectoryMissingError } from '../decision-log/errors.ts'
import { parseShipPlace, type ShipPlace } from '../object-store/ship-target.ts'
import type { Command, CommandContext } from './command.ts'
import { CommandFailedError, UsageError } from './output.ts'

/** @param directory folder of the node's decision log. @returns the exit code */
export type RunDecisions<Io> = (context: CommandContext, io: Io, directory: string) => Promise<number>

export type DecisionsTable<Io> = ReadonlyArray<Omit<Command, 'noun' | 'run'> & { readonly run: RunDecisions<Io> }>

export const decisionsCommands = <Io extends { readonly dataDirectory: string }>(
  table: DecisionsTable<Io>,
  ioOf: (context: CommandContext) => Io,
): readonly Command[] =>
  table.map((command) => ({
    ...command,
    noun: 'decisions',
    isLocal: true,
    run: async (context) => {
      const io = ioOf(context)
      try {
        return await command.run(context, io, join(io.dataDirectory, 'decisions'))
      } catch (error) {
        throw error instanceof DecisionDirectoryMissingError ? new CommandFailedError(error.detail) : error
      }
    },
  }))

export const PLACE = 'dir:/path or s3://bucket/prefix'

/** Returns the location in an option's value; null if it isn't given. @throws UsageError */
export const parsePlace = (option: string, given: string | undefined): ShipPlace | null => {
  if (given === undefined) return null
  try {
    return parseShipPlace(given)
  } catch (error) {
    throw new UsageError(`--${option} ${error instanceof Error ? error.message : 'is malformed'}`)
  }
}
