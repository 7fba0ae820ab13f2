// `countersign geo …`: data on an IP address, as policies see it.

import { type Command, type CommandContext, text } from '../command-line/command.ts'
import { CommandFailedError, print, UsageError } from '../command-line/output.ts'
import { createGeography } from '../facts/geography.ts'
import { parseIpAddress } from '../lib/ip-address.ts'
import { type Clock, durationText, isoSeconds } from '../lib/time.ts'

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
  throw new CommandFailedError(`the geography file ${path} cannot be read: ${reason}`)
}

const NONE = 'no geography file is configured: set COUNTERSIGN_GEOIP_FILE to an MMDB file'

const pathOf = ({ command, deployment }: CommandContext): string =>
  command.text('geoip-file') ?? deployment.config.geoipFile

const show = (context: CommandContext, value: Readonly<Record<string, unknown>>): number => {
  print(
    context,
    value,
    Object.entries(value).map(([name, cell]) => [name, cell === null ? 'unknown' : String(cell)]),
  )
  return 0
}

const lookUp = async (context: CommandContext): Promise<number> => {
  const ip = parseIpAddress(context.command.words[0] ?? '')
  if (ip === null) throw new UsageError('not an IP address')
  const path = pathOf(context)
  if (path === '') throw new CommandFailedError(NONE)
  const facts = (await openGeoFile(path, context.clock)).geography.lookup(ip)
  if (facts === null) throw new CommandFailedError(`the geography file ${path} is damaged`)
  return show(context, { ip, ...facts })
}

const showStatus = async (context: CommandContext): Promise<number> => {
  const path = pathOf(context)
  if (path === '') {
    print(context, { file: null }, `${NONE}\n`)
    return 0
  }
  const { file } = await openGeoFile(path, context.clock)
  const ageSeconds = Math.max(0, context.clock.unixSeconds() - file.builtAtSeconds)
  const { databaseType, ipVersion, bytes } = file
  const age = context.command.flag('json') ? { ageSeconds } : { age: durationText(ageSeconds) }
  return show(context, { file: path, databaseType, ipVersion, bytes, builtAt: isoSeconds(file.builtAtSeconds), ...age })
}

const GEOIP_FILE = text('geoip-file', 'FILE', 'MMDB file. Defaults to the COUNTERSIGN_GEOIP_FILE setting')

export const GEO_COMMANDS: readonly Command[] = [
  {
    noun: 'geo',
    verb: 'lookup',
    summary: 'Look up an IP address as policies see it',
    words: [{ name: 'IP', help: 'IPv4 or IPv6 address' }],
    options: [GEOIP_FILE],
    isLocal: true,
    run: lookUp,
  },
  {
    noun: 'geo',
    verb: 'status',
    summary: 'Show the geography file in use and its age',
    options: [GEOIP_FILE],
    isLocal: true,
    run: showStatus,
  },
]
