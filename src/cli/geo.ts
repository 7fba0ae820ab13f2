// `countersign geo …`: what the geography file says of an IP address, as policies see it.

import { createGeography } from '../facts/geography.ts'
import { durationText } from '../lib/duration-text.ts'
import { parseIpAddress } from '../lib/ip-address.ts'
import { type Clock, isoSeconds } from '../lib/time.ts'
import { CommandFailedError, type CommandOutput, parseCommand, print, UsageError } from './output.ts'
import { runToExitCode } from './print-error.ts'

const USAGE = `Usage: countersign geo lookup IP [--geoip-file FILE]
       countersign geo status [--geoip-file FILE]

  lookup   What the geography file says of an address; what it does not say is unknown.
  status   Which file is in use, and how old it is.

  --geoip-file FILE   An MMDB file, instead of the one in the settings (COUNTERSIGN_GEOIP_FILE)
  --json              Print JSON
  --help              Print this

Exit codes: 0 done, 1 there is no file or it can't be read, 2 the call is wrong.
`

export interface GeoCommandInput {
  readonly output: CommandOutput
  /** The setting's path; empty when it is not set. */
  readonly geoipFile: string
  readonly clock: Clock
}

export const openGeoFile = async (path: string, clock: Clock) => {
  let failure: unknown = null
  const geography = createGeography({
    path,
    clock,
    onLoaded: () => undefined,
    onError: (error) => {
      failure = error
    },
  })
  await geography.refresh()
  const file = geography.file()
  if (file !== null) return { geography, file }
  const { detail, code } = (failure ?? {}) as { detail?: unknown; code?: unknown }
  const reason = typeof detail === 'string' ? detail : typeof code === 'string' ? code : 'it is unreadable'
  throw new CommandFailedError(`the geography file ${path} can't be read: ${reason}`)
}

export const runGeo = (commandArguments: readonly string[], input: GeoCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, commandArguments, async () => {
    const { output, clock } = input
    const command = parseCommand(commandArguments, {
      'geoip-file': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    })
    if (command.flag('help')) {
      output.stdout(USAGE)
      return 0
    }
    const [verb, address, ...others] = command.positionals
    const path = command.text('geoip-file') ?? input.geoipFile
    const show = (value: Readonly<Record<string, unknown>>): void => {
      const rows = Object.entries(value).map(([name, cell]) => [name, cell === null ? 'unknown' : String(cell)])
      print({ output, command }, value, rows)
    }
    if (verb === 'status' && address === undefined) {
      if (path === '') {
        output.stdout(
          command.flag('json') ? '{"file":null}\n' : 'no geography file is set: COUNTERSIGN_GEOIP_FILE names one\n',
        )
        return 0
      }
      const { file } = await openGeoFile(path, clock)
      const ageSeconds = Math.max(0, clock.unixSeconds() - file.builtAtSeconds)
      const { databaseType, ipVersion, bytes } = file
      const age = command.flag('json') ? { ageSeconds } : { age: durationText(ageSeconds) }
      show({ file: path, databaseType, ipVersion, bytes, builtAt: isoSeconds(file.builtAtSeconds), ...age })
      return 0
    }
    if (verb !== 'lookup' || address === undefined || others.length > 0)
      throw new UsageError('give lookup IP, or status')
    const ip = parseIpAddress(address)
    if (ip === null) throw new UsageError('that is no IP address')
    if (path === '') throw new CommandFailedError('no geography file is set: COUNTERSIGN_GEOIP_FILE names one')
    const { geography } = await openGeoFile(path, clock)
    const facts = geography.lookup(ip)
    if (facts === null) throw new CommandFailedError(`the geography file ${path} is damaged`)
    show({ ip, ...facts })
    return 0
  })
